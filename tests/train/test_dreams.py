"""Dreams: any model with the two programs reads what it makes; in a stage, and with words where it cannot."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.models.test_agreement import NODES
from tests.train.programs import digits, model
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.objectives import elbo
from unknot.train import TrainConfig, fit
from unknot.train.dreams import dream, is_of_dreams, traces
from unknot.train.objective import resolve


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


def test_a_recogniser_becomes_the_posterior_without_seeing_an_item() -> None:
    torch.manual_seed(0)
    line = Line()
    settings = {"batch_size": 64, "steps": 400, "device": "cpu", "progress": False}
    rate = {"name": "cosine", "start": 0.05}
    fit(line, line_data(), TrainConfig("sleep", learning_rate=rate, **settings))
    assert line.slope.item() == pytest.approx(0.4, abs=0.03)
    assert line.log_scale.exp().item() == pytest.approx(0.2**0.5, abs=0.03)


def test_a_declared_model_dreams_of_all_its_nodes() -> None:
    torch.manual_seed(0)
    declared = GraphicalModel({"nodes": NODES}, (1, 8, 8))
    q, p = dream(declared, 6)
    unknot.check(q, p)
    assert [node.known for node in q.variables()] == [True, True]
    assert torch.equal(q["style"].value, p["style"].value)
    assert set(p["digit"].value.unique().tolist()) <= {0.0, 1.0}
    for weights in declared.generation.parameters():
        assert weights.grad is None


def test_only_objectives_of_dreams_dream() -> None:
    asleep, awake = (resolve(name, 10) for name in ({"name": "sleep", "alpha": 2.0}, "elbo"))
    assert is_of_dreams(asleep)
    assert not is_of_dreams(awake)
    batch = line_data().batch(range(8))
    q, _ = traces(Line(), awake, batch)
    assert q["z"].known is False
    assert traces(Line(), asleep, batch)[0]["z"].known is True
    assert traces(Line(), None, batch)[0]["z"].known is False


def test_a_stage_may_sleep_before_the_run_wakes() -> None:
    line = Line()
    stages = ({"steps": 2, "objective": {"name": "sleep"}},)
    config = TrainConfig(
        elbo, stages=stages, steps=4, batch_size=8, device="cpu", log_every=1, progress=False
    )
    history = fit(line, line_data(), config).history
    assert ["classifier" in record for record in history] == [True, True, False, False]


def test_models_that_cannot_dream_are_told_what_it_takes() -> None:
    with pytest.raises(SpecError, match=r"encode\(x\) and decode"):
        traces(model(), resolve("sleep", 10), digits().batch(range(4)))

    class TwoSites(Line):
        def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
            p = super().decode(x, q)
            p.normal(p["z"].value, 1.0, value=x, name="w")
            return p

    with pytest.raises(SpecError, match="found: x, w"):
        dream(TwoSites(), 3)
