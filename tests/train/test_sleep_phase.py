"""The sleep phase in training: for any model with both programs, as a whole run or as a stage of one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.objectives.regularizers.programs import NODES
from tests.train.programs import digits, model
from unknot.core.program import as_program
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.objectives import elbo
from unknot.train import TrainConfig, fit
from unknot.train.objective import resolve
from unknot.train.step import Step, TracedProgram


class Line(nn.Module):
    """z ~ N(0, 1), x ~ N(2 z, 1): the posterior is N(.4 x, .2)."""

    def __init__(self) -> None:
        super().__init__()
        self.slope, self.log_scale = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))

    def encode(self, x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.normal(self.slope * x, self.log_scale.exp().expand_as(x), name="z")
        return q

    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(1), torch.ones(1), value=q["z"], name="z")
        p.normal(2 * z, 1.0, value=x, name="x")
        return p

    def forward(self, batch: Any) -> tuple[unknot.Trace, unknot.Trace]:
        q = self.encode(batch.x)
        return q, self.decode(batch.x, q)


def line_data() -> unknot.data.Dataset:
    return unknot.data.Dataset("line", torch.zeros(64, 1), torch.arange(64), {}, {}, "none")


def test_an_encoder_becomes_the_posterior_without_seeing_an_item() -> None:
    torch.manual_seed(0)
    line = Line()
    settings = {"batch_size": 64, "steps": 400, "device": "cpu", "progress": False}
    rate = {"name": "cosine", "start": 0.05}
    fit(line, line_data(), TrainConfig("sleep", learning_rate=rate, **settings))
    assert line.slope.item() == pytest.approx(0.4, abs=0.03)
    assert line.log_scale.exp().item() == pytest.approx(0.2**0.5, abs=0.03)


def test_all_nodes_of_a_declared_model_are_observed() -> None:
    torch.manual_seed(0)
    declared = GraphicalModel({"nodes": NODES}, (1, 8, 8))
    q, p = declared.sleep_phase(6)
    unknot.check(q, p)
    assert [node.known for node in q.variables()] == [True, True]
    assert torch.equal(q["style"].value, p["style"].value)
    assert set(p["digit"].value.unique().tolist()) <= {0.0, 1.0}
    for weights in declared.generation.parameters():
        assert weights.grad is None


def test_only_the_objective_sleep_generates_items() -> None:
    batch = line_data().batch(range(8))
    for objective, known in (({"name": "sleep", "alpha": 2.0}, True), ("elbo", False)):
        found = resolve(objective, 10)
        assert found.sleeps is known
        step = Step(TracedProgram(as_program(Line())), found, compiled=False)
        assert step.traces(batch)[0]["z"].known is known


def test_a_stage_may_sleep_before_the_run_wakes() -> None:
    line = Line()
    stages = ({"steps": 2, "objective": {"name": "sleep"}},)
    config = TrainConfig(
        elbo, stages=stages, steps=4, batch_size=8, device="cpu", log_every=1, progress=False
    )
    history = fit(line, line_data(), config).history
    assert ["classifier" in record for record in history] == [True, True, False, False]


def test_a_program_may_run_its_sleep_phase_itself() -> None:
    counts: list[int] = []

    class Own(Line):
        def sleep_phase(self, count: int) -> tuple[unknot.Trace, unknot.Trace]:
            counts.append(count)
            q, p = unknot.Trace(), self.decode(None, unknot.given(count))
            q.normal(self.slope * p["x"].value.detach(), 1.0, value=p["z"].value.detach(), name="z")
            return q, p

    fit(Own(), line_data(), TrainConfig("sleep", steps=2, batch_size=8, device="cpu", progress=False))
    assert counts == [8, 8]


def test_models_that_cannot_generate_are_refused() -> None:
    config = TrainConfig("sleep", steps=1, batch_size=8, device="cpu", progress=False)
    with pytest.raises(SpecError, match=r"encode\(x\) and decode"):
        fit(model(), digits(), config)

    class TwoSites(Line):
        def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
            p = super().decode(x, q)
            p.normal(p["z"].value, 1.0, value=x, name="w")
            return p

    with pytest.raises(SpecError, match="found: x, w"):
        fit(TwoSites(), line_data(), config)
