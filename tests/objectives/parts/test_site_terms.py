"""What each site contributes, and which pairs of traces are refused."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from tests.statistics import assert_mean
from unknot import Partial, Trace, partial
from unknot.core.expectation import total
from unknot.errors import SpecError, TraceError
from unknot.objectives import elbo
from unknot.objectives.parts.site_terms import (
    SiteParts,
    log_conditional,
    log_ratio,
    proposals,
    reconstruction,
)


def test_a_log_term_of_q_is_part_of_log_q() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.log_term(torch.tensor([0.5, 1.0]), name="jacobian")
    p.normal(0.0, 1.0, value=torch.zeros(2), name="x")
    torch.testing.assert_close(elbo(q, p)["kl[jacobian]"], torch.tensor([-0.5, -1.0]))


@pytest.mark.parametrize("validated", [True, False])
def test_refuses_a_batch_without_items_whose_mean_would_be_nan(validated: bool) -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.zeros(0, 2), 1.0, name="z")
    p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    with unknot.validation(validated), pytest.raises(SpecError, match="the batch has no items"):
        elbo(q, p)


def test_refuses_a_variable_that_p_never_scores_even_without_validation() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.zeros(2), 1.0, name="z")
    p.normal(0.0, 1.0, value=torch.zeros(2), name="x")
    with unknot.validation(False), pytest.raises(TraceError, match="p never scores it"):
        elbo(q, p)


def test_refuses_a_site_enumerated_by_p_alone() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.zeros(2), 1.0, name="z")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    p.categorical(logits=torch.zeros(2, 3), name="k", gradient="enumerate")
    with unknot.validation(False), pytest.raises(TraceError, match="only q's sites are summed"):
        elbo(q, p)


def pair() -> tuple[unknot.Trace, unknot.Trace]:
    """z drawn, y known for one of two items; data, a log-term, and a site that p draws itself."""
    q, p = unknot.Trace(), unknot.Trace()
    q.categorical(logits=torch.zeros(2, 3), value=unknot.partial(torch.tensor([1, -1])), name="y")
    q.normal(torch.zeros(2), 1.0, name="z", event_dims=0)
    p.categorical(logits=torch.tensor([0.0, 1.0, 2.0]), value=q["y"], name="y")
    p.normal(0.5, 1.0, value=q["z"], name="z")
    p.normal(0.0, 1.0, value=torch.tensor([0.0, 1.0]), name="x")
    p.log_term(torch.tensor([3.0, 4.0]), name="bonus")
    p.normal(torch.zeros(2), 1.0, name="own", event_dims=0)
    return q, p


def test_data_and_log_terms_stand_apart_and_own_draws_count_nothing() -> None:
    q, p = pair()
    terms = {name: total(parts) for name, parts in SiteParts(q, p).data_and_log_terms().items()}
    assert list(terms) == ["reconstruction", "log_term[bonus]"]
    torch.testing.assert_close(terms["reconstruction"], p["x"].log_prob)
    torch.testing.assert_close(terms["log_term[bonus]"], torch.tensor([3.0, 4.0]))
    torch.testing.assert_close(reconstruction(q, p), p["x"].log_prob + torch.tensor([3.0, 4.0]))


def test_a_label_is_scored_by_p_alone_and_a_draw_by_the_ratio() -> None:
    q, p = pair()
    ratio = log_ratio(q["y"], p)
    torch.testing.assert_close(ratio[0], p["y"].log_prob[0])
    torch.testing.assert_close(ratio[1], p["y"].log_prob[1] - q["y"].log_prob[1])
    conditional = log_conditional(q)
    torch.testing.assert_close(conditional[0], q["z"].log_prob[0])
    torch.testing.assert_close(conditional[1], q.log_prob()[1])


def test_proposals_are_qs_variables_and_then_those_p_draws_itself() -> None:
    assert [node.name for node in proposals(*pair())] == ["y", "z", "own"]


@pytest.mark.parametrize(
    "given", [None, partial(allowed=[[True, False, True]]).rows(torch.zeros(20_000).long())]
)
def test_a_traced_draw_is_rewarded_for_what_was_drawn_from_it(given: Partial | None) -> None:
    """z decides on y, which p scores by a constant prior: log p(y) belongs to the reward of z."""
    torch.manual_seed(0)
    logits, table = torch.zeros(2, dtype=torch.float64), 2 * torch.randn(2, 3, dtype=torch.float64)
    prior = torch.tensor([3.0, 1.0, -2.0], dtype=torch.float64)

    def encode(rows: Tensor, given: Partial | None, gradient: str) -> Trace:
        q = Trace(samples=None if gradient == "enumerate" else 2)
        z = q.categorical(logits=rows, name="z", event_dims=0, gradient=gradient)
        q.categorical(logits=table[z], value=given, name="y", event_dims=0, gradient=gradient)
        return q

    def decode(q: Trace) -> Trace:
        p = Trace()
        p.categorical(logits=prior, value=q["y"], name="y")
        p.categorical(logits=torch.zeros(2, dtype=torch.float64), value=q["z"], name="z")
        return p

    def gradient(way: str) -> Tensor:
        rows = logits.expand(20_000, 2).clone().requires_grad_()
        q = unknot.trace(encode, rows, given, way)
        (found,) = torch.autograd.grad(elbo(q, unknot.trace(decode, q)).per_item.sum(), rows)
        return found

    assert_mean(gradient("score_function"), gradient("enumerate")[0])
