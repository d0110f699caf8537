"""`unknot fit`: train a model on partly labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unknot.errors import SpecError


def command(
    spec: Annotated[Path | None, typer.Argument(help="A spec file (YAML); see docs/guide.md.")] = None,
    data: Annotated[
        Path | None, typer.Argument(help="Your data: an .npz, a .csv table or a folder of images.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, e.g. train.steps=500."),
    ] = None,
    run: Annotated[
        Path | None, typer.Option("-o", "--run", help="The run folder; by default runs/NAME-NUMBER.")
    ] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Go on with this run folder.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where data sets lie.")] = None,
) -> None:
    """Train a model on partly labelled data, and say how well its recogniser does.

    **Examples**

        unknot fit spec.yaml                      everything is in the spec

        unknot fit spec.yaml mine.npz             a spec for many data files

        unknot fit spec.yaml --set train.steps=500 --set labels.digit=50

        unknot fit --resume runs/mine-1           after an interrupt, or with a larger train.steps
    """
    from unknot.cli.show import show_scores
    from unknot.train.processes import first_process
    from unknot.workflow.evaluation import evaluate
    from unknot.workflow.recipe import Recipe
    from unknot.workflow.run import resume as go_on
    from unknot.workflow.run import train_recipe

    changes = parse_settings(settings or [])
    if resume is not None:
        if spec is not None:
            raise SpecError("--resume goes on with a run: give no spec, only the run folder.")
        trained, result = go_on(resume, changes, data_dir)
    else:
        if spec is None:
            raise SpecError("say what to fit: `unknot fit spec.yaml [data]`, or `unknot fit --resume RUN`.")
        recipe = Recipe.read(spec)
        if data is not None:
            recipe = recipe.with_file(data)
        recipe = recipe.with_settings(changes)
        where = run or Path("runs", spec.stem or "run")
        trained, result = train_recipe(recipe, where, data_dir, numbered=run is None)
    where = trained.run.path
    if result.stopped_because == "interrupted":
        raise typer.Exit(130)
    if not first_process():
        return
    typer.echo(f"Trained {result.steps} steps ({result.stopped_because}); the run is in {where}.")
    if trained.test is not None:
        show_scores(evaluate(trained.model, trained.test), "test data")
    typer.echo(f"Next: `unknot report {where}` for pictures, `unknot predict {where} DATA -o table.csv`.")


def parse_settings(given: list[str]) -> dict[str, Any]:
    """``key=value`` words, values read as YAML: numbers, lists, true and false mean what they say."""
    from unknot.models.yaml_file import parse_yaml

    parsed = {}
    for word in given:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise SpecError(f"--set takes KEY=VALUE, but got '{word}'.")
        try:
            parsed[key] = parse_yaml(value)
        except ValueError:
            raise SpecError(f"--set {key}: cannot read the value '{value}'.") from None
    return parsed
