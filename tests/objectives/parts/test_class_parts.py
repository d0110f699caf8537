"""A class's own parts, by exact masses: against loops over a table of probabilities, exact cases and the laws."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from unknot import Trace, partial
from unknot.errors import SpecError
from unknot.objectives import hfvae, semi_supervised
from unknot.objectives.parts.class_parts import by_masses, class_parts, class_sites

LABELS = torch.tensor([2, -1, -1, 0, -1, 2, -1])  # -1: unknown


def traces(logits: Tensor, prior: Tensor, kind: str = "concrete") -> tuple[Trace, Trace]:
    q, p = Trace(), Trace()
    if kind == "concrete":
        q.concrete(logits, 0.66, name="c")
        p.concrete(prior, 0.66, value=q["c"], name="c")
    else:
        value = q.categorical(logits=logits, name="c", gradient="enumerate")
        p.categorical(logits=prior, value=value, name="c")
    return q, p


@pytest.mark.parametrize("kind", ["concrete", "categorical"])
def test_is_the_sum_over_a_table_of_probabilities(kind: str) -> None:
    torch.manual_seed(0)
    logits, prior = torch.randn(7, 4).double(), torch.randn(4).double()
    table = [[math.exp(v) / sum(math.exp(w) for w in row) for v in row] for row in logits.tolist()]
    expected_prior = [math.exp(v) / sum(math.exp(w) for w in prior.tolist()) for v in prior.tolist()]
    mean = [sum(row[k] for row in table) / 7 for k in range(4)]
    information = [sum(row[k] * math.log(mean[k] / row[k]) for k in range(4)) for row in table]
    marginal = [sum(row[k] * math.log(expected_prior[k] / mean[k]) for k in range(4)) for row in table]
    found = class_parts(*traces(logits, prior, kind), "c")
    torch.testing.assert_close(found[0], torch.tensor(information).double())
    torch.testing.assert_close(found[1], torch.tensor(marginal).double())


def test_sure_and_even_classes_know_log_k_and_meet_the_prior() -> None:
    q, p = traces(50 * torch.eye(4).double(), torch.zeros(4).double())
    information, marginal = class_parts(q, p, "c")
    torch.testing.assert_close(-information.mean(), torch.tensor(math.log(4)).double())
    torch.testing.assert_close(marginal.mean(), torch.tensor(0.0).double(), atol=1e-12, rtol=0)


def test_q_equal_to_p_makes_both_zero_for_every_item() -> None:
    prior = torch.tensor([0.3, -1.0, 2.0]).double()
    for value in class_parts(*traces(prior.expand(5, 3), prior), "c"):
        torch.testing.assert_close(value, torch.zeros(5).double(), atol=1e-12, rtol=0)


def test_masked_classes_count_nothing_and_keep_gradients_finite() -> None:
    logits = torch.tensor([[0.0, 1.0, -torch.inf], [1.0, 0.0, -torch.inf]], requires_grad=True)
    plain = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    information, _ = class_parts(*traces(logits, torch.zeros(3)), "c")
    torch.testing.assert_close(information, class_parts(*traces(plain, torch.zeros(2)), "c")[0])
    information.sum().backward()
    assert logits.grad is not None
    assert bool(logits.grad.isfinite().all())


def test_the_same_with_and_without_gradients() -> None:
    torch.manual_seed(1)
    logits = torch.randn(6, 3, requires_grad=True)
    with_gradients = class_parts(*traces(logits, torch.zeros(3)), "c")
    with torch.no_grad():
        without = class_parts(*traces(logits, torch.zeros(3)), "c")
    for first, second in zip(with_gradients, without, strict=True):
        torch.testing.assert_close(first.detach(), second)


def test_a_price_weighs_its_part_in_the_place_of_the_bounds_own() -> None:
    torch.manual_seed(2)
    q, p = traces(torch.randn(6, 3), torch.zeros(3))
    z = q.normal(torch.randn(6, 2), 0.5, name="z")
    p.normal(torch.zeros(2), 1.0, value=z, name="z")
    usual = hfvae(q, p, 100, alpha=2.0, parents={name: [] for name in q})
    weighted = hfvae(
        q, p, 100, alpha=2.0, information={"c": -19.0}, marginal={"c": 41.0}, parents={name: [] for name in q}
    )
    information, marginal = class_parts(q, p, "c")
    more = (-19.0 - 2.0) * information.mean() + (41.0 - 1.0) * marginal.mean()
    torch.testing.assert_close(weighted.loss, usual.loss - more)


def test_what_is_no_class_is_refused_by_name() -> None:
    q, p = traces(torch.randn(6, 3), torch.zeros(3))
    z = q.normal(torch.randn(6, 2), 0.5, name="z")
    p.normal(torch.zeros(2), 1.0, value=z, name="z")
    assert class_sites(q) == ["c"]
    with pytest.raises(SpecError, match="there is no class 'z'"):
        hfvae(q, p, 100, information={"z": 0.0}, parents={name: [] for name in q})
    with pytest.raises(SpecError, match="no class of the encoder"):
        class_parts(q, p, "z")


def test_a_class_that_follows_a_draw_and_a_prior_by_item_are_refused() -> None:
    q, p = traces(torch.randn(5, 6, 3), torch.zeros(3))
    with pytest.raises(SpecError, match="read from x alone"):
        class_parts(q, p, "c")
    q, p = traces(torch.randn(6, 3), torch.randn(6, 3))
    with pytest.raises(SpecError, match="same for every item"):
        class_parts(q, p, "c")


def labeled(logits: Tensor, prior: Tensor, gradient: str, samples: int | None = None) -> tuple[Trace, Trace]:
    """A class of which some items are known, and data that do not depend on it."""
    q, p = Trace(samples=samples), Trace()
    q.concrete(logits, 0.66, value=partial(LABELS), name="c", gradient=gradient)
    p.concrete(prior, 0.66, value=q["c"], name="c")
    p.normal(0.0, 1.0, value=torch.zeros(len(LABELS)).double(), name="x")
    return q, p


@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("gradient", ["concrete", "plug_in", "enumerate", "detached"])
def test_an_item_whose_class_is_known_is_of_that_class(gradient: str, samples: int | None) -> None:
    torch.manual_seed(3)
    logits, prior = torch.randn(7, 4).double(), torch.randn(4).double()
    table = logits.softmax(-1).tolist()
    for item, label in enumerate(LABELS.tolist()):
        if label >= 0:
            table[item] = [float(k == label) for k in range(4)]
    mean = [sum(row[k] for row in table) / 7 for k in range(4)]
    log_prior = prior.log_softmax(-1).tolist()
    information = [sum(v * math.log(m / v) for v, m in zip(row, mean, strict=True) if v) for row in table]
    marginal = [sum(v * (log_prior[k] - math.log(mean[k])) for k, v in enumerate(row)) for row in table]
    found = class_parts(*labeled(logits, prior, gradient, samples), "c")
    torch.testing.assert_close(found[0], torch.tensor(information).double())
    torch.testing.assert_close(found[1], torch.tensor(marginal).double())


def test_labels_of_a_categorical_site_are_known_too() -> None:
    torch.manual_seed(3)
    logits, prior = torch.randn(7, 4).double(), torch.zeros(4).double()
    q, p = Trace(), Trace()
    p.categorical(logits=prior, value=q.categorical(logits=logits, value=partial(LABELS), name="c"), name="c")
    relaxed = class_parts(*labeled(logits, prior, "plug_in"), "c")
    for one, other in zip(class_parts(q, p, "c"), relaxed, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("gradient", ["plug_in", "enumerate"])
def test_both_parts_are_what_the_bound_holds_of_each_item(gradient: str) -> None:
    torch.manual_seed(4)
    q, p = labeled(torch.randn(7, 4).double(), torch.randn(4).double(), gradient)
    information, marginal = class_parts(q, p, "c")
    torch.testing.assert_close(information + marginal, semi_supervised(q, p)["kl[c]"])


@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("gradient", ["plug_in", "enumerate", "detached", "concrete"])
def test_semi_supervised_counts_a_priced_part_as_often_as_its_price_says(
    gradient: str, samples: int | None
) -> None:
    torch.manual_seed(5)
    q, p = labeled(torch.randn(7, 4).double(), torch.zeros(4).double(), gradient, samples)
    usual = semi_supervised(q, p, alpha=3.0)
    weighted = semi_supervised(q, p, alpha=3.0, information={"c": -19.0}, marginal={"c": 41.0})
    information, marginal = class_parts(q, p, "c")
    torch.testing.assert_close(weighted.per_item, usual.per_item - 20.0 * information + 40.0 * marginal)
    assert semi_supervised(q, p, information={"c": 1.0}, marginal={"c": 1.0}).total == pytest.approx(
        float(semi_supervised(q, p).total)
    )


def test_a_site_that_learns_from_labels_alone_hears_the_reward_of_its_class() -> None:
    torch.manual_seed(6)
    logits = torch.randn(7, 4).double().requires_grad_()
    plain = semi_supervised(*labeled(logits, torch.zeros(4).double(), "detached"))
    (usual,) = torch.autograd.grad(plain.loss, logits)
    assert not usual[LABELS < 0].any()
    q, p = labeled(logits, torch.zeros(4).double(), "detached")
    (rewarded,) = torch.autograd.grad(semi_supervised(q, p, information={"c": -9.0}).loss, logits)
    (own,) = torch.autograd.grad(10.0 * class_parts(q, p, "c")[0].mean(), logits)
    torch.testing.assert_close(rewarded, usual + own)


def test_information_that_masses_do_not_say_is_estimated() -> None:
    q, p = labeled(torch.randn(7, 4).double(), torch.zeros(4).double(), "plug_in", samples=2)
    q.normal(torch.randn(7, 2).double(), 0.5, name="z")
    q.concrete(torch.randn(2, 7, 3).double(), 0.66, name="y")  # from draws of something
    p.normal(torch.zeros(2).double(), 1.0, value=q["z"], name="z")
    p.concrete(torch.zeros(3).double(), 0.66, value=q["y"], name="y")
    assert by_masses(q, p, {"c": -1.0, "z": 2.0, "y": 3.0}) == ({"c": -1.0}, {"z": 2.0, "y": 3.0})
    assert by_masses(q, p, 2.0) == ({}, 2.0)
    with pytest.raises(SpecError, match="marginal: there is no class 'z'"):
        semi_supervised(q, p, marginal={"z": 2.0})
