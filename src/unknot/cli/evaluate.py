"""`unknot evaluate`: how well a run's encoder does."""

from __future__ import annotations

import json as writer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unknot.errors import DataError

if TYPE_CHECKING:
    from unknot.data.dataset import Dataset
    from unknot.workflow.trained_model import TrainedModel


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path | None, typer.Argument(help="Other data than the run's own test split.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where data sets lie.")] = None,
    counterfactuals: Annotated[
        bool,
        typer.Option("--counterfactuals", help="Change every factor, and say what else changes with it."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the encoder's error for every named factor, on the test split or on other data.

    With --counterfactuals every factor of up to 1,000 items is changed while everything else is kept, and it is said
    how often that is read as intended, by the model itself and by a reader of its own; how far the rest moves; and how
    much of the factor is left in the style.

    **Examples**

        unknot evaluate runs/mine-1

        unknot evaluate runs/mine-1 more.npz --json

        unknot evaluate runs/mine-1 --counterfactuals
    """
    from unknot.cli.opening import data_to_test

    model, tested, train = data_to_test(run, data, data_dir)
    if counterfactuals:
        _counterfactuals(model, tested, train, json)
    else:
        _scores(model, tested, "test data" if data is None else str(data), json)


def _scores(model: TrainedModel, tested: Dataset, where: str, json: bool) -> None:
    from unknot.cli.show import show_scores
    from unknot.workflow.evaluation import evaluate

    found = evaluate(model, tested)
    if not found:
        raise DataError(
            f"{tested.name} has no labels of the model's factors, so there is nothing to compare with."
        )
    if json:
        typer.echo(writer.dumps([vars(score) for score in found]))
    else:
        show_scores(found, where)


def _counterfactuals(model: TrainedModel, tested: Dataset, train: Dataset | None, json: bool) -> None:
    from unknot.workflow.counterfactuals.measured import counterfactuals

    found = counterfactuals(model, tested, train)
    if not found:
        raise DataError("the model takes no labels, so there is no named factor to change.")
    if json:
        typer.echo(writer.dumps([one.to_dict() for one in found]))
    else:
        typer.echo("\n\n".join(str(one) for one in found))
