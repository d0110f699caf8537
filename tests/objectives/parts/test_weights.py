"""Weights on the parts of the bound: laws without a reference, and the class-and-style case by loops."""

from __future__ import annotations

import math

import pytest
import torch

import unknot
from unknot.errors import SpecError
from unknot.objectives import hfvae, semi_supervised
from unknot.objectives.parts.weights import weighted_parts

B, N, K, D = 7, 50, 3, 2
APART = {"parents": {"z": []}}  # z is not read from y, which a label or a hard draw cannot show


def traces(
    labels: torch.Tensor | None = None, gradient: str | None = None
) -> tuple[unknot.Trace, unknot.Trace]:
    """A class and a style that are read from x apart from each other."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(B, K, generator=generator, dtype=torch.float64, requires_grad=True)
    loc = torch.randn(B, D, generator=generator, dtype=torch.float64, requires_grad=True)
    scale = torch.rand(B, D, generator=generator, dtype=torch.float64) + 0.3
    torch.manual_seed(1)
    q, p = unknot.Trace(), unknot.Trace()
    known = None if labels is None else unknot.partial(labels)
    y = q.one_hot_categorical(logits=logits, value=known, name="y", gradient=gradient)
    z = q.normal(loc, scale, name="z")
    p.one_hot_categorical(logits=torch.zeros(K, dtype=torch.float64), value=q["y"], name="y")
    p.normal(torch.zeros(D, dtype=torch.float64), 1.0, value=q["z"], name="z", event_dims=1)
    x = torch.zeros(B, K + D, dtype=torch.float64)
    p.normal(unknot.cat([y, z]), 1.0, value=x, name="x", event_dims=1)
    return q, p


def test_unit_prices_are_the_bound_and_cost_nothing() -> None:
    q, p = traces(torch.tensor([0, -1, 2, -1, -1, 1, 0]))
    plain, weighted = (
        semi_supervised(q, p, alpha=5.0),
        semi_supervised(q, p, alpha=5.0, between=1.0, within=1.0),
    )
    assert list(plain) == list(weighted)
    assert torch.equal(plain.per_item, weighted.per_item)


@pytest.mark.parametrize("gradient", ["score_function", "straight_through", "enumerate"])
def test_without_labels_it_is_hfvae(gradient: str) -> None:
    q, p = traces(gradient=gradient)
    ours = semi_supervised(q, p, information=0.5, between=4.0, within=3.0, dataset_size=N, **APART)
    theirs = hfvae(q, p, N, alpha=0.5, beta=4.0, gamma=3.0, **APART)
    torch.testing.assert_close(ours.per_item, theirs.per_item)


def test_labels_stand_where_draws_do_by_loops() -> None:
    """Between class and style at (y_b, z_b), y_b a label: log q(y) q(z) - log q(y, z), with the encoder's masses."""
    labels = torch.tensor([0, 1, 2, 2, 0, 1, 0])
    q, p = traces(labels)
    terms = semi_supervised(q, p, between=4.0, dataset_size=N, **APART)
    assert terms.weights["between"] == 3.0
    share, z = q["y"].dist.probs.detach(), q["z"].value.detach()
    for b in range(B):
        joint = only_y = only_z = 0.0
        for c in range(B):
            weight = 1 / N if c == b else (N - 1) / (N * (B - 1))
            density = 1.0
            for d in range(D):
                loc, scale = q["z"].dist.loc.detach()[c, d], q["z"].dist.scale[c, d]
                density *= float(
                    torch.exp(-0.5 * ((z[b, d] - loc) / scale) ** 2) / (scale * math.sqrt(2 * math.pi))
                )
            mass = float(share[c, labels[b]])
            joint += weight * mass * density
            only_y += weight * mass
            only_z += weight * density
        expected = math.log(only_y) + math.log(only_z) - math.log(joint)
        assert float(terms["between"][b].detach()) == pytest.approx(expected, rel=1e-9)


def test_the_price_reaches_the_gradient_and_the_sum() -> None:
    q, p = traces(torch.tensor([0, 1, 2, -1, -1, 1, 0]))
    one, four = (
        semi_supervised(q, p, dataset_size=N),
        semi_supervised(q, p, between=4.0, dataset_size=N, **APART),
    )
    torch.testing.assert_close(four.per_item, one.per_item + 3.0 * four["between"])
    (slope,) = torch.autograd.grad((four.per_item - one.per_item).sum(), q["z"].dist.loc)
    assert bool((slope != 0).any())


def test_prices_by_name_and_mistakes() -> None:
    q, p = traces()
    values, weights = weighted_parts(q, p, N, {"a": ["y", "z"]}, 1.0, 1.0, {"within[z]": 2.0}, APART)
    assert (list(values), weights) == (["within[z]"], {"within[z]": 1.0})
    with pytest.raises(SpecError, match="needs dataset_size"):
        semi_supervised(q, p, between=2.0)
    with pytest.raises(
        SpecError, match=r"within: there is no term 'within\[zz\]'; did you mean 'within\[z\]'"
    ):
        weighted_parts(q, p, N, {"a": ["y", "z"]}, 1.0, 1.0, {"within[zz]": 2.0}, APART)
