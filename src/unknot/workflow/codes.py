"""The codes that a trained model gives some items, beside the factors that are known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, kl_divergence

from unknot.core.handlers import modes
from unknot.core.relaxed import Concrete
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.metrics import Probabilities
from unknot.workflow.codes_file import Codes
from unknot.workflow.evaluation import DatasetPrediction, predict_dataset
from unknot.workflow.item_rows import items_at_once
from unknot.workflow.labels import has_classes
from unknot.workflow.measures import class_probabilities
from unknot.workflow.trained_model import TrainedModel

MOST_ITEMS = 10_000  # as many as the scores' protocols take
_MEASURED = 1000  # items from which divergences are estimated


def codes_of(model: TrainedModel, items: Dataset) -> Codes:
    """Class probabilities and means of every variable, of at most ``MOST_ITEMS`` evenly spaced items.

    A factor is given where every one of these items knows it and two values of it occur.
    """
    rows = torch.linspace(0, len(items) - 1, min(len(items), MOST_ITEMS), dtype=torch.float64).long()
    chosen = items.subset(rows.unique())
    answers = predict_dataset(model, chosen)
    return Codes(_codes(model, answers), _factors(chosen), divergences(model, chosen))


def _codes(model: TrainedModel, answers: DatasetPrediction) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in model.latents:
        if node.name in answers.predictions:
            said = answers.predictions[node.name]
            found[node.name] = Probabilities(class_probabilities(said)) if has_classes(node) else said
    return found


def _factors(items: Dataset) -> dict[str, np.ndarray]:
    found = {}
    for name, factor in items.factors.items():
        values = factor.values.cpu().numpy()
        if bool(factor.known.all()) and len(np.unique(values, axis=0)) > 1:
            found[name] = values
    return found


def divergences(model: TrainedModel, items: Dataset) -> dict[str, np.ndarray]:
    """``mean_x KL(q(z_d | x) || p(z_d))`` of every dimension, parents at their best values; of a class one number.

    A variable whose divergence has no closed form is left out.
    """
    x = items.batch(range(min(_MEASURED, items_at_once(model.shape), len(items)))).x
    with torch.no_grad(), modes(), validation(False):
        q = model.mode_trace(x)
        p = model.program.decode(x.to(model.device), q)
    found = {}
    for node in model.latents:
        if node.name in q and node.name in p:
            try:
                each = kl_divergence(_of_classes(q[node.name].dist), _of_classes(p[node.name].dist))
            except NotImplementedError:
                continue
            found[node.name] = _by_dimension(each).cpu().numpy()
    return found


def _of_classes(dist: Distribution) -> Distribution:
    """A relaxed class as the class it stands for."""
    return Categorical(logits=dist.logits) if isinstance(dist, Concrete) else dist


def _by_dimension(each: Tensor) -> Tensor:
    """The mean over items, ``(D,)``."""
    return each.mean(0).reshape(-1) if each.ndim else each.reshape(1)
