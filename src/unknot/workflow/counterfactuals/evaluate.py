"""Counterfactuals in numbers: items with one factor changed, read again by the model and by others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError
from unknot.metrics.analogies import nearest_setting, style_shift
from unknot.metrics.leak import Leak, leak
from unknot.metrics.sharpness import sharpness
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.workflow.counterfactuals.counterfactual import Beside, Counterfactual, Read
from unknot.workflow.counterfactuals.reader import LABELS_A_SETTING, Judging, Reader, judging, make_reader
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.generation import deterministic_children
from unknot.workflow.prediction import Prediction
from unknot.workflow.trained_model import TrainedModel

# Changes: the settings that a factor is changed to, and whether a reading is the setting that was meant.

MOST_CLASSES = 10
NUMBERS = 5  # settings of a factor of numbers


@dataclass(frozen=True)
class Changes:
    """Settings as :meth:`TrainedModel.vary` takes them, and what is meant by each.

    ``meant`` are classes ``(K,)``, or numbers ``(K, D)`` in units of ``unit`` ``(D,)``. A class is read as meant if it
    is that class; numbers are if they are nearer to the setting than to any other, so that chance is 1 / K.
    """

    settings: list[Tensor]
    meant: np.ndarray
    unit: np.ndarray | None = None

    def as_meant(self, said: np.ndarray, k: int) -> np.ndarray:
        """Which readings of items made with setting k are that setting, ``(N,)`` bool."""
        return self._placed(said) == (k if self.unit is not None else self.meant[k])

    def alike(self, said: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Which readings of real items are the same class, or next to the same setting, as their labels."""
        return self._placed(said) == self._placed(truth)

    def _placed(self, values: np.ndarray) -> np.ndarray:
        if self.unit is None:
            return values
        return nearest_setting(values.reshape(len(values), -1) / self.unit, self.meant / self.unit)


def changes_of(node: NodeSpec, values: np.ndarray, seed: int = 0) -> Changes:
    """All classes of a factor (ten of them where there are more), or five values that stand for its numbers.

    ``values`` ``(N,)`` or ``(N, D)`` are the factor's values of some items. Numbers are put into five clusters
    (k-means), and the value nearest to each center is a setting, so that every setting is one that occurs.
    """
    family = family_of(node)
    count = family.class_count(node.size or 0)
    if count:
        classes = np.arange(count)
        if count > MOST_CLASSES:
            classes = np.sort(np.random.default_rng(seed).permutation(count)[:MOST_CLASSES])
        settings = [torch.tensor(int(k)) if family.has_classes else torch.tensor([float(k)]) for k in classes]
        return Changes(settings, classes)
    from sklearn.cluster import KMeans

    rows = values.reshape(len(values), -1).astype(np.float64)
    unit = np.ones(rows.shape[1])
    if family.gaussian:
        unit = np.where(rows.std(0) > 0, rows.std(0), 1.0)
    count = min(NUMBERS, len(np.unique(rows, axis=0)))
    centers = KMeans(count, n_init=3, random_state=seed).fit(rows / unit).cluster_centers_
    chosen = rows[np.linalg.norm((rows / unit)[:, None] - centers, axis=-1).argmin(0)]  # (K, D)
    chosen = chosen[np.lexsort(chosen.T[::-1])]
    return Changes(list(torch.from_numpy(chosen).float()), chosen, unit)


def reading(node: NodeSpec, summary: np.ndarray) -> np.ndarray:
    """What an encoder's report says: classes ``(N,)``, or numbers ``(N, D)``."""
    if family_of(node).class_count(node.size or 0):
        return np.asarray(class_probabilities(summary).argmax(-1))
    return summary


def counterfactuals(
    model: TrainedModel, data: Dataset, train: Dataset | None = None, seed: int = 0
) -> list[Counterfactual]:
    """Every named factor of a model changed in items of ``data``, everything else kept.

    Judges learn from the labels of ``train`` and from those of ``data`` that are not changed
    (:mod:`unknot.workflow.counterfactuals.reader`), ten or more for each class; numbers count as five classes.
    """
    if len(data) < 2:
        raise DataError("how far a change moves the rest is told beside other items; give two or more.")
    parts = judging(data, train, seed)
    settable = {node.name for node in model.settable}
    factors = [node for node in model.labeled if node.name in settable]
    taught = [node.name for node in factors if _enough(node, parts.learning)]
    reader = make_reader(parts.learning, taught, seed) if taught else None
    scene = Scene(model, parts, reader, tuple(taught), seed)
    return [scene.changed(node) for node in factors]


def _enough(node: NodeSpec, learning: Dataset) -> bool:
    """Ten labels for each class on average, and two classes at least."""
    factor = learning.factors.get(node.name)
    if factor is None:
        return False
    known = factor.values[factor.known]
    settings = family_of(node).class_count(node.size or 0) or NUMBERS
    return len(known) >= LABELS_A_SETTING * settings and len(known.unique(dim=0)) > 1


@dataclass(frozen=True)
class Scene:
    """The items that are changed, as they are before, and who judges them."""

    model: TrainedModel
    parts: Judging
    reader: Reader | None
    taught: tuple[str, ...]  # factors that the reader and the probes know
    seed: int

    def changed(self, node: NodeSpec) -> Counterfactual:
        """One factor changed in all items."""
        truth = self.parts.judged.factors.get(node.name)
        others = [
            one
            for one in self._others
            if one.name not in (node.name, *deterministic_children(self.model.nodes, node.name))
        ]
        changes = changes_of(node, self._values(node, truth), self.seed)
        own, read, codes, sharp = [], [], [], []
        for k, setting in enumerate(changes.settings):
            made = self._as_long(self.model.vary(self.x, node.name, [setting])[:, 0])
            said = self.model.predict(made)
            own.append(changes.as_meant(reading(node, said.predictions[node.name].numpy()), k))
            codes.append({one.name: code(one, said) for one in others})
            if self.reader is not None and node.name in self.taught:
                read.append(changes.as_meant(self.reader.read(made)[node.name], k))
            if self.is_image:
                sharp.append(sharpness(made.numpy()) ** 2)
        styles = tuple(one.name for one in others if not one.labels)
        return Counterfactual(
            factor=node.name,
            settings=len(changes.settings),
            items=len(self.x),
            labels=self._labels(node),
            encoder=_read(own, self._right(changes, truth, self._own(node))),
            reader=_read(read, self._right(changes, truth, self._reader_says[node.name])) if read else None,
            moves={one.name: self._moved(one, [after[one.name] for after in codes]) for one in others},
            style=styles,
            leak=self._leak(node, truth, styles),
            sharpness=self._sharpness(float(np.sqrt(np.mean(sharp)))) if sharp else None,
        )

    # ---- the items before anything is changed -----------------------------------------------------------

    @cached_property
    def x(self) -> Tensor:
        return self.parts.judged.batch(range(len(self.parts.judged))).x

    @property
    def is_image(self) -> bool:
        return len(self.model.shape) == 3

    @cached_property
    def _before(self) -> Prediction:
        return self.model.predict(self.x)

    @cached_property
    def _anew(self) -> Tensor:
        return self._as_long(self.model.reconstruct(self.x))

    def _as_long(self, made: Tensor) -> Tensor:
        """Made items; of documents, which are made as shares of words, with as many words as the item had."""
        words = any(node.is_data and node.family == "multinomial" for node in self.model.nodes)
        return made * self.x.sum(-1, keepdim=True) if words else made

    @cached_property
    def _still(self) -> Prediction:
        return self.model.predict(self._anew)

    @cached_property
    def _reader_says(self) -> dict[str, np.ndarray]:
        return {} if self.reader is None else self.reader.read(self.x)

    @property
    def _others(self) -> list[NodeSpec]:
        return [node for node in self.model.settable if node.name in self._before.predictions]

    def _own(self, node: NodeSpec) -> np.ndarray:
        return reading(node, self._before.predictions[node.name].numpy())

    def _values(self, node: NodeSpec, truth: Factor | None) -> np.ndarray:
        """Values of the factor that occur: the labels, or what the encoder says."""
        if truth is not None and int(truth.known.sum()) > 1:
            return truth.values[truth.known].numpy()
        return self._own(node)

    def _labels(self, node: NodeSpec) -> int:
        factor = self.parts.learning.factors.get(node.name)
        return 0 if factor is None else int(factor.known.sum())

    # ---- numbers ----------------------------------------------------------------------------------------

    def _right(self, changes: Changes, truth: Factor | None, said: np.ndarray) -> float | None:
        """The share of real items that are read as they are labeled."""
        if truth is None or not bool(truth.known.any()):
            return None
        known = truth.known.numpy()
        return float(np.mean(changes.alike(said[known], truth.values.numpy()[known])))

    def _moved(self, node: NodeSpec, after: list[np.ndarray]) -> Beside:
        before = code(node, self._before)
        still = code(node, self._still)[:, None]
        return Beside(style_shift(before, np.stack(after, 1)), style_shift(before, still))

    def _leak(self, node: NodeSpec, truth: Factor | None, styles: tuple[str, ...]) -> Leak | None:
        if not styles or node.name not in self.taught or truth is None or not bool(truth.known.any()):
            return None
        learned = self.parts.learning.factors[node.name]
        known = learned.known.numpy()
        codes = _joined(self._learned, styles)[known]
        return leak(codes, learned.values.numpy()[known], _joined(self._before, styles), truth.values.numpy())

    @cached_property
    def _learned(self) -> Prediction:
        return self.model.predict(self.parts.learning.batch(range(len(self.parts.learning))).x)

    def _sharpness(self, made: float) -> Beside:
        real = sharpness(self.x.numpy()) or 1.0
        return Beside(made / real, sharpness(self._anew.numpy()) / real)


def code(node: NodeSpec, said: Prediction) -> np.ndarray:
    """A variable's values as rows that have a distance, ``(N, D)``: the best class one-hot, numbers as they are."""
    if family_of(node).has_classes:
        return np.eye(node.size or 0)[said.predictions[node.name].argmax(-1).numpy()]
    values = said.values[node.name]
    return values.reshape(len(values), -1).double().numpy()


def _joined(said: Prediction, names: tuple[str, ...]) -> np.ndarray:
    return torch.cat([said.predictions[name] for name in names], 1).numpy()


def _read(right: list[np.ndarray], real: float | None) -> Read:
    """The share over items and settings; an item's settings are not independent, so it counts once for the error."""
    by_item = np.mean(right, axis=0)  # (N,)
    spread = float(by_item.std() / np.sqrt(len(by_item)))
    return Read(float(by_item.mean()), spread, real)
