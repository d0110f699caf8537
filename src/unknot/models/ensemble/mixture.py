"""How the members of an ensemble are joined: by labels that were hidden from them."""

from __future__ import annotations

import torch
from torch import Tensor

_SWEEPS = 300
PSEUDO_LABELS = 2.0  # of the Dirichlet prior on the weights, in all
_COOLING = 4.0  # how strongly log temperature is drawn to zero
_TRUST = 16.0  # how strongly the belief in numbers is drawn to one


def mixture_weights(log_prob: Tensor) -> Tensor:
    """Weights w of S settings by ``log_prob`` (S, n), what each says of labels hidden from it.

    Maximizes ``Σ_i log Σ_s w_s p_s(y_i) + (2/S) Σ_s log w_s`` by EM, from equal weights: stacking with a Dirichlet
    prior of two labels in all.

    >>> mixture_weights(torch.tensor([[-0.1, -0.1], [-3.0, -3.0]])).round(decimals=1)
    tensor([0.7000, 0.3000])
    """
    settings = len(log_prob)
    likelihood = (log_prob - log_prob.amax(0)).exp()
    weights = torch.full((settings,), 1 / settings, dtype=log_prob.dtype, device=log_prob.device)
    for _ in range(_SWEEPS):
        shares = weights[:, None] * likelihood
        weights = (shares / shares.sum(0)).sum(1) + PSEUDO_LABELS / settings
        weights = weights / weights.sum()
    return weights


def inverse_temperature(log_prob: Tensor, labels: Tensor) -> Tensor:
    """t that maximizes ``Σ_i log softmax(t · log p_i)[y_i] - 4 log² t``, of ``log_prob`` (n, K), on a grid."""
    grid = torch.linspace(-1.2, 1.2, 49, dtype=log_prob.dtype, device=log_prob.device)
    sharpened = (grid.exp()[:, None, None] * log_prob).log_softmax(-1)  # (T, n, K)
    hit = sharpened[:, torch.arange(len(labels)), labels].sum(1)
    return grid.exp()[(hit - _COOLING * grid.square()).argmax()]


def belief(guess: Tensor, truth: Tensor) -> Tensor:
    """How much of a guess is believed, from 0 to 1, of standardized numbers (n, D) hidden from who guessed.

    b = (Σ g y + 16 v) / (Σ g² + 16 v) with v = mean (g - y)²: the slope of the truth on the guess, with a normal prior
    around one. What is left of one belongs to the labels' mean, zero.

    >>> guess = torch.tensor([[2.0], [-2.0]]).repeat(50, 1)
    >>> float(belief(guess, guess)), round(float(belief(guess, guess / 2)), 2)
    (1.0, 0.52)
    """
    doubt = _TRUST * (guess - truth).square().mean()
    slope = ((guess * truth).sum() + doubt) / (guess.square().sum() + doubt).clamp_min(1e-12)
    return slope.clamp(0.0, 1.0)
