"""`unknot demo`: the paper's model on 100 labels, from nothing to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the labeled set, the weights and the draws.")
    ] = 0,
    run: Annotated[
        Path | None, typer.Option("--run", help="The run folder; by default runs/demo-NUMBER.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="Fewer steps for a quick look.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="The folder of the data sets.")] = None,
) -> None:
    """Learn digits and handwriting styles from 60,000 images of which 100 are labeled, and write a report.

    Takes about three minutes on two cores. Without MNIST and without a network it uses the digits that come with
    scikit-learn, and says so.
    """
    from dataclasses import replace

    from unknot.cli.shared import EXPLORER
    from unknot.errors import SpecError
    from unknot.explorer.export import export_page
    from unknot.plots.style import save
    from unknot.report.content import collect
    from unknot.report.page import picture_figure, write_report
    from unknot.workflow.demo import demo_recipe
    from unknot.workflow.evaluation import evaluate
    from unknot.workflow.run import train_recipe

    recipe, excuse = demo_recipe(seed, data_dir)
    if steps is not None:
        recipe = recipe.with_settings({"train.steps": steps})
    if excuse is not None:
        typer.echo(
            f"MNIST is not available ({excuse})\nThe demo uses the 1,797 digits of 8x8 pixels instead.\n"
        )
    typer.echo(
        "Training S17's class-and-style model: digit and style make the image; 100 digits are labeled."
    )
    trained, result = train_recipe(recipe, run or Path("runs", "demo"), data_dir, numbered=run is None)
    if result.stopped_because == "interrupted":
        raise typer.Exit(130)
    assert trained.test is not None
    score = evaluate(trained.model, trained.test)[0]
    page, content = trained.run.path / "report.html", collect(trained)
    explorer, refused = trained.run.path / EXPLORER, ""
    try:
        export_page(
            trained.model,
            explorer,
            trained.test,
            train=trained.train,
            title=trained.run.path.name,
            load=str(trained.run.path),
        )
        content = replace(content, explorer=explorer.name)
    except SpecError as error:  # without the packages that export it
        refused = str(error)
    write_report(content, page)
    for picture in content.pictures:
        if picture.title.startswith("Analogies"):
            save(picture_figure(picture), trained.run.path / "analogies.png")
    typer.echo(
        f"\nTest error of the digit encoder: {100 * score.value:.2f} % (seed {seed}, {score.items} images)"
    )
    if excuse is None:
        typer.echo("In the papers, with 100 labels:     9.71 % (S17), 11.97 % (M2, Kingma et al. 2014)")
    typer.echo(f"\nThe report is in {page}: open it in a browser.")
    typer.echo(refused or f"The explorer is in {explorer}: change digit and style there.")
    typer.echo("Next:")
    typer.echo(f"  unknot sample {trained.run.path} --set digit=3 -o threes.png    draw new threes")
    typer.echo("  unknot data list                                    the other data sets")
    typer.echo("  docs/guide.md                                       your own data")
