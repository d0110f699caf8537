"""Weights of the classes in an encoder's answers, for labels of which some classes are rare.

Weighting the labels' terms by w_y moves the best encoder from p(y | x) to

    q(y | x) = w_y p(y | x) / Σ_k w_k p(k | x)

and so the weights are put on a trained encoder's answers, by this equation. All labels then shape the networks
alike, probabilities stay calibrated for whoever leaves the weights out, and every model takes them, an ensemble too.
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
    """A weight for each of the ``classes`` of a factor, as scikit-learn's ``class_weight`` asks for them.

    "balanced": n / (K n_k) for n labels, n_k of them of one of K classes; or a mapping from class to weight. Classes
    without labels, or without a weight, have 1.

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
    seen = factor.values[factor.known].cpu().numpy()
    there = np.unique(seen)
    found = dict(zip(there, compute_class_weight("balanced", classes=there, y=seen), strict=True))
    return tuple(float(found.get(k, 1.0)) for k in range(len(classes)))


def _refuse_wrong_weights(asked: Mapping[Any, Any], name: str, classes: Sequence[Any]) -> None:
    for one, weight in asked.items():
        if one not in classes:
            there = ", ".join(map(str, classes))
            raise SpecError(f"class_weight speaks of {one!r}, but the classes of '{name}' are {there}.")
        if not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            raise SpecError(f"class_weight of {one!r} is {weight!r}: a weight is a number above 0.")


def reweighed(shares: Tensor, weights: Sequence[float]) -> Tensor:
    """Class probabilities ``(N, K)``, or those of yes ``(N, 1)``, with weights by class.

    >>> reweighed(torch.tensor([[0.9, 0.1]]), (1.0, 9.0))
    tensor([[0.5000, 0.5000]])
    """
    weight = torch.tensor(weights, dtype=shares.dtype, device=shares.device)
    if shares.shape[1] == 1:
        yes, no = shares * weight[1], (1 - shares) * weight[0]
        return yes / (yes + no)
    found = shares * weight
    return found / found.sum(1, keepdim=True)
