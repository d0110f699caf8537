"""Calibration of class probabilities by labels that were hidden from the models: temperature and class offsets."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

LABELS_PER_CLASS = 10  # that class offsets take
_OFFSET_PRECISION = 5.0  # of the normal prior of an offset
_COOLING = 4.0  # how strongly log temperature is drawn to zero


def inverse_temperature(
    log_prob: Tensor, labels: Tensor, low: float = -1.2, high: float = 1.2, cooling: float = _COOLING
) -> Tensor:
    """Return t that maximizes ``Σ_i log softmax(t log p_i)[y_i] - cooling log² t``, with log t on a grid.

    Parameters
    ----------
    log_prob : Tensor, shape (n, K)
        Log-probabilities of the classes.
    labels : Tensor, shape (n,)
        The classes.
    low, high : float
        The ends of the grid of log t.
    cooling : float, default=4.0
        The weight of the prior.
    """
    grid = torch.linspace(
        low, high, round(20 * (high - low)) + 1, dtype=log_prob.dtype, device=log_prob.device
    )
    rows = torch.arange(len(labels), device=labels.device)
    hit = torch.stack([(t.exp() * log_prob).log_softmax(-1)[rows, labels].sum() for t in grid])
    return grid.exp()[(hit - cooling * grid.square()).argmax()]


def class_offsets(log_prob: Tensor, labels: Tensor) -> Tensor:
    """Return offsets b ``(K,)`` that maximize ``Σ_i log softmax(log p_i + b)[y_i] - 2.5 |b|²``.

    They correct class shares, as the bias of vector scaling does (Guo et al. 2017).

    >>> log_prob = torch.tensor([[0.5, 0.5]]).log().repeat(100, 1)
    >>> labels = (torch.arange(100) < 20).long()
    >>> (log_prob + class_offsets(log_prob, labels)).softmax(-1)[0].double().numpy().round(2).tolist()
    [0.77, 0.23]
    """
    from scipy.optimize import minimize

    logits, classes = log_prob.double().numpy(), labels.numpy()
    counts = np.bincount(classes, minlength=logits.shape[1])

    def loss(offsets: np.ndarray) -> tuple[float, np.ndarray]:
        shifted = logits + offsets
        top = shifted.max(1, keepdims=True)
        odds = np.exp(shifted - top)
        total = odds.sum(1, keepdims=True)
        log_evidence = (np.log(total) + top).sum()
        value = log_evidence - shifted[np.arange(len(classes)), classes].sum()
        gradient = (odds / total).sum(0) - counts
        return value + _OFFSET_PRECISION / 2 * offsets @ offsets, gradient + _OFFSET_PRECISION * offsets

    found = minimize(loss, np.zeros(logits.shape[1]), jac=True, method="L-BFGS-B").x
    return torch.from_numpy(found).to(log_prob.dtype)
