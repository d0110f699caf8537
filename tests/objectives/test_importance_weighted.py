"""The importance-weighted objective: between bound and evidence, against loops, and its three gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from tests.objectives.test_semi_supervised import (
    X,
    draws_of,
    labels_of,
    mixed_program,
    per_item_gradients,
)
from tests.references import linear_gaussian
from tests.references.discrete_model import GRAPHS, item_labels, make_model
from tests.references.semi_supervised import equation_9, expected_over_draws, log_evidence
from tests.statistics import assert_mean
from unknot.objectives import elbo, importance_weighted


@pytest.mark.parametrize("graph", GRAPHS)
def test_equals_equation_9_draw_by_draw(graph: str) -> None:
    model, labels = make_model(graph), labels_of(graph)
    q, p = model.run(X, labels, samples=5)
    terms = importance_weighted(q, p, alpha=3.0, gamma=2.0)
    for index, x in enumerate(X.tolist()):
        observed = item_labels(labels, index)
        slow = equation_9(model, x, observed, draws_of(q, model.names, index), alpha=3.0)
        expected = 2.0 * slow if observed else slow
        torch.testing.assert_close(terms.per_item[index], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_with_all_sites_enumerated_is_the_log_evidence_and_the_log_label_probability(graph: str) -> None:
    model, labels = make_model(graph), labels_of(graph)
    terms = importance_weighted(*model.run(X, labels, gradient="enumerate"))
    for index, x in enumerate(X.tolist()):
        observed = item_labels(labels, index)
        torch.testing.assert_close(terms["evidence"][index], log_evidence(model, x, observed))
        joint = [model.log_q(x, item, model.names) for item in model.completions(observed)]
        log_label = torch.stack(joint).logsumexp(0)
        torch.testing.assert_close(terms["classifier"][index], log_label, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("enumerated", [(), ("z1",), ("z2",), ("z1", "y"), ("y", "z2")])
def test_the_mean_inside_the_logarithm_is_unbiased_for_the_evidence(enumerated: tuple[str, ...]) -> None:
    """One draw each: exp(evidence) averages to p(x, y), whichever sites are summed and whichever drawn."""
    model, labels, copies = make_model("z1->y1->z2"), labels_of("z1->y1->z2"), 4000
    ways = {name: "enumerate" if name in enumerated else "score_function" for name in model.names}
    y = unknot.partial(labels["y"].values.repeat(copies))
    with torch.no_grad():
        runs = importance_weighted(*model.run(X.repeat(copies), {"y": y}, 1, ways))["evidence"].exp()
    evidence = [log_evidence(model, x, item_labels(labels, i)).exp() for i, x in enumerate(X.tolist())]
    assert_mean(runs.reshape(copies, len(X)), torch.stack(evidence))


def test_lies_between_the_bound_and_the_evidence_and_rises_with_samples() -> None:
    x = torch.full((20_000,), 1.3, dtype=torch.float64)
    mean, std = linear_gaussian.posterior(x)
    evidence = linear_gaussian.log_evidence(x[0])
    levels = [elbo(*linear_gaussian.run(x, mean + 0.2, 1.6 * std, 1)).per_item]
    levels += [
        importance_weighted(*linear_gaussian.run(x, mean + 0.2, 1.6 * std, s))["evidence"] for s in (2, 8, 32)
    ]
    for lower, upper in zip(levels, [*levels[1:], evidence.expand_as(x)], strict=True):
        difference = upper - lower
        assert difference.mean() > 5 * difference.std() / len(x) ** 0.5


def test_is_the_evidence_at_the_exact_posterior() -> None:
    x = torch.tensor([-1.5, 0.2, 2.4], dtype=torch.float64)
    terms = importance_weighted(*linear_gaussian.run(x, *linear_gaussian.posterior(x), samples=4))
    torch.testing.assert_close(terms.per_item, linear_gaussian.log_evidence(x))
    torch.testing.assert_close(terms.diagnostics["effective_samples"], torch.full_like(x, 4))


def test_a_switched_off_enumerated_site_counts_once() -> None:
    active = torch.tensor([True, False])
    q, p = unknot.Trace(), unknot.Trace()
    with q.where(active):
        q.categorical(logits=torch.tensor([[0.0, 1.0], [2.0, 0.0]]), name="k", gradient="enumerate")
    with p.where(active):
        p.categorical(logits=torch.zeros(2), value=q["k"], name="k")
    p.normal(0.0, 1.0, value=torch.zeros(2), name="x")
    evidence = importance_weighted(q, p)["evidence"]
    torch.testing.assert_close(evidence, torch.distributions.Normal(0.0, 1.0).log_prob(torch.zeros(2)))


@pytest.mark.parametrize("enumerate_y", [False, True])
def test_gradient_against_finite_differences_with_common_random_numbers(enumerate_y: bool) -> None:
    parameters = torch.randn(8, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 0.5

    def total(values: Tensor) -> Tensor:
        return importance_weighted(*mixed_program(values, enumerate_y), alpha=2.0, gamma=3.0).total

    assert torch.autograd.gradcheck(total, (parameters.requires_grad_(),))


@pytest.mark.parametrize(("graph", "table"), [("z->y", "z"), ("two labels", "z"), ("y->z", "z")])
def test_score_function_gradient_is_that_of_the_expected_estimator(graph: str, table: str) -> None:
    observed = {"y": 1}
    exact = make_model(graph)
    exact.q_tables[table].requires_grad_()
    expected_over_draws(equation_9, exact, 2, observed, 2, 3.0).backward()
    samples = per_item_gradients(
        make_model(graph),
        table,
        2,
        observed,
        40_000,
        {"samples": 2},
        lambda q, p: importance_weighted(q, p, 3.0),
    )
    assert_mean(samples, exact.q_tables[table].grad[2])


def test_a_weight_by_site_is_refused() -> None:
    q, p = make_model("z->y").run(X, labels_of("z->y"))
    with pytest.raises(unknot.UnknotError, match="alpha is one number"):
        importance_weighted(q, p, alpha={"y": 2.0})  # type: ignore[arg-type]
