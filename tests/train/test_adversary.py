"""FactorVAE by name: its discriminator learns beside the model and survives an interruption."""

from __future__ import annotations

import torch

from tests.train.programs import digits, model
from unknot.core.trace import Trace
from unknot.objectives.discriminator import FactorVAE
from unknot.train import RunFolder, TrainConfig, fit
from unknot.train.adversary import Adversary

OBJECTIVE = {"name": "factor_vae", "gamma": 5.0, "variables": ["z"]}


def _config(steps: int) -> TrainConfig:
    return TrainConfig(
        objective=OBJECTIVE, steps=steps, batch_size=32, device="cpu", log_every=4, checkpoint_every=4
    )


def test_a_continued_run_ends_like_an_unbroken_one(tmp_path: object) -> None:
    runs = [RunFolder.create(f"{tmp_path}/{name}") for name in ("whole", "parts")]
    fit(model(), digits(), _config(8), runs[0])
    fit(model(), digits(), _config(4), runs[1])
    fit(model(), digits(), _config(8), runs[1])
    one, other = (run.latest() for run in runs)
    assert one is not None
    assert other is not None
    assert one.part("adversary")
    assert one.tensors.keys() == other.tensors.keys()
    assert all(torch.equal(tensor, other.tensors[name]) for name, tensor in one.tensors.items())


def test_the_discriminator_finds_correlation_and_the_model_stays() -> None:
    class Correlated(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mean = torch.nn.Parameter(torch.zeros(1))

        def forward(self, batch: int) -> tuple[Trace, Trace]:
            q = Trace()
            shared = torch.randn(batch, 1) + self.mean
            q.normal(shared.expand(batch, 2), 0.1, name="z")
            return q, Trace()

    torch.manual_seed(0)
    program = Correlated()
    adversary = Adversary(FactorVAE(program(8)[0]), program, world=1)
    losses = [float(adversary.step(iter([128]))) for _ in range(150)]  # type: ignore[list-item]
    assert losses[-1] < 0.9 * losses[0]  # starts at log 2, where nothing is told apart
    assert program.mean.grad is None
