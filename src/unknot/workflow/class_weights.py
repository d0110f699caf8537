"""Weights of the classes in predictions, for labels of which some classes are rare.

Weighting the term of each label by w_y changes the optimal encoder from p(y | x) to

    q(y | x) = w_y p(y | x) / Σ_k w_k p(k | x)

so the weights are applied to the predictions of a trained model by this equation. All labels then have the same
influence on the networks, predictions without weights stay calibrated, and every model takes weights, an ensemble too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.factor import Factor
from unknot.errors import SpecError


def class_weights(asked: Any, factor: Factor, classes: Sequence[Any]) -> tuple[float, ...]:
    """Return a weight for each class of a factor, as scikit-learn's ``class_weight`` does.

    Parameters
    ----------
    asked : "balanced" or mapping
        "balanced" is n / (K n_k) for n labels, n_k of them of class k of K; or a mapping from class to weight. Classes
        without labels, or without a weight, have 1.
    factor : Factor
        The labels.
    classes : sequence
        The classes in the user's own type.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> labels = Factor("kind", "categorical", torch.tensor([0, 0, 0, 1]), ("common", "rare"))
    >>> class_weights("balanced", labels, ["common", "rare"])
    (0.6666666666666666, 2.0)
    >>> class_weights({"rare": 3.0}, labels, ["common", "rare"])
    (1.0, 3.0)
    """
    from sklearn.utils.class_weight import compute_class_weight

    if isinstance(asked, Mapping):
        _refuse_wrong_weights(asked, factor.name, classes)
        return tuple(float(asked.get(one, 1.0)) for one in classes)
    if asked != "balanced":
        raise SpecError(f"class_weight is None, 'balanced' or a weight by class, but got {asked!r}.")
    labels = factor.values[factor.known].cpu().numpy()
    present = np.unique(labels)
    weights = dict(zip(present, compute_class_weight("balanced", classes=present, y=labels), strict=True))
    return tuple(float(weights.get(k, 1.0)) for k in range(len(classes)))


def _refuse_wrong_weights(asked: Mapping[Any, Any], name: str, classes: Sequence[Any]) -> None:
    for one, weight in asked.items():
        if one not in classes:
            there = ", ".join(map(str, classes))
            raise SpecError(f"class_weight names {one!r}, but the classes of '{name}' are {there}.")
        if not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            raise SpecError(f"class_weight of {one!r} is {weight!r}: a weight is a number above 0.")


def reweighed(probabilities: Tensor, weights: Sequence[float]) -> Tensor:
    """Apply weights to class probabilities ``(N, K)``, or to those of yes ``(N, 1)``.

    >>> reweighed(torch.tensor([[0.9, 0.1]]), (1.0, 9.0))
    tensor([[0.5000, 0.5000]])
    """
    weight = torch.tensor(weights, dtype=probabilities.dtype, device=probabilities.device)
    if probabilities.shape[1] == 1:
        yes, no = probabilities * weight[1], (1 - probabilities) * weight[0]
        return yes / (yes + no)
    weighted = probabilities * weight
    return weighted / weighted.sum(1, keepdim=True)
