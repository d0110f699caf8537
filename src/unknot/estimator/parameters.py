"""An estimator's constructor arguments: what they may be, and as plain data for a saved model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from unknot.errors import SpecError


def plain_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """The arguments as JSON has them; a model given as objects is kept in the model's description instead."""
    plain = {}
    for name, value in estimator.get_params().items():
        if name == "model":
            value = None
        elif isinstance(value, Mapping):
            value = dict(value)
        value = plain_number(value)
        try:
            json.dumps(value)
        except TypeError:
            raise SpecError(
                f"a {type(estimator).__name__} with {name}={value!r} cannot be saved: it is not plain data."
            ) from None
        plain[name] = value
    return plain


def plain_number(value: Any) -> Any:
    """A number of numpy, as scikit-learn's searches choose them, as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def refuse_wrong_parameters(estimator: Any) -> None:
    """Refuse a weight, a size or a mapping that cannot be; the training settings look at their own."""
    alpha, style = estimator.alpha, estimator.style
    if alpha is not None and not (_is(alpha, Real) and 0 <= float(alpha) < math.inf):
        raise SpecError(f"alpha weighs the labels: a number of at least 0, but got {alpha!r}.")
    if style is not None and not (_is(style, Integral) and style >= 1):
        raise SpecError(f"style is how many numbers describe the rest: at least 1, but got {style!r}.")
    for name, example in (("kinds", {"objects": "count"}), ("text", {"max_features": 2000})):
        value = getattr(estimator, name)
        if value is not None and not isinstance(value, Mapping):
            raise SpecError(f"{name} is a mapping such as {example}, but got {value!r}.")


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
