"""A step: the loss and the means of the terms; the two programs are compared in the first one alone."""

from __future__ import annotations

import functools

import pytest
import torch

import unknot
from tests.train.programs import digits, model, plain_elbo
from unknot.core.program import as_program
from unknot.data.batch import Batch
from unknot.errors import TraceError
from unknot.objectives import hfvae
from unknot.train.objective import Function, resolve
from unknot.train.step import Held, Step, TracedProgram


def step_of(model: torch.nn.Module, objective: Function) -> Step:
    return Step(TracedProgram(as_program(model)), resolve(objective, 10), compiled=False)


def test_the_loss_and_the_means_are_the_objective_s() -> None:
    trained, batch = model(), digits().batch(range(8))
    torch.manual_seed(0)
    loss, means = step_of(trained, plain_elbo)(Held(batch))
    torch.manual_seed(0)
    terms = plain_elbo(*trained(batch))
    assert torch.equal(loss, terms.loss)
    assert torch.equal(means.content["loss"], loss.detach())
    assert set(means.content) == {"loss", "reconstruction", "divergence", "supervision"}
    torch.testing.assert_close(means.content["reconstruction"], terms["reconstruction"].mean().detach())
    assert not any(value.requires_grad for value in means.content.values())


def test_an_objective_with_a_network_is_not_a_part_of_the_model() -> None:
    objective = torch.nn.Linear(2, 2)
    step = step_of(torch.nn.Linear(1, 1), objective)
    assert len(list(step.parameters())) == 2
    assert step.objective.function is objective


def test_only_the_first_step_compares_the_programs() -> None:
    trained = model()

    class Forgetful(torch.nn.Module):
        def forward(self, batch: object) -> tuple[object, object]:
            q, p = trained(batch)
            q.normal(torch.zeros(8, 2), torch.ones(2), name="more")
            return q, p

    step = step_of(Forgetful(), plain_elbo)
    with pytest.raises(TraceError, match="p never scores"):
        step(Held(digits().batch(range(8))))
    step.first = False
    assert bool(step(Held(digits().batch(range(8))))[0].isfinite())


def test_references_give_the_terms_of_a_larger_batch_and_no_gradient() -> None:
    """With 6 items and 10 references every item's terms are those it has in one batch of all 16."""
    torch.manual_seed(0)
    x, w = torch.randn(16, 3), torch.randn(3, 4, requires_grad=True)
    noise = torch.randn(16, 2)
    seen: list[unknot.Trace] = []

    class Linear(torch.nn.Module):
        def encode(self, x: torch.Tensor) -> unknot.Trace:
            mean, log_scale = (x @ w).chunk(2, -1)
            q = unknot.Trace()
            q.normal(mean, log_scale.exp(), value=mean + noise[: len(x)] * log_scale.exp(), name="z")
            seen.append(q)
            return q

        def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
            q, p = self.encode(batch.x), unknot.Trace()
            p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
            p.normal(q["z"].value.sum(-1), 1.0, value=batch.x[:, 0], name="x")
            return q, p

    objective = functools.partial(hfvae, dataset_size=40, beta=4.0, gamma=3.0)
    model, rows = (
        Linear(),
        [Batch(x[part], torch.arange(16)[part], {}, {}, 40) for part in (slice(6), slice(6, 16))],
    )
    _, means = step_of(model, objective)(Held(rows[0]), Held(rows[1]))
    references = [one for one in seen if one.leading_shape == (10,)]
    assert not any(one["z"].dist.mean.requires_grad for one in references)
    whole = objective(*model(Batch(x, torch.arange(16), {}, {}, 40)))
    for name in ("mutual_information", "within", "marginal", "reconstruction"):
        torch.testing.assert_close(means.content[name], whole[name][:6].mean().detach())
