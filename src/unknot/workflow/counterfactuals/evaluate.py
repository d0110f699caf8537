"""Counterfactuals in numbers: items with one factor changed, predicted again by the model and by others."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError, DiskError
from unknot.files import write_file
from unknot.metrics.analogies import nearest_setting, sharpness, style_shift
from unknot.metrics.probes import Leak, leak
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.train.checkpoint import latest_step
from unknot.train.epochs import label_digest
from unknot.workflow.counterfactuals.counterfactual import (
    LABELS_PER_SETTING,
    Agreement,
    Change,
    Counterfactual,
)
from unknot.workflow.counterfactuals.predictor import (
    Predictor,
    Split,
    make_predictor,
    predicted_values,
    split,
)
from unknot.workflow.generation import deterministic_children
from unknot.workflow.prediction import Prediction
from unknot.workflow.run import TrainedRun
from unknot.workflow.trained_labels import held_out_labels, without_labels
from unknot.workflow.trained_model import TrainedModel

CACHE = "counterfactuals.json"  # in a run folder
MOST_CLASSES = 10
NUMBERS = 5  # settings of a factor of numbers


def counterfactuals_of_run(trained: TrainedRun) -> list[Counterfactual]:
    """The counterfactuals of a run's test data, or else of its training data, computed once and kept in its folder.

    They are computed anew when the run has been trained further or its labels are others. A folder that cannot be
    written keeps nothing.
    """
    data = trained.train if trained.test is None else trained.test
    if len(data) < 2:
        return []
    path, key = trained.run.path / CACHE, _state_of(trained)
    found = _kept(path, key)
    if found is None:
        found = counterfactuals(trained.model, data, trained.train)
        content = {**key, "counterfactuals": [one.to_dict() for one in found]}
        with contextlib.suppress(DiskError):
            write_file(path, (json.dumps(content, indent=1) + "\n").encode())
    return found


def _state_of(trained: TrainedRun) -> dict[str, str | int | None]:
    """What the counterfactuals of a run depend on."""
    return {
        "format": 1,
        "step": latest_step(trained.run.checkpoints),
        "train": label_digest(trained.train),
        "test": None if trained.test is None else label_digest(trained.test),
    }


def _kept(path: Path, key: dict[str, str | int | None]) -> list[Counterfactual] | None:
    """The counterfactuals in a file, if it is there, whole, and of this state of the run."""
    try:
        content = json.loads(path.read_text())
        if all(content[name] == value for name, value in key.items()):
            return [Counterfactual.from_dict(one) for one in content["counterfactuals"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def counterfactuals(
    model: TrainedModel,
    data: Dataset,
    train: Dataset | None = None,
    seed: int = 0,
    *,
    independent: bool = True,
) -> list[Counterfactual]:
    """Change every named factor of a model in some items, keep everything else, and predict all factors again.

    Parameters
    ----------
    model : TrainedModel
        The model.
    data : Dataset
        Some of its items are changed, and others with labels are learned from
        (:func:`~unknot.workflow.counterfactuals.predictor.split`).
    train : Dataset or None
        The training data, with the labels that training saw. ``data`` is this object, or has held-out items. Without it
        the model tells which labels it was trained on. Labels that it was trained on are not compared with its
        predictions.
    seed : int, default=0
        Seed of the draws.
    independent : bool, default=True
        Whether to train an independent predictor and probes. Without them only the model's own encoder predicts, which
        takes seconds.

    Returns
    -------
    list of Counterfactual
        One for each named factor. There is an independent predictor where ten labels per class are left to learn from;
        numbers count as five classes.
    """
    if len(data) < 2:
        raise DataError(
            "counterfactuals: expected two or more items, since distances are relative to other items."
        )
    parts = split(data, None if data is train else train, seed)
    held_out = parts.changed
    if train is None or data is train:
        held_out = held_out_labels(model, held_out) if train is None else without_labels(held_out)
    settable = {node.name for node in model.settable}
    factors = [node for node in model.labeled if node.name in settable]
    learned = [node.name for node in factors if independent and _enough(node, parts.learning)]
    predictor = make_predictor(parts.learning, learned, seed) if learned else None
    evaluation = _Evaluation(model, parts, held_out, predictor, tuple(learned), seed)
    return [evaluation.counterfactual(node) for node in factors]


def _enough(node: NodeSpec, learning: Dataset) -> bool:
    """Ten labels for each class on average, and two classes at least."""
    factor = learning.factors.get(node.name)
    if factor is None:
        return False
    known = factor.values[factor.known]
    settings = family_of(node).class_count(node.size or 0) or NUMBERS
    return len(known) >= LABELS_PER_SETTING * settings and len(known.unique(dim=0)) > 1


# ---- the settings that a factor is changed to ---------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """The values that a factor is changed to.

    Parameters
    ----------
    values : list of Tensor
        As :meth:`TrainedModel.vary` takes them.
    intended : ndarray
        Classes ``(K,)``, or numbers ``(K, D)``.
    unit : ndarray or None
        The unit ``(D,)`` of the distance between numbers. A predicted class is as intended if it is that class; numbers
        are if they are nearer to their setting than to any other, so that chance is 1 / K.
    """

    values: list[Tensor]
    intended: np.ndarray
    unit: np.ndarray | None = None

    def as_intended(self, predictions: np.ndarray, k: int) -> np.ndarray:
        """Which items made with setting k are predicted to have it, ``(N,)`` bool."""
        return self._nearest(predictions) == (k if self.unit is not None else self.intended[k])

    def alike(self, predictions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Which predictions are the class of the label, or nearest to the same setting."""
        return self._nearest(predictions) == self._nearest(truth)

    def _nearest(self, values: np.ndarray) -> np.ndarray:
        if self.unit is None:
            return values
        return nearest_setting(values.reshape(len(values), -1) / self.unit, self.intended / self.unit)


def settings_of(node: NodeSpec, values: np.ndarray, seed: int = 0) -> Settings:
    """All classes of a factor (ten of them where there are more), or five values that represent its numbers.

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
        return Settings(settings, classes)
    from sklearn.cluster import KMeans

    rows = values.reshape(len(values), -1).astype(np.float64)
    unit = np.ones(rows.shape[1])
    if family.gaussian:
        unit = np.where(rows.std(0) > 0, rows.std(0), 1.0)
    count = min(NUMBERS, len(np.unique(rows, axis=0)))
    centers = KMeans(count, n_init=3, random_state=seed).fit(rows / unit).cluster_centers_
    chosen = rows[np.linalg.norm((rows / unit)[:, None] - centers, axis=-1).argmin(0)]  # (K, D)
    chosen = chosen[np.lexsort(chosen.T[::-1])]
    return Settings(list(torch.from_numpy(chosen).float()), chosen, unit)


# ---- the numbers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Evaluation:
    """The items that are changed, as they are before, and who predicts their factors."""

    model: TrainedModel
    parts: Split
    held_out: Dataset  # the changed items, with the labels that the model was not trained on
    predictor: Predictor | None
    learned: tuple[str, ...]  # factors that the predictor and the probes know
    seed: int

    def counterfactual(self, node: NodeSpec) -> Counterfactual:
        """Change one factor in all items."""
        truth = self.parts.changed.factors.get(node.name)
        held_out = self.held_out.factors.get(node.name)
        following = deterministic_children(self.model.nodes, node.name)
        others = [other for other in self._others if other.name not in (node.name, *following)]
        settings = settings_of(node, self._values(node, truth), self.seed)
        by_encoder, by_predictor, codes, squares = [], [], [], []
        for k, setting in enumerate(settings.values):
            made = self._as_long(self.model.vary(self.x, node.name, [setting])[:, 0])
            prediction = self.model.predict(made)
            values = predicted_values(node, prediction.predictions[node.name].numpy())
            by_encoder.append(settings.as_intended(values, k))
            codes.append({other.name: code(other, prediction) for other in others})
            if self.predictor is not None and node.name in self.learned:
                by_predictor.append(settings.as_intended(self.predictor.predict(made)[node.name], k))
            if self.is_image:
                squares.append(sharpness(made.numpy()) ** 2)
        predictor = None
        if by_predictor:
            right = self._right(settings, truth, self._by_predictor[node.name])
            predictor = _agreement(by_predictor, right)
        styles = tuple(other.name for other in others if not other.labels)
        return Counterfactual(
            factor=node.name,
            settings=len(settings.values),
            items=len(self.x),
            labels=self._labels(node),
            encoder=_agreement(by_encoder, self._right(settings, held_out, self._own(node))),
            predictor=predictor,
            moves={
                other.name: self._moved(other, [after[other.name] for after in codes]) for other in others
            },
            style=styles,
            leak=self._leak(node, held_out, styles),
            sharpness=self._sharpness(float(np.sqrt(np.mean(squares)))) if squares else None,
        )

    @cached_property
    def x(self) -> Tensor:
        return self.parts.changed.batch(range(len(self.parts.changed))).x

    @property
    def is_image(self) -> bool:
        return len(self.model.shape) == 3

    @cached_property
    def _before(self) -> Prediction:
        return self.model.predict(self.x)

    @cached_property
    def _reconstructed(self) -> Tensor:
        return self._as_long(self.model.reconstruct(self.x))

    def _as_long(self, made: Tensor) -> Tensor:
        """Generated items; documents, which are generated as shares of words, get the length of the original."""
        words = any(node.is_data and node.family.name == "multinomial" for node in self.model.nodes)
        return made * self.x.sum(-1, keepdim=True) if words else made

    @cached_property
    def _unchanged(self) -> Prediction:
        return self.model.predict(self._reconstructed)

    @cached_property
    def _by_predictor(self) -> dict[str, np.ndarray]:
        return {} if self.predictor is None else self.predictor.predict(self.x)

    @property
    def _others(self) -> list[NodeSpec]:
        return [node for node in self.model.settable if node.name in self._before.predictions]

    def _own(self, node: NodeSpec) -> np.ndarray:
        return predicted_values(node, self._before.predictions[node.name].numpy())

    def _values(self, node: NodeSpec, truth: Factor | None) -> np.ndarray:
        """Values of the factor that occur: the labels, or the predictions."""
        if truth is not None and int(truth.known.sum()) > 1:
            return truth.values[truth.known].numpy()
        return self._own(node)

    def _labels(self, node: NodeSpec) -> int:
        factor = self.parts.learning.factors.get(node.name)
        return 0 if factor is None else int(factor.known.sum())

    def _right(self, settings: Settings, truth: Factor | None, predictions: np.ndarray) -> float | None:
        """The share of real items that are predicted as labeled."""
        if truth is None or not bool(truth.known.any()):
            return None
        known = truth.known.numpy()
        return float(np.mean(settings.alike(predictions[known], truth.values.numpy()[known])))

    def _moved(self, node: NodeSpec, after: list[np.ndarray]) -> Change:
        before = code(node, self._before)
        unchanged = code(node, self._unchanged)[:, None]
        return Change(style_shift(before, np.stack(after, 1)), style_shift(before, unchanged))

    def _leak(self, node: NodeSpec, held_out: Factor | None, styles: tuple[str, ...]) -> Leak | None:
        if not styles or node.name not in self.learned or held_out is None or not bool(held_out.known.any()):
            return None
        learned = self.parts.learning.factors[node.name]
        known = learned.known.numpy()
        codes = _joined(self._learning, styles)[known]
        return leak(
            codes, learned.values.numpy()[known], _joined(self._before, styles), held_out.values.numpy()
        )

    @cached_property
    def _learning(self) -> Prediction:
        return self.model.predict(self.parts.learning.batch(range(len(self.parts.learning))).x)

    def _sharpness(self, made: float) -> Change:
        real = sharpness(self.x.numpy()) or 1.0
        return Change(made / real, sharpness(self._reconstructed.numpy()) / real)


def code(node: NodeSpec, prediction: Prediction) -> np.ndarray:
    """A variable's values as rows that have a distance, ``(N, D)``: the best class one-hot, numbers as they are."""
    if family_of(node).has_classes:
        return np.eye(node.size or 0)[prediction.predictions[node.name].argmax(-1).numpy()]
    values = prediction.values[node.name]
    return values.reshape(len(values), -1).double().numpy()


def _joined(prediction: Prediction, names: tuple[str, ...]) -> np.ndarray:
    return torch.cat([prediction.predictions[name] for name in names], 1).numpy()


def _agreement(right: list[np.ndarray], real: float | None) -> Agreement:
    """The share over items and settings; an item's settings are not independent, so it counts once for the error."""
    by_item = np.mean(right, axis=0)  # (N,)
    return Agreement(float(by_item.mean()), float(by_item.std() / np.sqrt(len(by_item))), real)
