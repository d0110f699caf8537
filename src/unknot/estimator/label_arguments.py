"""The labels in a call of an estimator's methods: by name or by position, words or numbers, known or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unknot.errors import SpecError


def with_y(y: Any, labels: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """The labels by name; a positional y belongs to the only factor there is, or to one called "label"."""
    if y is None:
        return dict(labels)
    name = names[0] if len(names) == 1 else "label"
    if name in labels:
        raise SpecError(f"the labels of '{name}' were given twice, by position and by name.")
    return {name: y, **labels}


def has_words(labels: Any) -> bool:
    return any(isinstance(label, str) for label in np.asarray(labels, dtype=object).ravel())


def known_labels(truth: Any, continuous: bool) -> tuple[np.ndarray, np.ndarray]:
    """Which items have a label (not NaN, None, masked or, for classes, -1), and these labels."""
    values = np.asarray(truth)
    masked = (
        np.ma.getmaskarray(truth) if isinstance(truth, np.ma.MaskedArray) else np.zeros(values.shape, bool)
    )
    absent = masked | np.array([v is None or v != v for v in values.ravel()], dtype=bool).reshape(
        values.shape
    )
    if not continuous:
        absent = absent | np.array([v == -1 for v in values.ravel()], dtype=bool).reshape(values.shape)
    known = ~absent.reshape(len(values), -1).any(1)
    return known, values[known]
