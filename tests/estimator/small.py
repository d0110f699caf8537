"""Small estimators and data for their tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from unknot import StructuredVAE, node
from unknot.models import NodeSpec

DIGITS = load_digits()
IMAGES = np.round(DIGITS.images * 255 / 16).astype(np.uint8)  # (N, 8, 8)
CLASSES = DIGITS.target
COUNT = 400


def small(**settings: Any) -> StructuredVAE:
    """The class-and-style model with three dimensions, or another ``model``, trained for a few steps."""
    plain = {} if "model" in settings else {"model": "class_style", "style": 3}
    return StructuredVAE(**{"steps": 6, "batch_size": 64, "verbose": False, **plain, **settings})


def half_known(labels: np.ndarray, unknown: Any = -1) -> np.ndarray:
    shown = labels[:COUNT].copy()
    shown[COUNT // 2 :] = unknown
    return shown


def class_and_style() -> list[NodeSpec]:
    return [
        node("digit", "concrete", 10, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x", "digit"]),
        node("x", "bernoulli", parents=["digit", "style"]),
    ]
