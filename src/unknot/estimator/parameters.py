"""An estimator's constructor arguments: what they ask for of the model, of training and of the classes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from unknot.data.dataset import Dataset
from unknot.data.hierarchy import Hierarchy
from unknot.errors import SpecError
from unknot.models.spec import ModelSpec, read_spec
from unknot.workflow.assembly import Assembly
from unknot.workflow.class_weights import class_weights
from unknot.workflow.default_models import DEFAULT_MODELS
from unknot.workflow.schema import check_section, kind_of

TUNING = ("style", "gradient", "augment", "separate")
"""Arguments that are settings of a default model."""


def model_section(estimator: Any) -> tuple[dict[str, Any], ModelSpec | None]:
    """Return the ``model`` section that an estimator asks for, and the nodes if it describes them.

    Raises
    ------
    SpecError
        If settings of a default model stand beside a description of nodes.
    """
    model = estimator.model
    chosen = {name: plain_number(getattr(estimator, name)) for name in TUNING}
    settings = {key: value for key, value in chosen.items() if value is not None and value is not False}
    if isinstance(model, str) and model in ("auto", *DEFAULT_MODELS):
        return {"kind": model, **settings}, None
    if isinstance(model, Mapping) and kind_of(model) != "nodes":
        check_section("model", model)
        return {**model, **settings}, None
    if settings:
        raise SpecError(
            f"{', '.join(settings)}: these are settings of a default model, but model describes nodes; say it there, "
            f"or choose model='auto' or one of {', '.join(DEFAULT_MODELS)}."
        )
    return {}, read_spec(
        {k: v for k, v in model.items() if k != "kind"} if isinstance(model, Mapping) else model
    )


def training_settings(estimator: Any, data: Dataset) -> dict[str, Any]:
    """Return the ``train`` section that an estimator asks for; the model has defaults for the rest."""
    chosen = {
        "steps": estimator.steps,
        "batch_size": None if estimator.batch_size is None else min(estimator.batch_size, len(data)),
        "labeled_share": estimator.labeled_share,
        "learning_rate": estimator.learning_rate,
        "patience": estimator.patience,
        "cross_fit": estimator.cross_fit,
        "device": estimator.device,
        "seed": estimator.seed,
        "progress": estimator.verbose,
    }
    plain = {key: plain_number(value) for key, value in chosen.items() if value is not None}
    return {**plain, "objective": _objective(estimator, data)}


def _objective(estimator: Any, data: Dataset) -> Any:
    """The objective, or symbols for the default one, which is semi-supervised where there are labels."""
    objective = None if estimator.objective == "semi_supervised" else estimator.objective
    symbols: dict[str, Any] = {}
    if estimator.alpha is not None:
        if not data.factors:
            raise SpecError("alpha is the weight of the labels, but fit() was given no labels; leave it out.")
        symbols["alpha"] = float(estimator.alpha)
    if estimator.agreement is not None:
        symbols["regularizers"] = {"agreement": plain_number(estimator.agreement)}
    if not symbols:
        return objective
    if callable(objective):
        raise SpecError(
            f"{' and '.join(symbols)}: these belong to an objective by name, but objective is a function."
        )
    named = {"name": objective} if isinstance(objective, str) else dict(objective or {})
    return {**named, **symbols}


def weights_of_classes(estimator: Any, made: Assembly) -> dict[str, tuple[float, ...]]:
    """Return the weights of the classes by factor, as ``class_weight`` asks for them."""
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
    """Return the arguments as plain data for a saved model, which keeps described nodes itself."""
    plain = {}
    for name, value in estimator.get_params().items():
        if name == "model" and not (isinstance(value, str) and value in DEFAULT_MODELS):
            value = "auto"
        elif isinstance(value, Mapping):
            value = {k: v.to_mapping() if isinstance(v, Hierarchy) else v for k, v in value.items()}
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
    """Return a number of numpy, as scikit-learn's searches choose them, as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def refuse_wrong_parameters(estimator: Any) -> None:
    """Refuse arguments that cannot be; the model and the training settings check their own."""
    alpha, style = estimator.alpha, estimator.style
    if alpha is not None and not (_is(alpha, Real) and 0 <= float(alpha) < math.inf):
        raise SpecError(f"alpha is the weight of the labels, a number of at least 0, but got {alpha!r}.")
    if style is not None and not (_is(style, Integral) and style >= 1):
        raise SpecError(f"style is the number of dimensions of the style, at least 1, but got {style!r}.")
    for name, example in (
        ("kinds", {"objects": "count"}),
        ("classes", {"kind": ["a", "b"]}),
        ("text", {"max_features": 2000}),
    ):
        value = getattr(estimator, name)
        if value is not None and not isinstance(value, Mapping):
            raise SpecError(f"{name} is a mapping such as {example}, but got {value!r}.")


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
