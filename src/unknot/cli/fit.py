"""`unknot fit`: train a model on partly labeled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unknot.errors import SpecError

_SPEC_ENDINGS = (".yaml", ".yml", ".json", "")  # JSON is YAML too; any other file is data

if TYPE_CHECKING:
    from unknot.data.dataset import Dataset
    from unknot.workflow.recipe import Recipe


def command(
    spec: Annotated[
        Path | None, typer.Argument(help="A spec file (YAML; see docs/guide.md), or your data alone.")
    ] = None,
    data: Annotated[
        Path | None, typer.Argument(help="Your data: an .npz, a .csv table, texts as .jsonl, or a folder.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label", metavar="COLUMN", help="A column or array of labels; may come several times."
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--given",
            metavar="COLUMN",
            help="Known of every item, as its batch: conditioned on, not predicted.",
        ),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            "--tree", help="A YAML file of nested classes: cells of the label may be a class of any depth."
        ),
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            "--rater",
            metavar="COLUMN",
            help="A column of what a rater reports of the label; may come several times.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, e.g. train.steps=500."),
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(
            "--test-share",
            metavar="SHARE",
            help="Keep this share of the items for testing, e.g. 0.2; by default the error is cross-fitted and every "
            "label is trained on.",
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option("-o", "--run", help="The run folder; by default runs/NAME-NUMBER.")
    ] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Continue this run.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="The folder of the data sets.")] = None,
    verdict: Annotated[
        bool, typer.Option(help="Print at the end whether anything went wrong in training.")
    ] = True,
) -> None:
    """Train a model on partly labeled data, and print how good its predictions are on labels it was not trained on.

    Without a test split these are the training labels, cross-fitted: each is predicted by models from which it was
    hidden. The trained model has seen all of them.

    **Examples**

        unknot fit wine.csv --label kind          a table, and the column to learn

        unknot fit cells.h5ad --label cell_type   cells of AnnData, with labels in obs

        unknot fit cells.csv --label type --tree types.yaml         labels at different depth

        unknot fit items.csv --label kind --rater ann --rater bob   the votes of two raters

        unknot fit photographs                    a folder with a sub-folder for each class, of images or texts

        unknot fit wine.csv --label kind --test-share 0.2

        unknot fit spec.yaml                      everything is in the spec

        unknot fit spec.yaml mine.npz             a spec for many data files

        unknot fit spec.yaml --set train.steps=500 --set labels.budget.digit=50

        unknot fit --resume runs/mine-1           after an interrupt, or with a larger train.steps
    """
    from unknot.cli.shared import show_unseen
    from unknot.report.answer import answers
    from unknot.train.processes import first_process, part
    from unknot.workflow.run import resume as go_on
    from unknot.workflow.run import train_recipe
    from unknot.workflow.verdict.verdict import verdict as examine

    changes = parse_settings(settings or [])
    if resume is not None:
        if spec is not None or run is not None or label or tree or rater or given or test_share is not None:
            raise SpecError(
                "--resume continues a run as it is: give no spec, --label, --given, --test-share or other run "
                "folder."
            )
        trained, result = go_on(resume, changes, data_dir)
    else:
        if spec is None:
            raise SpecError(
                "expected a spec or data: `unknot fit wine.csv --label kind`, `unknot fit spec.yaml [data]`, or "
                "`unknot fit --resume RUN`."
            )
        labels = label_settings(label or [], tree, rater or [], given or [])
        recipe = make_recipe(spec, data, labels, test_share).with_settings(changes)
        where = run or Path("runs", spec.stem or "run")
        trained, result = train_recipe(recipe, where, data_dir, numbered=run is None, say=_describe)
    where = trained.run.path
    if result.stopped_because == "interrupted":
        raise typer.Exit(130)
    part()
    if not first_process():
        return
    typer.echo(f"Trained {result.steps} steps ({result.stopped_because}); the run is in {where}.")
    found = examine(trained.model, trained.train, trained.test, result.history)
    for one in answers(found.unseen, found.comparisons):
        typer.echo(str(one))
    show_unseen(found.unseen)
    if trained.model.labeled and not found.unseen:
        typer.echo(_how_to_measure(where))
    if verdict:
        for line in found.lines:
            typer.echo(f"Verdict: {line}")
    use = "predict {} DATA -o table.csv" if trained.model.labeled else "sample {}"
    typer.echo(f"Next: `unknot report {where}` for pictures, `unknot {use.format(where)}`.")


def _how_to_measure(run: Path) -> str:
    return (
        "There are no labels that the model was not trained on, so its error is not known: --set train.cross_fit=3 "
        f"hides them in turn, --test-share 0.2 keeps items for testing, `unknot evaluate {run} DATA` takes other data."
    )


def label_settings(
    labels: list[str], tree: Path | None, raters: list[str], given: list[str]
) -> dict[str, Any]:
    """Settings of the data section for the named labels, the tree of their classes, their raters and the given columns.

    A tree and raters belong to the only label, which is called "label" if no column has labels beside the raters'.
    """
    from unknot.data.hierarchy import Hierarchy

    if (tree or raters) and len(labels) > 1:
        raise SpecError(
            f"--tree and --rater belong to one label, but there are {', '.join(labels)}; of several labels a spec says "
            "it, data: {classes: {...}, raters: {...}}."
        )
    name = labels[0] if labels else "label"
    made: dict[str, Any] = {"factors": labels} if labels else {}
    if tree:
        made["factors"] = [name]
        made["classes"] = {name: Hierarchy.read(tree).to_mapping()}
    return made | ({"raters": {name: raters}} if raters else {}) | ({"given": given} if given else {})


def make_recipe(
    spec: Path, data: Path | None, labels: dict[str, Any], test_share: float | None = None
) -> Recipe:
    """The recipe of a spec and a data file, or of data alone with everything else at its default.

    ``labels`` are settings of the data section.
    """
    from unknot.workflow.recipe import Recipe

    alone = data is None and (spec.is_dir() or spec.suffix.lower() not in _SPEC_ENDINGS)
    recipe = Recipe.from_dict({}).with_file(spec) if alone else Recipe.read(spec)
    if data is not None:
        recipe = recipe.with_file(data)
    recipe = recipe.with_settings({f"data.{key}": value for key, value in labels.items()})
    return recipe if test_share is None else recipe.with_settings({"data.test_share": test_share})


def _describe(train: Dataset, test: Dataset | None) -> None:
    """Print which columns are data and which are labels, before training begins."""
    from unknot.train.processes import first_process
    from unknot.workflow.data_summary import describe_data

    if first_process():
        for line in describe_data(train, test):
            typer.echo(line)


def parse_settings(given: list[str]) -> dict[str, Any]:
    """``key=value`` words, with values in YAML: numbers, lists, true and false."""
    from unknot.yaml_file import parse_yaml

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
