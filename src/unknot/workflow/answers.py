"""Prediction sets, intervals and novelty of a trained model for new items."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from unknot.errors import SpecError
from unknot.workflow.conformal import prediction_intervals, prediction_sets
from unknot.workflow.trained_model import TrainedModel, item_rows, items_at_once

_ASK = "fit a default model, or ask with cross_fit=5 (--cross-fit 5)"


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
