"""Which columns or words the predictions rest on."""

from __future__ import annotations

import torch

from unknot.data.dataset import Dataset
from unknot.data.text_dataset import TextDataset
from unknot.report.section import Section, TextTable
from unknot.workflow.explain.explain import CLASSES, explain
from unknot.workflow.trained_model import TrainedModel

_SHOWN = 15
_ROWS, _TEXTS = 200, 40  # items whose predictions are explained
_MOST_NUMBERS = 500  # in a row; more columns are no columns that one looks through


def importance(model: TrainedModel, data: Dataset) -> list[Section]:
    """Return a table for each factor of the columns or words that matter most; none for images and wide rows.

    Parameters
    ----------
    model : TrainedModel
        The model.
    data : Dataset
        The items that are shown.
    """
    texts = isinstance(data, TextDataset)
    if len(model.shape) != 1 or not (texts or (model.shape.numel() <= _MOST_NUMBERS and model.data.columns)):
        return []
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
    some = data.subset(order[: _TEXTS if texts else _ROWS].sort().values)
    return [
        _section(model, some, node.name, texts) for node in model.labeled if node.name in model.out_of_fold
    ]


def _section(model: TrainedModel, data: Dataset, factor: str, texts: bool) -> Section:
    found = explain(model, data, factor)
    what = "word" if texts else "column"
    loss = "the log loss, in nats" if found.measure == CLASSES else "the squared error"
    caption = (
        f"How much worse predictions of {factor} become without a {what}: the expected increase of {loss}, with its "
        f"standard error, if the {what} is {found.replaced_by}, for {len(data):,} items."
    )
    if len(found.names) > _SHOWN:
        caption += f" The {_SHOWN} most important of {len(found.names):,}."
    order = found.order[:_SHOWN]
    header: tuple[str, ...] = (what, "increase")
    rows: list[tuple[str, ...]] = [
        (found.names[i], f"{found.importance[i]:.3g} ± {found.standard_error[i]:.1g}") for i in order
    ]
    if found.toward:
        header = (*header, "makes more probable")
        rows = [(*row, found.toward[i]) for row, i in zip(rows, order, strict=True)]
    return Section(f"What {factor} is predicted from", caption, table=TextTable(header, tuple(rows)))
