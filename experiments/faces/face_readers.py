"""Independent readers of faces: who it is and where the light comes from, by plain statistics on all photographs."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.faces.face_baselines import Photographs

_COMPONENTS = 150


class FaceReader:
    """Principal components, then linear discriminants for the person and a ridge regression for the light.

    Nothing in it is ours or a network: it shares no weights, no features and no training with what it judges.
    Arguments: the photographs that it learns from, with their true labels.
    """

    def __init__(self, known: Photographs) -> None:
        from sklearn.decomposition import PCA
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.kernel_ridge import KernelRidge
        from sklearn.pipeline import make_pipeline

        flat = known.x.reshape(len(known.x), -1)
        count = min(_COMPONENTS, len(flat) - 1)
        discriminants = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        self._person: Any = make_pipeline(PCA(count, whiten=True, random_state=0), discriminants)
        self._light: Any = make_pipeline(
            PCA(count, whiten=True, random_state=0), KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3 / count)
        )
        self._person.fit(_leveled(flat), known.person)
        self._light.fit(_leveled(flat), known.light)

    def person(self, x: np.ndarray) -> np.ndarray:
        """Who is in each image ``(N, H, W)``."""
        return np.asarray(self._person.predict(_leveled(x.reshape(len(x), -1))))

    def light(self, x: np.ndarray) -> np.ndarray:
        """Where each image's light comes from, ``(N, 3)`` unit vectors."""
        found = self._light.predict(_leveled(x.reshape(len(x), -1)))
        # an image like none it knows has no light: the zero vector, a right angle from every direction
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12))


def degrees_between(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Angles between unit vectors ``(N, 3)``, in degrees."""
    return np.degrees(np.arccos(np.clip((one * two).sum(-1), -1, 1)))


def _leveled(flat: np.ndarray) -> np.ndarray:
    """Images against their own brightness: a dim photograph is of the same person."""
    return np.sqrt(np.clip(flat, 0, 1)) / np.sqrt(np.clip(flat, 0, 1) + 1e-6).mean(1, keepdims=True)
