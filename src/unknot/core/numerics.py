"""Numerical helpers: finite numbers, sums in log space, the log-mass of one-of-K vectors, intervals of normals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def seen_finite(values: Tensor) -> bool:
    """Whether one look at their sum shows that all ``values`` are finite.

    False says nothing: where the look would break a compiled graph or make a GPU wait, none is taken.

    >>> seen_finite(torch.tensor([1.0, 2.0])), seen_finite(torch.tensor([1.0, -math.inf]))
    (True, False)
    """
    if torch.compiler.is_compiling() or values.device.type != "cpu":
        return False
    return math.isfinite(values.detach().sum().item())


def all_finite(tensors: Sequence[Tensor]) -> bool:
    """Whether all numbers of all ``tensors`` are finite, with one look at their sum (on a GPU, one wait).

    A sum of finite numbers may overflow, so False calls for a closer look.

    >>> all_finite([torch.zeros(3), torch.tensor([[1.0, math.nan]])])
    False
    """
    if not tensors:
        return True
    parts = [tensor.detach() for tensor in tensors]
    if len(parts) == 1:
        whole = parts[0]
    elif all(part.shape == parts[0].shape for part in parts):
        whole = torch.stack(parts)
    else:
        whole = torch.cat([part.flatten() for part in parts])
    return math.isfinite(whole.sum().item())


def log_mean_exp(log_values: Tensor, dim: int) -> Tensor:
    """``log (1/S) Σ_s exp(a_s)`` along ``dim``, without overflow.

    >>> log_mean_exp(torch.tensor([1000.0, 1000.0]), 0)
    tensor(1000.)
    """
    return torch.logsumexp(log_values, dim) - math.log(log_values.shape[dim])


def where_known(known: Tensor | bool, values: Tensor) -> Tensor:
    """``values`` at the known items and exactly zero, without gradient, at the others."""
    if known is True:
        return values
    if known is False:
        return torch.zeros_like(values)
    return torch.where(known, values, 0.0)


def where_unknown(known: Tensor | bool, values: Tensor) -> Tensor:
    """``values`` at the unknown items and exactly zero, without gradient, at the known ones."""
    return where_known(~known if isinstance(known, Tensor) else not known, values)


def class_mass(value: Tensor, logits: Tensor) -> Tensor:
    """``Σ_k y_k log softmax_k(logits)``, for ``value`` y and ``logits`` of shapes (..., K).

    At a vertex of the simplex it is the log-probability of a class, with a gradient for y; between the vertices the
    mass goes on linearly, so that for y = π the difference of two of them is the KL divergence itself. Masked classes
    have logits of -inf: they count nothing where y has nothing of them, and make a value impossible where it has.

    >>> class_mass(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.0, -torch.inf]))
    tensor(-0.6931)
    """
    log_probs = logits.log_softmax(-1)
    mass = (value * log_probs).sum(-1)
    if seen_finite(mass):
        return mass
    masked = log_probs.isneginf()
    rest = (value * torch.where(masked, 0.0, log_probs)).sum(-1)
    return rest.masked_fill((masked & (value != 0)).any(-1), -torch.inf)


# ---- standard normal intervals in log space ----------------------------------------------------------------
# Both ends are mirrored to the side where the tail probabilities are small, so that differences of them do not cancel;
# infinite ends are kept out of the arithmetic, whose gradients would be NaN.

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def _standardized(
    low: Tensor, high: Tensor, loc: Tensor, scale: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Standardized ends a < b with a + b <= 0, zero where infinite; where they are; and whether they were mirrored."""
    open_low, open_high = low.isinf(), high.isinf()
    start = (torch.where(open_low, loc.detach(), low) - loc) / scale
    end = (torch.where(open_high, loc.detach(), high) - loc) / scale
    mirrored = torch.where(open_low == open_high, start + end > 0, open_high)
    a, b = torch.where(mirrored, -end, start), torch.where(mirrored, -start, end)
    return (
        a,
        b,
        torch.where(mirrored, open_high, open_low),
        torch.where(mirrored, open_low, open_high),
        mirrored,
    )


def log_normal_interval(low: Tensor, high: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
    """``log (Φ(b) - Φ(a))``; for short intervals by the density at the middle, exact to the fourth order."""
    a, b, open_a, open_b, _ = _standardized(low, high, loc, scale)
    closed = ~(open_a | open_b)
    width, middle = torch.where(closed, high - low, 1.0) / scale, (a + b) / 2
    limit = 1e-3 if width.dtype == torch.float64 else 0.05
    short = closed & (width * (1 + middle.abs()) < limit)
    width, at = torch.where(short, width, 1.0), torch.where(short, middle, 0.0)
    by_density = (
        width.log() - 0.5 * at.square() - _HALF_LOG_TAU + (width.square() * (at.square() - 1) / 24).log1p()
    )
    top = torch.where(open_b, 0.0, torch.special.log_ndtr(b))
    wide = closed & ~short
    drop = torch.where(wide, torch.special.log_ndtr(a) - torch.special.log_ndtr(b), -1.0)
    by_tails = top + torch.where(wide, torch.log(-torch.expm1(drop)), 0.0)
    return torch.where(short, by_density, by_tails)


def between_ends(low: Tensor, high: Tensor, loc: Tensor, scale: Tensor, noise: Tensor) -> Tensor:
    """Standard normal ``noise`` moved to its quantile between the ends; with a gradient for loc and scale.

    With p = (1 - u) Φ(a) + u Φ(b) and u = Φ(noise), x = Φ⁻¹(p). Its gradient is that of log p over d log Φ / dx.
    """
    a, b, open_a, open_b, mirrored = _standardized(low, high, loc, scale)
    noise = torch.where(mirrored, -noise, noise)
    upper = torch.special.log_ndtr(noise) + torch.where(open_b, 0.0, torch.special.log_ndtr(b))
    lower = torch.special.log_ndtr(-noise) + torch.special.log_ndtr(a)
    log_p = torch.where(open_a, upper, torch.logaddexp(upper, lower))
    with torch.no_grad():
        x = _log_quantile(log_p)
        slope = (-0.5 * x.square() - _HALF_LOG_TAU - torch.special.log_ndtr(x)).exp()
    x = x + (log_p - log_p.detach()) / slope
    return torch.where(mirrored, -x, x)


def _log_quantile(log_p: Tensor) -> Tensor:
    """``Φ⁻¹(exp(log_p))``, by Newton's method on log Φ where the probability is too small to be written down."""
    middle = torch.where(
        log_p > -math.log(2), -torch.special.ndtri(-torch.expm1(log_p)), torch.special.ndtri(log_p.exp())
    )
    far = log_p < -12.0
    goal = torch.where(far, log_p, -12.0)
    x = -(-2 * goal - math.log(2 * math.pi) - (-2 * goal).log()).sqrt()
    for _ in range(4):
        log_cdf = torch.special.log_ndtr(x)
        x = x - (log_cdf - goal) / (-0.5 * x.square() - _HALF_LOG_TAU - log_cdf).exp()
    return torch.where(far, x, middle)
