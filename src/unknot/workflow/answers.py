"""Prediction sets, intervals and novelty: learned after training, and asked of a trained model for new items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.novelty import Novelty
from unknot.train.config import TrainConfig
from unknot.train.loop import Result
from unknot.workflow.conformal import prediction_intervals, prediction_sets
from unknot.workflow.cross_fit import cross_fitted
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.trained_model import TrainedModel, item_rows, items_at_once

if TYPE_CHECKING:
    from lightning_fabric import Fabric

_ASK = "fit a default model, or ask with cross_fit=3 (--set train.cross_fit=3)"


def with_answers(
    model: TrainedModel,
    data: Dataset,
    config: TrainConfig,
    result: Result,
    *,
    warm: bool = False,
    fabric: Fabric | None = None,
) -> TrainedModel:
    """Return a trained model with out-of-fold predictions of its labels, and with the novelty of items.

    Both are learned for default models, unless ``train.cross_fit`` is 0, and for others where it is a number of folds.

    Parameters
    ----------
    model : TrainedModel
        The trained model.
    data : Dataset
        The data that it was trained on, with all their labels.
    config, result, warm, fabric
        As in :func:`unknot.workflow.cross_fit.cross_fitted`.
    """
    model = cross_fitted(model, data, config, result, warm=warm, fabric=fabric)
    asked = model.source.default is not None if config.cross_fit is None else bool(config.cross_fit)
    if not asked or result.stopped_because == "interrupted":
        return replace(model, novelty=None)
    return replace(model, novelty=Novelty.for_data(data.to("cpu"), config.seed))


def sets(
    model: TrainedModel, predictions: np.ndarray, factor: str, level: float = 0.9, allow_empty: bool = False
) -> np.ndarray:
    """Return the conformal prediction sets of a factor with classes, bool ``(N, K)``.

    Parameters
    ----------
    model : TrainedModel
        A model with out-of-fold predictions of the factor.
    predictions : ndarray, shape (N, K)
        The model's predictions for the items.
    factor : str
        The factor.
    level, allow_empty
        As in :func:`unknot.workflow.conformal.prediction_sets`.
    """
    if model.data.factors[factor].kind == "continuous":
        raise SpecError(f"factor '{factor}' is continuous: it has intervals (predict_interval) but no sets.")
    if factor not in model.out_of_fold:
        raise SpecError(
            f"sets of '{factor}' need predictions of its labels by models that were not trained on them, and this "
            f"model has none: {_ASK}; at least 8 labels are needed."
        )
    return prediction_sets(model.out_of_fold[factor], predictions, level, allow_empty)


def listed(mask: np.ndarray, predictions: np.ndarray, classes: Sequence[Any]) -> list[list[Any]]:
    """Return the classes of a mask ``(N, K)`` for each item, the most probable one first."""
    shares = class_probabilities(predictions)
    order = np.argsort(-shares, axis=1, kind="stable")
    return [[classes[k] for k in row if chosen[k]] for row, chosen in zip(order, mask, strict=True)]


def intervals(model: TrainedModel, x: Tensor, factor: str, level: float = 0.9) -> np.ndarray:
    """Return intervals of a continuous factor, ``(N, D, 2)``.

    They are conformal if the model has out-of-fold predictions of the factor
    (:func:`unknot.workflow.conformal.prediction_intervals`), otherwise those of the model's own q(factor | x)
    (:meth:`TrainedModel.interval`), which nothing calibrates.
    """
    if factor not in model.out_of_fold or model.data.factors[factor].kind != "continuous":
        return model.interval(x, factor, level).numpy()
    return prediction_intervals(
        model.out_of_fold[factor], model.predict(x).predictions[factor].double().numpy(), level
    )


def p_values(model: TrainedModel, x: Tensor) -> np.ndarray:
    """Return the p-values of items under the hypothesis that they are like the training items, ``(N,)``."""
    if model.novelty is None:
        raise SpecError(
            f"novelty() compares items with training items, and this model has kept none: {_ASK}; at least 20 items "
            "are needed."
        )
    step = items_at_once(model.shape)
    parts = [model.novelty(item_rows(x, start, start + step)) for start in range(0, len(x), step)]
    return torch.cat(parts).numpy()
