"""Changes: the settings that a factor is changed to, and whether a reading is the setting that was meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unknot.metrics.analogies import nearest_setting
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.workflow.measures import class_probabilities

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
