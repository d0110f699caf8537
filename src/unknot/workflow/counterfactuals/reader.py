"""Reader: a judge of made items that shares nothing with the model, and learns from labels alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.counterfactuals.changes import reading
from unknot.workflow.trained_model import TrainedModel

TREES = 100
# A small convolutional network; its generator is there because every model has one, and learns nothing.
NETWORK: Mapping[str, Any] = {"style": 1, "width": 32, "x": {"channels": [16, 32, 64], "hidden": [8]}}
TRAINING: Mapping[str, Any] = {
    "batch_size": 64,
    "learning_rate": {"name": "cosine", "start": 4e-3},
    "labeled_share": None,
    "objective": "supervised",
    "progress": False,
    "device": "cpu",
}
STEPS = (100, 300)  # at least and at most; between them one for ten labels


class Reader(Protocol):
    """Reads named factors of items ``(N, ...)``: classes ``(N,)``, or numbers ``(N, D)``."""

    def read(self, x: Tensor) -> dict[str, np.ndarray]: ...


@dataclass(frozen=True)
class NetworkReader:
    """The encoder of a model that was trained on labels alone."""

    model: TrainedModel

    def read(self, x: Tensor) -> dict[str, np.ndarray]:
        said = self.model.predict(x).predictions
        return {node.name: reading(node, said[node.name].numpy()) for node in self.model.labeled}


@dataclass(frozen=True)
class ForestReader:
    """A random forest for each factor; missing entries of a table may stay."""

    forests: Mapping[str, Any]

    def read(self, x: Tensor) -> dict[str, np.ndarray]:
        rows = x.flatten(1).numpy()
        said = {name: forest.predict(rows) for name, forest in self.forests.items()}
        return {
            name: one if one.dtype.kind == "i" else one.reshape(len(rows), -1) for name, one in said.items()
        }


def make_reader(learning: Dataset, names: Iterable[str], seed: int = 0) -> Reader:
    """A reader of the named factors: of images one convolutional network, of rows a random forest for each factor."""
    factors = {name: learning.factors[name] for name in names}
    if len(learning.item_shape) == 3:
        return _network(replace(learning, factors=factors), seed)
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forests = {}
    rows = learning.batch(range(len(learning))).x.flatten(1).numpy()
    for name, factor in factors.items():
        kind = RandomForestRegressor if factor.kind == "continuous" else RandomForestClassifier
        known = factor.known.numpy()
        forests[name] = kind(TREES, random_state=seed).fit(rows[known], factor.values.numpy()[known])
    return ForestReader(forests)


def _network(learning: Dataset, seed: int) -> NetworkReader:
    count, (least, most) = len(learning), STEPS
    train = {
        **TRAINING,
        "batch_size": min(TRAINING["batch_size"], count),
        "steps": min(max(count // 10, least), most),
        "seed": seed,
    }
    made = assemble(learning, NETWORK, train)
    if fit(made.model.module, learning, made.config).stopped_because == "interrupted":
        raise KeyboardInterrupt
    made.model.module.eval()
    return NetworkReader(made.model)
