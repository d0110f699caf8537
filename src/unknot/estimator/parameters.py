"""An estimator's constructor arguments: what they may be, and as plain data for a saved model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.workflow.assembly import ALPHA, Assembly
from unknot.workflow.class_weights import class_weights

# An estimator's constructor arguments as what they ask for: of the default model, of training, of the classes.


def model_options(estimator: Any) -> dict[str, Any]:
    """Options of the default model."""
    chosen = {name: getattr(estimator, name) for name in ("style", "gradient", "augment", "agreement")}
    separate = {"separate": True} if estimator.separate else {}
    return {key: plain_number(value) for key, value in chosen.items() if value is not None} | separate


def training_settings(estimator: Any, data: Dataset) -> dict[str, Any]:
    """Training settings; what is left out has the defaults of every door."""
    objective = estimator.objective
    chosen = {
        "steps": estimator.steps,
        "batch_size": None if estimator.batch_size is None else min(estimator.batch_size, len(data)),
        "labeled_share": estimator.labeled_share,
        "learning_rate": estimator.learning_rate,
        "patience": estimator.patience,
        "device": estimator.device,
        "seed": estimator.seed,
        "progress": estimator.verbose,
    }
    if data.factors and (
        objective == "semi_supervised" or (objective is None and estimator.alpha is not None)
    ):
        alpha = ALPHA if estimator.alpha is None else float(estimator.alpha)
        objective = {"name": "semi_supervised", "alpha": alpha}
    elif objective == "semi_supervised":
        objective = None
    plain = {key: plain_number(value) for key, value in chosen.items() if value is not None}
    return {**plain, "objective": objective}


def weights_of_classes(estimator: Any, made: Assembly) -> dict[str, tuple[float, ...]]:
    """The weights of classes that were asked for."""
    if estimator.class_weight is None:
        return {}
    named = {n: f for n, f in made.data.factors.items() if f.kind in ("categorical", "binary")}
    if isinstance(estimator.class_weight, Mapping) and len(named) != 1:
        raise SpecError(
            f"class_weight by class is for one factor of classes, but there are {len(named)}; say 'balanced'."
        )
    values = made.model.class_values
    return {n: class_weights(estimator.class_weight, f, values(n)) for n, f in named.items()}


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
