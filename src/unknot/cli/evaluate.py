"""`unknot evaluate`: how good predictions are on labels that the model was not trained on."""

from __future__ import annotations

import json as writer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unknot.errors import DataError

if TYPE_CHECKING:
    from unknot.data.dataset import Dataset
    from unknot.workflow.counterfactuals.counterfactual import Counterfactual
    from unknot.workflow.verdict.unseen import Unseen


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path | None, typer.Argument(help="Other data than the run's own test split.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="The folder of the data sets.")] = None,
    counterfactuals: Annotated[
        bool,
        typer.Option("--counterfactuals", help="Change every factor, and show what else changes with it."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the error of every named factor with its 95 % interval, log loss, macro F1 and calibration.

    They are measured on the test split or on other data. Labels that the model was trained on are left out, because the
    error on them says nothing about other items; if there are no others, their cross-fitted predictions count.

    With --counterfactuals every factor of up to 1,000 items is changed while everything else is kept. Printed are the
    share of the changed items that are predicted as intended, by the model itself and by an independent predictor; how
    far the other factors move; and how much of the factor is left in the style.

    **Examples**

        unknot evaluate runs/mine-1

        unknot evaluate runs/mine-1 more.npz --json

        unknot evaluate runs/mine-1 --counterfactuals
    """
    if counterfactuals:
        _show_counterfactuals(_counterfactuals(run, data, data_dir), json)
    else:
        _show_unseen(_unseen(run, data, data_dir), json)


def _unseen(path: Path, data: Path | None, data_dir: Path | None) -> list[Unseen]:
    from unknot.cli.shared import is_run, load_with_data
    from unknot.workflow.evaluation import predict_dataset
    from unknot.workflow.run import open_run
    from unknot.workflow.trained_labels import held_out_labels, why_no_error, without_labels
    from unknot.workflow.verdict.unseen import unseen_labels

    if data is None and is_run(path):
        trained = open_run(path, data_dir)
        model, tested = trained.model, trained.train if trained.test is None else trained.test
        held_out = tested if trained.test is not None else without_labels(tested)
    else:
        model, tested = load_with_data(path, data, f"unknot evaluate {path} DATA")
        held_out = held_out_labels(model, tested)
    labeled = {name for name, factor in tested.factors.items() if bool(factor.known.any())}
    found = unseen_labels(model, tested, held_out, predict_dataset(model, held_out))
    unseen = [one for one in found if one.factor in labeled]
    reason = why_no_error(model, held_out, tested)
    if not unseen:
        raise DataError(
            reason
            or f"{tested.name} has no labels of the model's factors, so there is nothing to compare with."
        )
    hidden = _left_out(tested, held_out, [one.factor for one in unseen if not one.folds])
    if hidden:
        typer.echo(f"{hidden:,} labels that the model was trained on are left out.", err=True)
    if reason:
        typer.echo(reason, err=True)
    return unseen


def _left_out(tested: Dataset, held_out: Dataset, names: list[str]) -> int:
    """How many labels of some factors were trained on."""
    known = [(tested.factors[name].known, held_out.factors[name].known) for name in names]
    return sum(int(there.sum() - new.sum()) for there, new in known)


def _counterfactuals(path: Path, data: Path | None, data_dir: Path | None) -> list[Counterfactual]:
    from unknot.cli.shared import is_run, load_with_data
    from unknot.workflow.counterfactuals.evaluate import counterfactuals, counterfactuals_of_run
    from unknot.workflow.run import open_run

    if data is None and is_run(path):
        found = counterfactuals_of_run(open_run(path, data_dir))
    else:
        found = counterfactuals(*load_with_data(path, data, f"unknot evaluate {path} DATA"))
    if not found:
        raise DataError("the model takes no labels, so there is no named factor to change.")
    return found


def _show_unseen(unseen: list[Unseen], json: bool) -> None:
    from unknot.cli.shared import show_unseen

    if json:
        typer.echo(writer.dumps([one.to_dict() for one in unseen]))
    else:
        show_unseen(unseen)


def _show_counterfactuals(found: list[Counterfactual], json: bool) -> None:
    if json:
        typer.echo(writer.dumps([one.to_dict() for one in found]))
    else:
        typer.echo("\n\n".join(str(one) for one in found))
