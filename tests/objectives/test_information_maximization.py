"""The classes alone: what counts and what does not, and a sorting that it finds."""

from __future__ import annotations

import pytest
import torch

from unknot import Trace
from unknot.errors import SpecError
from unknot.objectives.encoder_objectives import information_maximization
from unknot.objectives.parts.class_parts import class_parts


def programs(logits: torch.Tensor) -> tuple[Trace, Trace]:
    q, p = Trace(), Trace()
    c = q.concrete(logits, 0.66, name="c")
    p.concrete(torch.zeros(logits.shape[-1]), 0.66, value=c, name="c")
    p.normal(c, 1.0, value=torch.ones_like(c), name="x")
    return q, p


def test_a_negative_weight_rewards_information_and_a_positive_one_penalizes_uneven_classes() -> None:
    torch.manual_seed(0)
    q, p = programs(torch.randn(8, 3))
    terms = information_maximization(q, p, information=-20.0, marginal=40.0)
    information, marginal = class_parts(q, p, "c")
    torch.testing.assert_close(terms.loss, -(-20.0 * information + 40.0 * marginal).mean())


def test_the_data_does_not_count_and_log_terms_do() -> None:
    torch.manual_seed(1)
    q, p = programs(torch.randn(8, 3))
    before = information_maximization(q, p)
    p.log_term(torch.arange(8.0), name="agreement")
    after = information_maximization(q, p)
    assert list(after) == ["information[c]", "marginal[c]", "log_term[agreement]"]
    torch.testing.assert_close(after.loss, before.loss - 3.5)


def test_two_heaps_are_sorted_into_two_classes() -> None:
    torch.manual_seed(2)
    x = torch.cat([torch.randn(40, 2) + 3, torch.randn(40, 2) - 3])
    network = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(network.parameters(), 0.1)
    for _ in range(60):
        optimizer.zero_grad()
        information_maximization(*programs(network(x)), marginal=2.0).loss.backward()
        optimizer.step()
    found = network(x).argmax(-1)
    agrees = (found == torch.cat([torch.zeros(40), torch.ones(40)])).float().mean().item()
    assert max(agrees, 1 - agrees) > 0.95  # heaps six standard deviations apart: no draw decides it


def test_without_a_class_it_says_so() -> None:
    q, p = Trace(), Trace()
    p.normal(0.0, 1.0, value=q.normal(torch.zeros(3, 1), 1.0, name="z"), name="z")
    with pytest.raises(SpecError, match="no class"):
        information_maximization(q, p)
