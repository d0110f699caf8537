"""What a notebook shows of a fitted estimator: its graph, its factors, and their errors on hidden labels."""

from __future__ import annotations

from html import escape

import numpy as np
import torch

from unknot.graph import graph
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.trained_model import TrainedModel

_EXAMPLE = 4  # empty items that the programs are run on, to draw them


def html(model: TrainedModel) -> str:
    """Return a fitted model as HTML: a table of its factors above both graphical models.

    Parameters
    ----------
    model : TrainedModel
        The model.

    Returns
    -------
    str
    """
    rows = "".join(f"<tr>{_cells(model, name)}</tr>" for name in model.data.factors)
    head = "".join(
        f"<th>{title}</th>" for title in ("factor", "kind", "hidden labels", "error", "linear model")
    )
    table = f"<table><tr>{head}</tr>{rows}</table>" if rows else "<p>Trained without labels.</p>"
    empty = torch.zeros(_EXAMPLE, *model.shape)
    drawing = graph(model.program.encode, model.program.decode, (empty, {})).svg()
    return f"<div>{table}{drawing}</div>"


def _cells(model: TrainedModel, name: str) -> str:
    factor = model.data.factors[name]
    size = f", {len(factor.classes)} classes" if factor.classes else ""
    estimate = model.out_of_fold.get(name)
    cells = [name, factor.kind + size, *(("–", "–", "–") if estimate is None else _numbers(estimate))]
    return "".join(f"<td>{escape(cell)}</td>" for cell in cells)


def _numbers(estimate: OutOfFold) -> tuple[str, str, str]:
    """The number of labels, and the errors of the model and of the linear model on them."""
    if estimate.has_classes:
        low, high = estimate.interval()
        error = f"{100 * estimate.error:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        return f"{len(estimate):,}", error, f"{100 * estimate.linear_error:.1f} %"
    truth = estimate.labels.reshape(len(estimate), -1)
    off, linear = (
        float(np.sqrt(np.square(guess.reshape(truth.shape) - truth).mean()))
        for guess in (estimate.predictions, estimate.linear)
    )
    return f"{len(estimate):,}", f"{off:.3g} (root mean square)", f"{linear:.3g}"
