"""A step: the loss and the means of the terms; the two programs are compared in the first one alone."""

from __future__ import annotations

import pytest
import torch

from tests.train.programs import digits, model, plain_elbo
from unknot.errors import TraceError
from unknot.train.step import Held, Step


def test_the_loss_and_the_means_are_the_objective_s() -> None:
    trained, batch = model(), digits().batch(range(8))
    torch.manual_seed(0)
    loss, means = Step(trained, plain_elbo, compiled=False)(Held(batch))
    torch.manual_seed(0)
    terms = plain_elbo(*trained(batch))
    assert torch.equal(loss, terms.loss)
    assert torch.equal(means.content["loss"], loss.detach())
    assert set(means.content) == {"loss", "reconstruction", "divergence", "supervision"}
    torch.testing.assert_close(means.content["reconstruction"], terms["reconstruction"].mean().detach())
    assert not any(value.requires_grad for value in means.content.values())


def test_an_objective_with_a_network_is_not_a_part_of_the_model() -> None:
    objective = torch.nn.Linear(2, 2)
    step = Step(torch.nn.Linear(1, 1), objective, compiled=False)
    assert len(list(step.parameters())) == 2
    assert step.objective is objective


def test_only_the_first_step_compares_the_programs() -> None:
    trained = model()

    class Forgetful(torch.nn.Module):
        def forward(self, batch: object) -> tuple[object, object]:
            q, p = trained(batch)
            q.normal(torch.zeros(8, 2), torch.ones(2), name="more")
            return q, p

    step = Step(Forgetful(), plain_elbo, compiled=False)
    with pytest.raises(TraceError, match="p never scores"):
        step(Held(digits().batch(range(8))))
    step.first = False
    assert bool(step(Held(digits().batch(range(8))))[0].isfinite())
