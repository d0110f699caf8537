"""Masked classes, logits of -inf, at an enumerated site: values and gradients of the classes that are left."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

import unknot
from unknot.errors import TraceError
from unknot.objectives import elbo, hfvae, semi_supervised

B, K = 5, 4
MASKED = 2
double = torch.float64
FAMILIES = {
    "categorical": lambda t, logits, **how: t.categorical(logits=logits, **how),
    "one_hot": lambda t, logits, **how: t.one_hot_categorical(logits=logits, **how),
    "concrete": lambda t, logits, **how: t.concrete(logits, 0.66, **how),
}


class Programs:
    """y of K classes, z read from it or not, and a term of both; ``leave`` keeps some of the classes only."""

    def __init__(self, family: str, dependent: bool, q_masked: Tensor, p_masked: bool, leave=slice(None)):
        draw = torch.Generator().manual_seed(0)
        self.q_logits = torch.randn(B, K, dtype=double, generator=draw).masked_fill(q_masked, -math.inf)
        self.p_logits = torch.randn(K, dtype=double, generator=draw)
        if p_masked:
            self.p_logits[MASKED] = -math.inf
        self.means = torch.randn(K, 2, dtype=double, generator=draw)
        self.x = torch.randn(B, 2, dtype=double, generator=draw).requires_grad_()
        self.q_logits = self.q_logits[:, leave].clone().requires_grad_()
        self.p_logits = self.p_logits[leave].clone().requires_grad_()
        self.means = self.means[leave].clone().requires_grad_()
        self.site, self.dependent = FAMILIES[family], dependent

    def encode(self, given) -> unknot.Trace:
        q = unknot.Trace()
        y = self.site(q, self.q_logits, value=given.get("y"), name="y", gradient="enumerate")
        loc = self.x + self.mean(y) if self.dependent else self.x
        q.normal(loc, torch.ones(2, dtype=double), value=given.get("z"), name="z", event_dims=1)
        return q

    def decode(self, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        y = self.site(p, self.p_logits, value=q["y"], name="y")
        z = p.normal(torch.zeros(2, dtype=double), 1.0, value=q["z"], name="z")
        p.log_term(-((z - self.mean(y)) ** 2).sum(-1), name="x")
        return p

    def mean(self, y: Tensor) -> Tensor:
        return y @ self.means if y.is_floating_point() else self.means[y]

    def gradients(self, loss: Tensor) -> list[Tensor]:
        return list(torch.autograd.grad(loss, [self.q_logits, self.p_logits, self.means, self.x]))


def everywhere() -> Tensor:
    return (torch.arange(K) == MASKED).expand(B, K)


def somewhere() -> Tensor:
    return everywhere() & (torch.arange(B) > 1)[:, None]


def terms_of(programs: Programs, name: str) -> unknot.objectives.Terms:
    torch.manual_seed(1)
    q = programs.encode({})
    # z's noise is drawn for every class: the same one for all, whatever their number
    q["z"].value = (q["z"].dist.loc + 1).expand_as(q["z"].value)
    p = programs.decode(q)
    if name == "hfvae":
        return hfvae(q, p, 40, beta=2.0, encoder=programs.encode)
    return {"elbo": elbo, "semi_supervised": semi_supervised}[name](q, p)


@pytest.mark.parametrize("name", ["elbo", "semi_supervised", "hfvae"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dependent", [False, True])
def test_a_class_that_both_mask_is_as_good_as_absent(name, family, dependent):
    left = [k for k in range(K) if k != MASKED]
    masked = Programs(family, dependent, everywhere(), p_masked=True)
    absent = Programs(family, dependent, everywhere(), p_masked=True, leave=left)
    one, other = terms_of(masked, name), terms_of(absent, name)
    for term in other:
        torch.testing.assert_close(one[term], other[term])
    ours, theirs = masked.gradients(one.loss), absent.gradients(other.loss)
    for place, axis in enumerate([1, 0, 0]):
        torch.testing.assert_close(ours[place].index_select(axis, torch.tensor(left)), theirs[place])
        assert not ours[place].select(axis, MASKED).any()
    torch.testing.assert_close(ours[3], theirs[3])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("where", [everywhere, somewhere])
def test_the_bound_is_the_sum_over_the_classes_that_q_allows(family, where):
    programs = Programs(family, False, where(), p_masked=False)
    found = terms_of(programs, "elbo").per_item
    probs, prior = programs.q_logits.softmax(-1), programs.p_logits.log_softmax(-1)
    z = programs.x + 1
    for b in range(B):
        want = torch.distributions.Normal(torch.zeros(2, dtype=double), 1.0).log_prob(z[b]).sum() + 1
        want = want + math.log(2 * math.pi)
        for k in range(K):
            if not where()[b, k]:
                distance = ((z[b] - programs.means[k]) ** 2).sum()
                want = want + probs[b, k] * (prior[k] - distance - probs[b, k].log())
        torch.testing.assert_close(found[b], want)


@pytest.mark.parametrize("name", ["elbo", "semi_supervised", "hfvae"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("where", [everywhere, somewhere])
@pytest.mark.parametrize("dependent", [False, True])
def test_gradients_are_finite(name, family, where, dependent):
    programs = Programs(family, dependent, where(), p_masked=False)
    terms = terms_of(programs, name)
    assert math.isfinite(terms.loss.item())
    assert all(bool(gradient.isfinite().all()) for gradient in programs.gradients(terms.loss))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_class_that_p_alone_masks_is_refused(family):
    with pytest.raises(TraceError, match="site 'y': log-probability -inf"):
        terms_of(Programs(family, False, somewhere(), p_masked=True), "elbo")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_label_of_a_masked_class_is_refused(family):
    programs = Programs(family, False, everywhere(), p_masked=False)
    labels = unknot.partial(torch.tensor([0, MASKED, -1, 1, -1]))
    q = programs.encode({"y": labels})
    with pytest.raises(TraceError, match="site 'y': log-probability -inf"):
        semi_supervised(q, programs.decode(q))
