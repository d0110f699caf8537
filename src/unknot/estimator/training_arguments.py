"""An estimator's constructor arguments as what they ask for: of the default model, of training, of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.estimator.parameters import plain_number
from unknot.workflow.assembly import ALPHA, Assembly
from unknot.workflow.class_weights import class_weights


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
