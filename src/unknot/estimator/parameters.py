"""An estimator's constructor arguments as plain data, for a saved model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
        try:
            json.dumps(value)
        except TypeError:
            raise SpecError(
                f"a {type(estimator).__name__} with {name}={value!r} cannot be saved: it is not plain data."
            ) from None
        plain[name] = value
    return plain
