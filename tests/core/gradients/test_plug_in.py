"""The plug-in vector: its gradient, and the exact divergence it gives."""

from __future__ import annotations

import pytest
import torch

import unknot
from tests.core.gradients.by_hand import SLOPE, TAU, K, drawn, softmax_gradient


@pytest.mark.parametrize(
    ("family", "more"), [("concrete", {"temperature": TAU}), ("one_hot_categorical", {})]
)
def test_plug_in(family: str, more: dict[str, float]) -> None:
    """f(π) for E f(y); for a nonlinear f the gradient is f'(π) times the softmax's."""
    _, logits, y = drawn(family, "plug_in", **more)
    torch.testing.assert_close(y, logits.softmax(-1))
    (slope,) = torch.autograd.grad(((SLOPE * y) ** 2).sum(), logits)
    probs = logits.softmax(-1)
    torch.testing.assert_close(slope, softmax_gradient(probs, 2 * SLOPE**2 * probs))


def test_plug_in_gives_the_exact_kl() -> None:
    """log q - log p at y = π is Σ_k π_k log(π_k / p_k)."""
    q, logits, _ = drawn("concrete", "plug_in", temperature=TAU)
    prior = torch.randn(K)
    p = unknot.Trace()
    p.concrete(prior, TAU, value=q["y"], name="y")
    exact = (logits.softmax(-1) * (logits.log_softmax(-1) - prior.log_softmax(-1))).sum(-1)
    ours = q.log_prob() - p.log_prob()
    torch.testing.assert_close(ours, exact)
    torch.testing.assert_close(
        *(torch.autograd.grad(t.sum(), logits, retain_graph=True)[0] for t in (ours, exact))
    )
