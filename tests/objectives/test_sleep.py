"""Sleep: against a loop over dreams, its mean against exact sums, and where it is largest."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

import unknot
from tests.references.discrete_model import GRAPHS, OUTCOMES, DiscreteModel, make_model
from tests.statistics import assert_mean
from unknot.core.program import as_program
from unknot.errors import SpecError
from unknot.objectives import sleep


class Program:
    """A model of tables as two programs, the generative one of which can generate."""

    def __init__(self, model: DiscreteModel) -> None:
        self.model = model

    def encode(self, x: Tensor) -> unknot.Trace:
        return self.model.run(x)[0]

    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        values: dict[str, Tensor] = {}
        for name, parents in self.model.p:
            logits = self.model.p_tables[name][tuple(values[a] for a in parents)]
            values[name] = p.categorical(logits=logits, value=q[name], name=name, event_dims=0)
        logits = self.model.p_tables["x"][tuple(values[n] for n in self.model.names)]
        p.categorical(logits=logits, value=x, name="x", event_dims=0)
        return p


def exact(model: DiscreteModel) -> Tensor:
    """Σ_{v, x} p(v, x) log q(v | x), by loops."""
    total = torch.zeros((), dtype=torch.float64)
    for x, item in itertools.product(range(OUTCOMES), model.completions({})):
        total = total + model.log_p(x, item).exp() * model.log_q(x, item, model.names)
    return total


@pytest.mark.parametrize("graph", GRAPHS)
def test_is_log_q_of_what_each_dream_was_made_from(graph: str) -> None:
    torch.manual_seed(0)
    model = make_model(graph)
    q, p = as_program(Program(model)).sleep_phase(12)
    terms = sleep(q, p)
    for index in range(12):
        item = {name: int(p[name].value[index]) for name in model.names}
        slow = model.log_q(int(p["x"].value[index]), item, model.names)
        torch.testing.assert_close(terms.per_item[index], slow, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_its_mean_and_gradient_are_the_exact_sums(graph: str) -> None:
    torch.manual_seed(1)
    model = make_model(graph)
    for table in model.q_tables.values():
        table.requires_grad_()
    q, p = as_program(Program(model)).sleep_phase(20_000)
    per_item = sleep(q, p).per_item
    assert_mean(per_item.detach(), exact(model).detach())
    tables = list(model.q_tables.values())
    estimate = torch.autograd.grad(per_item.mean(), tables)
    truth = torch.autograd.grad(exact(model), tables)
    for one, other in zip(estimate, truth, strict=True):
        torch.testing.assert_close(one, other, atol=0.02, rtol=0)


def test_nothing_reads_dreams_better_than_the_posterior() -> None:
    """At q(v | x) = p(v | x) it is minus the entropy of v given x; the gradient there is zero."""
    model = make_model("y->z")
    joint = torch.stack(
        [
            torch.stack([model.log_p(x, {"y": y, "z": z}).exp() for z in range(3)])
            for x in range(4)
            for y in range(3)
        ]
    ).reshape(4, 3, 3)  # (x, y, z)
    model.q_tables["y"] = joint.sum(2).log().requires_grad_()
    model.q_tables["z"] = joint.log().requires_grad_()
    best = exact(model)
    posterior = joint / joint.sum((1, 2), keepdim=True)
    torch.testing.assert_close(best, (joint * posterior.log()).sum())
    for gradient in torch.autograd.grad(best, list(model.q_tables.values())):
        torch.testing.assert_close(gradient, torch.zeros_like(gradient), atol=1e-12, rtol=0)


def test_sites_are_weighed_one_by_one() -> None:
    q, p = as_program(Program(make_model("y->z"))).sleep_phase(5)
    terms = sleep(q, p, alpha={"y": 3.0})
    torch.testing.assert_close(terms.per_item, 3 * q["y"].log_prob + q["z"].log_prob)


def test_what_was_drawn_is_refused() -> None:
    q, p = make_model("y->z").run(torch.tensor([0, 1]), {"y": torch.tensor([0, 2])})
    with pytest.raises(SpecError, match="q has drawn 'z'"):
        sleep(q, p)
