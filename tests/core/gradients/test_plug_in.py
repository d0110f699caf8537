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


@pytest.mark.parametrize(
    ("family", "more"), [("concrete", {"temperature": TAU}), ("one_hot_categorical", {})]
)
def test_plug_in_gives_the_exact_kl(family: str, more: dict[str, float]) -> None:
    """log q - log p at y = π is Σ_k π_k log(π_k / p_k)."""
    q, logits, _ = drawn(family, "plug_in", **more)
    prior = torch.randn(K)
    p = unknot.Trace()
    getattr(p, family)(logits=prior, value=q["y"], name="y", **more)
    exact = (logits.softmax(-1) * (logits.log_softmax(-1) - prior.log_softmax(-1))).sum(-1)
    ours = q.log_prob() - p.log_prob()
    torch.testing.assert_close(ours, exact)
    torch.testing.assert_close(
        *(torch.autograd.grad(t.sum(), logits, retain_graph=True)[0] for t in (ours, exact))
    )


def test_the_kl_of_one_hot_classes_as_a_number() -> None:
    """Logits (0, 1, 2) against (.5, 0, -.5): Σ_k π_k log(p_k / π_k) = -0.6355."""
    q, p = unknot.Trace(), unknot.Trace()
    q.one_hot_categorical(logits=torch.tensor([[0.0, 1.0, 2.0]]), gradient="plug_in", name="y")
    p.one_hot_categorical(logits=torch.tensor([0.5, 0.0, -0.5]), value=q["y"], name="y")
    assert unknot.objectives.elbo(q, p)["kl[y]"].item() == pytest.approx(-0.6355, abs=5e-5)
