"""Baselines of the tables: the encoder trained on labels alone, and probes for the factor in the style."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from experiments.ledger.experiment import Measure, Numbers
from unknot.data.dataset import Dataset
from unknot.metrics.probes import linear_probe_error, neighbor_probe_error
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.run import TrainedRun
from unknot.workflow.trained_model import TrainedModel

PROBED = 5000  # training items of a probe

LEAK_MEASURES = (
    Measure("style_linear", "error of a linear probe on the style", "%", "higher"),
    Measure("style_neighbors", "error of 5 neighbors on the style", "%", "higher"),
)


def supervised(train: Mapping[str, Any], labels: int) -> dict[str, Any]:
    """Return training settings of the same encoder on the ``labels`` labelled items alone.

    The numbers of steps and of labelled items per step, the learning rate, the weight alpha of the labels and the
    regularizers stay as they are.
    """
    kept = ("alpha", "regularizers")
    objective = {"name": "supervised", **{key: v for key, v in train["objective"].items() if key in kept}}
    share = train.get("labeled_share") or 1.0
    batch_size = min(max(round(share * train["batch_size"]), 1), labels)
    return {**train, "objective": objective, "labeled_share": 1.0, "batch_size": batch_size}


def style_leak(
    model: TrainedModel, train: Dataset, test: Dataset, factor: str, style: str = "style"
) -> Numbers:
    """Return the errors in per cent of two probes that predict a factor from the mean of the style.

    Where the style is inferred from the factor as well, the encoder's own prediction of the factor is used. The
    probes are trained on the true labels of ``train``.
    """
    rows = torch.randperm(len(train), generator=torch.Generator().manual_seed(0))[:PROBED]
    sets = []
    for data in (train.subset(rows.to(train.device)), test):
        codes = predict_dataset(model, data).predictions[style]
        sets += [codes, data.factor(factor).values.cpu().numpy()]
    return {
        "style_linear": 100 * linear_probe_error(*sets),
        "style_neighbors": 100 * neighbor_probe_error(*sets),
    }


def leak_of(trained: TrainedRun, factor: str) -> Numbers:
    """Return the :func:`style_leak` of a trained recipe, with all labels of its training data."""
    assert trained.test is not None
    recipe = trained.recipe
    return style_leak(trained.model, recipe.training_data(recipe.dataset()), trained.test, factor)
