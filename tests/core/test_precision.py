"""Half-precision networks, full-precision densities."""

import pytest
import torch
import torch.distributions as td

import unknot


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_every_kind_of_site_scores_half_precision_parameters_in_float32(dtype: torch.dtype) -> None:
    logits = torch.randn(4, 3).to(dtype)
    x = torch.rand(4, 3)
    p = unknot.Trace()
    p.normal(logits, torch.ones(4, 3, dtype=dtype), value=x, name="n")
    p.bernoulli(logits=logits, value=x.round(), name="b")
    p.concrete(logits, 0.66, value=torch.tensor([0, 1, 2, 0]), name="c")
    p.one_hot_categorical(logits=logits, value=torch.tensor([0, 1, 2, 0]), name="o")
    p.variable(td.Gumbel(logits, torch.ones(4, 3, dtype=dtype)), x, name="g")
    for node in p.nodes():
        assert node.log_prob.dtype == torch.float32, node.name
    expected = td.Normal(logits.float(), 1.0).log_prob(x).sum(-1)
    torch.testing.assert_close(p["n"].log_prob, expected)


def test_a_long_sum_keeps_its_digits() -> None:
    """784 pixels sum to about -540 nats; in bfloat16 neighbouring numbers there are 2 to 4 apart."""
    torch.manual_seed(0)
    logits, x = torch.randn(8, 784).bfloat16(), torch.rand(8, 784)
    p = unknot.Trace()
    p.bernoulli(logits=logits, value=x, name="x")
    exact = td.Bernoulli(logits=logits.double(), validate_args=False).log_prob(x.double()).sum(-1)
    torch.testing.assert_close(p["x"].log_prob.double(), exact, rtol=1e-5, atol=0)


def test_draws_of_half_precision_parameters_carry_gradient_back_to_them() -> None:
    loc = torch.zeros(4, 2, dtype=torch.bfloat16, requires_grad=True)
    z = unknot.Trace().normal(loc, torch.ones(4, 2, dtype=torch.bfloat16), name="z")
    assert z.dtype == torch.float32
    z.sum().backward()
    assert loc.grad is not None
    assert (loc.grad == 1).all()
