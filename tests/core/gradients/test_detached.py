"""Choices that learn from their labels alone: values as of any draw, gradients from labeled items only."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import unknot
from tests.core.gradients.by_hand import SLOPE, TAU, B, K, drawn
from unknot import objectives

LABELS = torch.tensor([2, -1, 0, -1, -1, 3])
FAMILIES: dict[str, dict[str, float]] = {
    "categorical": {},
    "one_hot_categorical": {},
    "concrete": {"temperature": TAU},
}
OBJECTIVES: dict[str, Callable[..., objectives.Terms]] = {
    "elbo": objectives.elbo,
    "semi_supervised": lambda q, p: objectives.semi_supervised(q, p, alpha=0.0),
    "importance_weighted": lambda q, p: objectives.importance_weighted(q, p, alpha=0.0),
    "hfvae": lambda q, p: objectives.hfvae(q, p, 100, parents={name: [] for name in q}),
}


def pair(
    family: str, gradient: str, labels: Tensor | None = None, samples: int | None = None
) -> tuple[unknot.Trace, unknot.Trace, Tensor]:
    """A choice y, and data that depend on it."""
    torch.manual_seed(0)
    logits = torch.randn(B, K, dtype=torch.float64, requires_grad=True)
    q, p, more = unknot.Trace(samples), unknot.Trace(), FAMILIES[family]
    known = None if labels is None else unknot.partial(labels)
    torch.manual_seed(1)
    y = getattr(q, family)(logits=logits, value=known, name="y", gradient=gradient, **more)
    getattr(p, family)(logits=torch.zeros(K, dtype=torch.float64), value=q["y"], name="y", **more)
    mean = SLOPE.double()[y] if family == "categorical" else y @ SLOPE.double()
    p.normal(mean, 1.0, value=torch.zeros(B, dtype=torch.float64), name="x", event_dims=0)
    return q, p, logits


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_values_are_those_of_the_score_function_and_gradients_nothing(
    name: str, samples: int | None, family: str
) -> None:
    q, p, logits = pair(family, "detached", samples=samples)
    other, its, _ = pair(family, "score_function", samples=samples)
    terms = OBJECTIVES[name](q, p)
    torch.testing.assert_close(terms.per_item, OBJECTIVES[name](other, its).per_item)
    assert not terms.total.requires_grad
    assert not q["y"].value.requires_grad
    assert logits.grad is None


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("samples", [None, 3])
def test_labels_teach_it(samples: int | None, family: str) -> None:
    """Eq. 8: α log q(y | x) of the labeled items, whose gradient is α (one-hot - π), and nothing of the others."""
    q, p, logits = pair(family, "detached", LABELS, samples)
    terms = objectives.semi_supervised(q, p, alpha=5.0)
    (slope,) = torch.autograd.grad(terms.per_item.sum(), logits)
    known = LABELS >= 0
    expected = torch.zeros_like(logits)
    expected[known] = 5.0 * (torch.eye(K, dtype=torch.float64)[LABELS[known]] - logits.softmax(-1)[known])
    torch.testing.assert_close(slope, expected)


def test_parameters_shared_by_all_items_learn_from_the_labeled_ones() -> None:
    logits = torch.zeros(K, requires_grad=True)
    q = unknot.Trace()
    q.categorical(logits=logits, value=unknot.partial(LABELS), name="y", gradient="detached")
    (slope,) = torch.autograd.grad(q.log_prob().sum(), logits)
    torch.testing.assert_close(
        slope, torch.bincount(LABELS[LABELS >= 0], minlength=K) - torch.full((K,), 3 / K)
    )


def test_numbers_too() -> None:
    loc = torch.zeros(4, 2, requires_grad=True)
    q = unknot.Trace()
    z = q.normal(loc, 1.0, name="z", gradient="detached")
    assert not z.requires_grad
    assert not q["z"].log_prob.requires_grad


def test_draws_are_hard() -> None:
    _, _, y = drawn("concrete", "detached", temperature=TAU)
    assert torch.equal(y.sum(-1), torch.ones(B))
    assert set(y.unique().tolist()) == {0.0, 1.0}
