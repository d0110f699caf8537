"""Predictor: predicts factors of changed items, shares nothing with the model, and learns from labels alone.

Beside it stands which items are changed and which labels it learns from: no item is among both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from unknot.data.batch import any_known
from unknot.data.dataset import Dataset
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.trained_model import TrainedModel

MOST_CHANGED = 1000
MOST_LEARNED = 5000

TREES = 100
# A small convolutional network; every model has a decoder, and the supervised objective does not train this one.
NETWORK: Mapping[str, Any] = {
    "kind": "class_style",
    "style": 1,
    "width": 32,
    "x": {"encoder": {"name": "conv", "channels": [16, 32, 64]}, "decoder": {"name": "mlp", "hidden": [8]}},
}
TRAINING: Mapping[str, Any] = {
    "batch_size": 64,
    "learning_rate": {"name": "cosine", "start": 4e-3},
    "labeled_share": None,
    "objective": "supervised",
    "progress": False,
    "device": "cpu",
}
STEPS = (100, 300)  # at least and at most; between them one per ten labels


class Predictor(Protocol):
    """Predicts factors of items ``(N, ...)``: classes ``(N,)``, or numbers ``(N, D)``."""

    def predict(self, x: Tensor) -> dict[str, np.ndarray]: ...


@dataclass(frozen=True)
class NetworkPredictor:
    """The encoder of a model that was trained with the supervised objective."""

    model: TrainedModel

    def predict(self, x: Tensor) -> dict[str, np.ndarray]:
        predictions = self.model.predict(x).predictions
        return {
            node.name: predicted_values(node, predictions[node.name].numpy()) for node in self.model.labeled
        }


@dataclass(frozen=True)
class ForestPredictor:
    """A random forest for each factor; missing values of a table may stay."""

    forests: Mapping[str, Any]

    def predict(self, x: Tensor) -> dict[str, np.ndarray]:
        rows = x.flatten(1).numpy()
        predictions = {name: forest.predict(rows) for name, forest in self.forests.items()}
        return {
            name: values if values.dtype.kind == "i" else values.reshape(len(rows), -1)
            for name, values in predictions.items()
        }


def predicted_values(node: NodeSpec, predictions: np.ndarray) -> np.ndarray:
    """An encoder's predictions as classes ``(N,)``, or as numbers ``(N, D)``."""
    if family_of(node).class_count(node.size or 0):
        return np.asarray(class_probabilities(predictions).argmax(-1))
    return predictions


def make_predictor(learning: Dataset, names: Iterable[str], seed: int = 0) -> Predictor:
    """Train a predictor: one convolutional network for images, a random forest per factor for rows.

    Parameters
    ----------
    learning : Dataset
        Labeled items.
    names : iterable of str
        The factors to predict.
    seed : int, default=0
        Seed of the training.

    Returns
    -------
    Predictor
    """
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
    return ForestPredictor(forests)


def _network(learning: Dataset, seed: int) -> NetworkPredictor:
    count, (least, most) = len(learning), STEPS
    train = {
        **TRAINING,
        "batch_size": min(TRAINING["batch_size"], count),
        "steps": min(max(count // 10, least), most),
        "seed": seed,
    }
    assembly = assemble(learning, NETWORK, train)
    if fit(assembly.model.module, learning, assembly.config).stopped_because == "interrupted":
        raise KeyboardInterrupt
    assembly.model.module.eval()
    return NetworkPredictor(assembly.model)


# ---- which items are changed, and which labels a predictor learns from ------------------------------


@dataclass(frozen=True)
class Split:
    """Items to change, and labeled items to learn from; no item is among both."""

    changed: Dataset
    learning: Dataset


def split(data: Dataset, train: Dataset | None = None, seed: int = 0) -> Split:
    """Split labeled items into those that are changed and those that predictors and probes learn from.

    Parameters
    ----------
    data : Dataset
        Its labeled items are changed: at most 1,000, and at most half of all labeled items. Without any label some
        of its items are changed, and nothing is learned from it.
    train : Dataset or None
        More labeled items to learn from. At most 5,000 are used in all.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    Split
    """
    generator = torch.Generator().manual_seed(seed)
    labeled = any_known(data, None)
    of_train = torch.zeros(0, dtype=torch.bool) if train is None else any_known(train, None)
    half = (int(labeled.sum()) + int(of_train.sum())) // 2
    candidates = labeled.nonzero()[:, 0] if bool(labeled.any()) else torch.arange(len(data))
    candidates = candidates[torch.randperm(len(candidates), generator=generator)]
    count = min(MOST_CHANGED, max(half, 1)) if bool(labeled.any()) else MOST_CHANGED
    rest = candidates[count:] if bool(labeled.any()) else candidates[:0]
    parts = [_in_memory(data, rest)]
    if train is not None:
        rows = of_train.nonzero()[:, 0]
        parts.append(_in_memory(train, rows[torch.randperm(len(rows), generator=generator)]))
    return Split(_in_memory(data, candidates[:count].sort().values), _joined(parts))


def _in_memory(data: Dataset, rows: torch.Tensor) -> Dataset:
    """At most 5,000 of the rows as numbers in memory, in whatever form the data stores them."""
    some = data.subset(rows[:MOST_LEARNED].to(data.device)).to("cpu")
    return replace(some, x=some.batch(range(len(some))).x.to_dense())


def _joined(parts: list[Dataset]) -> Dataset:
    """At most 5,000 items of several data sets, with the factors that all of them have."""
    first = parts[0]
    names = [name for name in first.factors if all(name in part.factors for part in parts)]
    factors = {
        name: replace(
            first.factors[name],
            values=torch.cat([part.factors[name].values for part in parts])[:MOST_LEARNED],
        )
        for name in names
    }
    x = torch.cat([torch.as_tensor(part.x) for part in parts])[:MOST_LEARNED]
    return replace(first, x=x, ids=torch.arange(len(x)), factors=factors, splits={})
