"""Going on from a fitted model: its description, columns and classes stay, and training starts at its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import UNKNOWN, Factor
from unknot.data.label_column import read_factor
from unknot.errors import SpecError
from unknot.workflow.assembly import Assembly, assemble
from unknot.workflow.model_source import Joined
from unknot.workflow.trained_model import TrainedModel


def with_known_labels(items: Dataset, labels: Mapping[str, Any], model: TrainedModel) -> Dataset:
    """Items with labels of the factors that a model has learned, in its own classes; those not given are unknown."""
    factors = model.data.factors
    for name in labels:
        if name not in factors:
            there = ", ".join(factors) or "nothing"
            raise SpecError(
                f"there are labels for '{name}', but the model was fitted with labels of {there}."
            )
    made = {name: _unknown(factor, len(items)) for name, factor in factors.items()}
    for name, values in labels.items():
        kind = factors[name].kind
        classes = model.class_values(name) if kind == "categorical" else None
        made[name] = read_factor(name, values, len(items), kind, classes)
    return replace(items, factors=made)


def _unknown(factor: Factor, count: int) -> Factor:
    mark = torch.nan if factor.kind == "continuous" else UNKNOWN
    return replace(factor, values=factor.values.new_full((count, *factor.values.shape[1:]), mark))


def go_on(model: TrainedModel, data: Dataset, train: Mapping[str, Any]) -> Assembly:
    """The same model with the same weights, to be trained on data of the same kind."""
    if isinstance(model.source, Joined):
        raise SpecError(
            "warm_start: an ensemble takes its columns' scales and the folds of its labels from all rows at once and "
            "cannot go on; fit it on all rows, or ask for one model, for instance by style=10."
        )
    made = assemble(data, model.source, train, labels=data.factors, words=model.words)
    made.model.module.load_state_dict(model.module.state_dict())
    return made
