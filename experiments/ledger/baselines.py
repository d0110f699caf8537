"""The rows that keep a table honest: the encoder trained on the labels alone, and what leaks into the style."""

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

PROBED = 5000  # training items that a probe learns from

LEAK_MEASURES = (
    Measure("style_linear", "error of a linear probe on the style", "%", "higher"),
    Measure("style_neighbors", "error of 5 neighbors on the style", "%", "higher"),
)


def supervised(train: Mapping[str, Any], labels: int) -> dict[str, Any]:
    """Training settings of the same encoder on the ``labels`` labeled items and nothing else.

    As many labeled items a step as before (at most all of them), as many steps, the same rates, and the same
    weight α of the labels beside whatever else trains the encoder, such as the agreement of two views.
    """
    kept = ("alpha", "regularizers")
    objective = {"name": "supervised", **{key: v for key, v in train["objective"].items() if key in kept}}
    share = train.get("labeled_share") or 1.0
    batch_size = min(max(round(share * train["batch_size"]), 1), labels)
    return {**train, "objective": objective, "labeled_share": 1.0, "batch_size": batch_size}


def style_leak(
    model: TrainedModel, train: Dataset, test: Dataset, factor: str, style: str = "style"
) -> Numbers:
    """Errors in per cent of two probes that read a factor from the style's mean without knowing the factor.

    Where the style is recognized from the factor as well as from the data, it is taken at the encoder's own
    reading of the factor. ``train`` shows its true labels: a probe asks what is there, not what was learned.
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
    """The leak of a trained recipe, probed with all labels of its data."""
    assert trained.test is not None
    recipe = trained.recipe
    return style_leak(trained.model, recipe.training_data(recipe.dataset()), trained.test, factor)
