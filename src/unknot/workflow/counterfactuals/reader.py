"""Reader: a judge of made items that shares nothing with the model, and learns from labels alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from unknot.data.batch import any_known
from unknot.data.dataset import Dataset
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.counterfactuals.evaluate import reading
from unknot.workflow.trained_model import TrainedModel

# ---- Judging: which items are changed, and which labels the judges (a reader, probes) learn from ---------

MOST_JUDGED = 1000
MOST_LEARNED = 5000
LABELS_A_SETTING = 10  # that a judge learns from, for each class of a factor or each of five numbers


@dataclass(frozen=True)
class Judging:
    """Items to change, and labeled items to learn from; no item is among both."""

    judged: Dataset
    learning: Dataset


def judging(data: Dataset, train: Dataset | None = None, seed: int = 0) -> Judging:
    """The labeled items of ``data`` are judged, at most 1,000 and at most half of all labeled items there are.

    Judges learn from the other labeled items of ``data`` and from those of ``train`` (its labels that may be seen), at
    most 5,000, drawn with the ``seed``. Data without any label is judged without judges.
    """
    generator = torch.Generator().manual_seed(seed)
    labeled = any_known(data, None)
    seen = torch.zeros(0, dtype=torch.bool) if train is None else any_known(train, None)
    half = (int(labeled.sum()) + int(seen.sum())) // 2
    candidates = labeled.nonzero()[:, 0] if bool(labeled.any()) else torch.arange(len(data))
    candidates = candidates[torch.randperm(len(candidates), generator=generator)]
    count = min(MOST_JUDGED, max(half, 1)) if bool(labeled.any()) else MOST_JUDGED
    rest = candidates[count:] if bool(labeled.any()) else candidates[:0]
    parts = [_plain(data, rest)]
    if train is not None:
        rows = seen.nonzero()[:, 0]
        parts.append(_plain(train, rows[torch.randperm(len(rows), generator=generator)]))
    return Judging(_plain(data, candidates[:count].sort().values), _joined(parts))


def _plain(data: Dataset, rows: torch.Tensor) -> Dataset:
    """At most so many items in memory as numbers, whatever the data stores them as."""
    some = data.subset(rows[:MOST_LEARNED].to(data.device)).to("cpu")
    return replace(some, x=some.batch(range(len(some))).x.to_dense())


def _joined(parts: list[Dataset]) -> Dataset:
    """Items of several sets behind each other, at most 5,000, with the factors that all of them have."""
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
