"""The labels alone: against loops over draws, against exact sums, and its gradients."""

from __future__ import annotations

import pytest
import torch

import unknot
from tests.objectives.test_semi_supervised import X, draws_of, labels_of, per_item_gradients
from tests.references.discrete_model import GRAPHS, item_labels, make_model
from tests.references.semi_supervised import equation_4, equation_7, expected_over_draws
from tests.statistics import assert_mean
from unknot.objectives import semi_supervised, supervised


@pytest.mark.parametrize("graph", GRAPHS)
def test_is_equation_7_draw_by_draw(graph: str) -> None:
    torch.manual_seed(1)
    model, labels = make_model(graph), labels_of(graph)
    q, p = model.run(X, labels, samples=5)
    terms = supervised(q, p)
    assert list(terms) == ["classifier"]
    for index, x in enumerate(X.tolist()):
        slow = equation_7(model, x, item_labels(labels, index), draws_of(q, model.names, index))
        torch.testing.assert_close(terms.per_item[index], slow, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_is_the_log_probability_of_the_labels_where_draws_are_summed(graph: str) -> None:
    """Eq. 4 is linear in α with slope log q(y | x)."""
    model, labels = make_model(graph), labels_of(graph)
    terms = supervised(*model.run(X, labels, gradient="enumerate"))
    for index, x in enumerate(X.tolist()):
        observed = item_labels(labels, index)
        exact = equation_4(model, x, observed, 1.0) - equation_4(model, x, observed, 0.0)
        torch.testing.assert_close(terms.per_item[index], exact, rtol=1e-10, atol=1e-10)


def test_is_the_classifier_of_the_semi_supervised_objective() -> None:
    torch.manual_seed(2)
    q, p = make_model("z->y").run(X, labels_of("z->y"), samples=3)
    torch.testing.assert_close(supervised(q, p)["classifier"], semi_supervised(q, p)["classifier"])


def test_without_labels_there_is_nothing_to_learn() -> None:
    assert supervised(*make_model("y->z").run(X)).per_item.tolist() == [0.0] * len(X)


def test_the_generative_model_gets_no_gradient() -> None:
    model = make_model("y->z")
    for tables in (model.q_tables, model.p_tables):
        for table in tables.values():
            table.requires_grad_()
    supervised(*model.run(X, labels_of("y->z"), samples=2)).loss.backward()
    assert model.q_tables["y"].grad is not None
    assert model.q_tables["z"].grad is None  # z comes after the label
    assert all(table.grad is None for table in model.p_tables.values())


@pytest.mark.parametrize("samples", [1, 2])
@pytest.mark.parametrize(("graph", "table"), [("z->y", "z"), ("z->y", "y"), ("two labels", "z")])
def test_score_function_gradient_is_that_of_the_expected_bound(graph: str, table: str, samples: int) -> None:
    torch.manual_seed(7)
    observed = {"y": 1}
    exact = make_model(graph)
    exact.q_tables[table].requires_grad_()
    expected_over_draws(equation_7, exact, 2, observed, samples, 1.0).backward()
    grads = per_item_gradients(
        make_model(graph), table, 2, observed, 40_000, {"samples": samples}, supervised
    )
    assert_mean(grads, exact.q_tables[table].grad[2])


def test_a_pathwise_draw_before_the_label_gets_its_gradient() -> None:
    torch.manual_seed(8)
    weight = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    q = unknot.Trace(samples=3)
    z = q.normal(weight.expand(2), 1.0, name="z")
    q.bernoulli(logits=z, value=torch.tensor([1.0, 0.0], dtype=torch.float64), name="y")
    supervised(q, unknot.Trace()).total.backward()
    slope = torch.stack(
        [1 - z[:, 0].sigmoid(), -z[:, 1].sigmoid()]
    ).mean()  # of log sigmoid(z), log sigmoid(-z)
    torch.testing.assert_close(weight.grad, slope.detach())


def test_log_terms_of_p_count_beside_the_labels_and_its_data_does_not() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.concrete(torch.zeros(3, 2), 0.66, value=unknot.partial(torch.tensor([1, -1, 0])), name="y")
    p.normal(0.0, 1.0, value=torch.ones(3), name="x")
    p.log_term(torch.tensor([0.0, -2.0, 0.0]), name="agreement")
    terms = supervised(q, p, alpha=4.0)
    half = torch.tensor(0.5).log()
    torch.testing.assert_close(terms.per_item, torch.stack([4 * half, torch.tensor(-2.0), 4 * half]))


@pytest.mark.parametrize("samples", [None, 2])
@pytest.mark.parametrize("baseline", [False, True])
@pytest.mark.parametrize("labeled", [False, True])
def test_a_log_term_behind_a_score_function_draw_gets_its_gradient(
    samples: int | None, baseline: bool, labeled: bool
) -> None:
    """z is 0 or 1; p adds 3 z - 1, and the label's probability depends on z too: the sum over z by hand."""
    logit = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    share = logit.sigmoid()
    of_label = torch.tensor([-0.5, 1.5], dtype=torch.float64)  # logits of y = 1 at z = 0 and 1
    reward = torch.tensor([-1.0, 2.0], dtype=torch.float64)
    if labeled:
        reward = reward + 2.0 * of_label.sigmoid().log()
    (truth,) = torch.autograd.grad((1 - share) * reward[0] + share * reward[1], logit)
    torch.manual_seed(3)
    way = unknot.ScoreFunction(unknot.RunningMean()) if baseline else "score_function"
    slopes = []
    for _ in range(2000):
        q, p = unknot.Trace(samples), unknot.Trace()
        z = q.bernoulli(logits=logit.expand(1), gradient=way, name="z")
        known = torch.ones(1, dtype=torch.float64) if labeled else None
        q.bernoulli(logits=of_label[z.long()], value=known, name="y", event_dims=0)
        p.log_term(3 * z - 1, name="bonus")
        slopes.append(torch.autograd.grad(supervised(q, p, alpha=2.0).total, logit)[0])
    assert_mean(torch.stack(slopes), truth)


def test_a_weight_for_every_labeled_site() -> None:
    """α_y log q(y | z) + α_v log q(v | z, y), the mean over draws, by loops."""
    torch.manual_seed(1)
    model, labels = make_model("two labels"), labels_of("two labels")
    q, p = model.run(X, labels, samples=5)
    terms = supervised(q, p, alpha={"y": 3.0, "v": 0.5})
    assert list(terms) == ["classifier[y]", "classifier[v]"]
    for index, x in enumerate(X.tolist()):
        observed, draws = item_labels(labels, index), draws_of(q, model.names, index)
        slow = sum(
            {"y": 3.0, "v": 0.5}[name] * model.log_q(x, draw, [name]) / len(draws)
            for draw in draws
            for name in observed
        )
        torch.testing.assert_close(
            terms.per_item[index], torch.as_tensor(slow, dtype=torch.float64), rtol=1e-10, atol=1e-10
        )
