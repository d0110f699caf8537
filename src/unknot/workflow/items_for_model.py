"""New items as a trained model reads them: of its shape, of its kind of numbers, or refused."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError
from unknot.models.ensemble.components import are_counts
from unknot.models.ensemble.spec import COMPONENTS
from unknot.models.likelihoods import LIKELIHOODS, likelihood_of
from unknot.models.node_spec import NodeSpec
from unknot.workflow.trained_model import TrainedModel


def items_for_model(model: TrainedModel, items: Dataset) -> Dataset:
    """The items, their numbers meaning what those of the training data meant; others are refused.

    Rows of a table are numbers as they stand, also where their type would make them pixels (uint8) or counts of words
    (whole numbers, most of them 0). Rows of a model of counts (kind: wide) are whole numbers from 0. Bernoulli data are
    shares, from 0 to 1; multinomial data are counts, at least 0, and whole where they are weighed.
    """
    node, known = model.nodes[-1], model.data
    if items.item_shape != known.item_shape:
        what = "features" if len(items.item_shape) == len(known.item_shape) == 1 else "items"
        count = f"X has {items.item_shape.numel()} features, but expecting {known.item_shape.numel()}: "
        raise DataError(
            f"{count if what == 'features' else ''}x has items of shape {tuple(items.item_shape)}, but the model "
            f"was fitted on {tuple(known.item_shape)}; resize or cut them as for fit."
        )
    family = node.family.name
    if isinstance(items.x, SparseCounts) and family in ("table", "normal", "bernoulli"):
        items = replace(items, x=items.x[:].float())
    if isinstance(items.x, Tensor) and items.x.dtype == torch.uint8 and family in ("table", COMPONENTS):
        items = replace(items, x=items.x.float())
    counts_fitted = (
        known.are_counts
        if isinstance(known, CellDataset)
        else family == COMPONENTS and node.family.options["counts"]
    )
    if counts_fitted and not _are_counts(items):
        raise DataError(
            f"{items.name}: the model was fitted on counts, but x holds numbers that are not whole, negative or "
            "missing; give the counts as for fit, without a transformation."
        )
    if isinstance(items.x, Tensor) and family in LIKELIHOODS:
        likelihood_of(node).check_items(node, items.x)
    return items


def _are_counts(items: Dataset) -> bool:
    """Whether all numbers are whole and at least 0; of cells, those that were read: missing genes have expectations."""
    return items.are_counts if isinstance(items, CellDataset) else are_counts(items.x)


def _of_counts(known: Dataset, node: NodeSpec) -> bool:
    """Whether a model was fitted on counts."""
    if isinstance(known, CellDataset):
        return known.are_counts
    return node.family.name == COMPONENTS and bool(node.family.options["counts"])
