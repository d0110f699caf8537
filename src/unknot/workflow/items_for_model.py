"""New items as a trained model reads them: of its shape, of its kind of numbers, or refused."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError
from unknot.models.node_spec import NodeSpec
from unknot.models.table_columns import check_rows
from unknot.models.word_weights import refuse_fractions
from unknot.workflow.trained_model import TrainedModel


def items_for_model(model: TrainedModel, items: Dataset) -> Dataset:
    """The items, their numbers meaning what those of the training data meant; others are refused.

    Rows of a table are numbers as they stand, also where their type would make them pixels (uint8) or counts of words
    (whole numbers, most of them 0). Bernoulli data are shares, from 0 to 1; multinomial data are counts, at least 0,
    and whole where they are weighed.
    """
    node, known = model.nodes[-1], model.data
    if items.item_shape != known.item_shape:
        what = "features" if len(items.item_shape) == len(known.item_shape) == 1 else "items"
        count = f"X has {items.item_shape.numel()} features, but expecting {known.item_shape.numel()}: "
        raise DataError(
            f"{count if what == 'features' else ''}x has items of shape {tuple(items.item_shape)}, but the model "
            f"was fitted on {tuple(known.item_shape)}; resize or cut them as for fit."
        )
    if isinstance(items.x, SparseCounts) and node.family in ("table", "normal", "bernoulli"):
        items = replace(items, x=items.x[:].float())
    if isinstance(items.x, Tensor) and items.x.dtype == torch.uint8 and node.family == "table":
        items = replace(items, x=items.x.float())
    if isinstance(items.x, Tensor):
        _refuse_numbers(node, items.x)
    return items


def _refuse_numbers(node: NodeSpec, x: Tensor) -> None:
    """Refuse numbers that the data's node cannot hold."""
    low, high = float(x.min()), float(x.max())
    if node.family == "multinomial" and low < 0:
        raise DataError(f"x holds {low:g}, but the model was fitted on counts, which are at least 0.")
    if node.weights:
        refuse_fractions(x)
    if node.family == "bernoulli" and x.is_floating_point() and (low < 0 or high > 1):
        worst = high if high > 1 else low
        raise DataError(
            f"x holds {worst:g}, but the model was fitted on values from 0 to 1; scale x as it was for fit."
        )
    if node.columns:
        check_rows(node.columns, x)
