"""`unknot evaluate`: the errors of a run's encoder on labels that it was not trained on."""

from __future__ import annotations

import json as writer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unknot.errors import DataError

if TYPE_CHECKING:
    from unknot.workflow.counterfactuals.counterfactual import Counterfactual
    from unknot.workflow.evaluation import Score


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
    """Print the encoder's error for every named factor, on the test split or on other data.

    Labels that the model was trained on are left out: the error on them says nothing about other items.

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
        _show_scores(_scores(run, data, data_dir), "test data" if data is None else str(data), json)


def _scores(path: Path, data: Path | None, data_dir: Path | None) -> list[Score]:
    from unknot.cli.shared import is_run, load_with_data
    from unknot.workflow.evaluation import evaluate
    from unknot.workflow.run import open_run
    from unknot.workflow.trained_labels import held_out_labels, why_no_error

    if data is None and is_run(path):
        trained = open_run(path, data_dir)
        if trained.test is None:
            raise DataError(
                f"{trained.train.name} has no test split, and an error on the labels that the model was trained on "
                f"says nothing about other items: give labeled data, `unknot evaluate {path} DATA`."
            )
        return _found(evaluate(trained.model, trained.test), trained.test.name)
    model, tested = load_with_data(path, data, f"unknot evaluate {path} DATA")
    held_out = held_out_labels(model, tested)
    reason = why_no_error(model, held_out, tested)
    scores = evaluate(model, held_out)
    if reason and not scores:
        raise DataError(reason)
    hidden = sum(
        int(factor.known.sum() - held_out.factors[name].known.sum())
        for name, factor in tested.factors.items()
    )
    if hidden:
        typer.echo(
            f"{hidden:,} labels that the model was trained on are left out. {reason}".strip(), err=True
        )
    return _found(scores, tested.name)


def _found(scores: list[Score], name: str) -> list[Score]:
    if not scores:
        raise DataError(f"{name} has no labels of the model's factors, so there is nothing to compare with.")
    return scores


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


def _show_scores(scores: list[Score], where: str, json: bool) -> None:
    from unknot.cli.shared import show_scores

    if json:
        typer.echo(writer.dumps([vars(score) for score in scores]))
    else:
        show_scores(scores, where)


def _show_counterfactuals(found: list[Counterfactual], json: bool) -> None:
    if json:
        typer.echo(writer.dumps([one.to_dict() for one in found]))
    else:
        typer.echo("\n\n".join(str(one) for one in found))
