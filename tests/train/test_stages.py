"""Stages: another objective first, parts held still, the same weights after a resumption, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.train.programs import digits, model, plain_elbo
from unknot.errors import SpecError
from unknot.train import RunFolder, TrainConfig, fit
from unknot.train.objective import resolve
from unknot.train.stages import Stage, stage_at

LABELS_FIRST = {"steps": 3, "objective": {"name": "supervised"}}


def _config(**more: Any) -> TrainConfig:
    settings = {"objective": plain_elbo, "steps": 6, "batch_size": 32, "device": "cpu", "log_every": 1}
    return TrainConfig(**{**settings, **more})


def test_a_step_belongs_to_the_first_stage_that_has_not_ended() -> None:
    stages = [Stage(until, resolve(plain_elbo, 10)) for until in (2, 5, 9)]
    assert [stages.index(stage_at(stages, step)) for step in range(10)] == [0, 0, 1, 1, 1, 2, 2, 2, 2, 2]


def test_a_stage_has_its_own_objective_and_the_run_goes_on_with_the_configs() -> None:
    history = fit(model(), digits(), _config(stages=(LABELS_FIRST,))).history
    assert ["classifier" in record for record in history] == [True] * 3 + [False] * 3
    assert ["reconstruction" in record for record in history] == [False] * 3 + [True] * 3


def test_what_is_frozen_does_not_move_and_learns_afterwards() -> None:
    seen: list[torch.Tensor] = []
    trained = model()
    frozen = {"steps": 3, "frozen": ["x"]}

    def on_step(step: int, record: dict[str, Any] | None) -> None:
        seen.append(torch.cat([p.detach().flatten() for p in trained.x.parameters()]))

    before = torch.cat([p.detach().flatten() for p in trained.x.parameters()])
    fit(trained, digits(), _config(stages=(frozen,)), on_step=on_step)
    assert [torch.equal(before, weights) for weights in seen] == [True] * 3 + [False] * 3
    assert all(p.requires_grad for p in trained.parameters())


def test_stages_may_be_all_a_run_differs_in() -> None:
    """A stage with the run's own objective and nothing frozen changes no bit."""
    one, other = model(), model()
    fit(one, digits(), _config(stages=({"steps": 2},)))
    fit(other, digits(), _config())
    for first, second in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(first, second)


@pytest.mark.parametrize("stopped", [2, 4])
def test_a_resumed_run_ends_in_the_same_weights(tmp_path: Path, stopped: int) -> None:
    stages = (LABELS_FIRST,)
    whole, first, second = model(), model(), model()
    fit(whole, digits(), _config(stages=stages, objective="elbo"))
    settings = {"stages": stages, "objective": "elbo", "checkpoint_every": 1}

    def stop(step: int, record: dict[str, Any] | None) -> None:
        if step == stopped:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        fit(first, digits(), _config(**settings), run=RunFolder.create(tmp_path / "run"), on_step=stop)
    fit(second, digits(), _config(**settings), run=RunFolder.open(tmp_path / "run"))
    for one, other in zip(whole.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ([{"steps": 6}], "leave some for the run itself"),
        ([{"steps": 1, "frozen": ["nothing"]}], "no part 'nothing' to freeze"),
        ([{"steps": 1, "objective": {"name": "factor_vae"}}], "a network of its own"),
        ([{"objective": "elbo"}], "steps"),
    ],
)
def test_stages_that_cannot_be_are_refused(stages: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        fit(model(), digits(), _config(objective="elbo", stages=tuple(stages)))
