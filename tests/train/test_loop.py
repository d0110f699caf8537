"""The loop: it learns, stops, averages, schedules, compiles, refuses."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import unknot
from tests.train.programs import digits, model, plain_elbo
from unknot.core import validation
from unknot.core.program import Program
from unknot.data.batch import Batch
from unknot.errors import DataError, RunError, SpecError
from unknot.models import GraphicalModel
from unknot.objectives.terms import Terms
from unknot.train import RunFolder, TrainConfig, fit
from unknot.train.checkpoint import Checkpoint
from unknot.train.loop import _log_offset


def _config(**more: Any) -> TrainConfig:
    settings = {"objective": plain_elbo, "steps": 6, "batch_size": 32, "device": "cpu", "log_every": 2}
    return TrainConfig(**{**settings, **more})


def test_training_raises_the_objective_and_logs_its_terms() -> None:
    result = fit(model(), digits(), _config(steps=120, log_every=40, learning_rate=3e-3))
    assert [record["step"] for record in result.history] == [40, 80, 120]
    assert result.history[-1]["loss"] < 0.9 * result.history[0]["loss"]
    for record in result.history:
        weighted = record["reconstruction"] + record["divergence"] + 5 * record["supervision"]
        assert record["loss"] == pytest.approx(-weighted, rel=1e-4)
    assert (result.stopped_because, result.steps) == ("finished", 120)


def test_an_objective_may_take_the_batch_and_the_program() -> None:
    received: list[tuple[Batch, Program]] = []

    def with_agreement(q: unknot.Trace, p: unknot.Trace, batch: Batch, program: Program) -> Terms:
        received.append((batch, program))
        again = program(replace(batch, x=batch.x.flip(-1)))[0]
        terms = plain_elbo(q, p)
        agreement = -(again["y"].dist.logits - q["y"].dist.logits).square().mean(-1)
        return Terms({**terms, "agreement": agreement}, {**terms.weights, "agreement": 0.1})

    trained = model()
    history = fit(trained, digits(), _config(objective=with_agreement, steps=3, log_every=1)).history
    assert all(record["agreement"] < 0 for record in history)
    assert [len(batch) for batch, _ in received] == [32, 32, 32]
    assert next(received[0][1].parameters()) is next(trained.parameters())


def test_small_parameters_may_all_be_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unknot.train.divergence.SMALL", 1)
    program = model()
    program.register_parameter("unused", torch.nn.Parameter(torch.zeros(1)))
    assert fit(program, digits(), _config(steps=2)).steps == 2


def test_records_are_means_over_the_steps_since_the_last_one() -> None:
    every = fit(model(), digits(), _config(log_every=1)).history
    third = fit(model(), digits(), _config(log_every=3)).history
    for start, record in zip((0, 3), third, strict=True):
        mean = sum(r["loss"] for r in every[start : start + 3]) / 3
        assert record["loss"] == pytest.approx(mean, rel=1e-5)


def test_weights_are_those_of_a_bare_loop() -> None:
    trained, bare, config = model(), model(), _config(steps=5)
    fit(trained, digits(), config)
    from unknot.train.epochs import Epochs

    torch.manual_seed(config.seed)
    optimizer = torch.optim.Adam(bare.parameters(), lr=1e-3, fused=True)
    batches = Epochs.plan(digits(), config).batches(0)
    for _ in range(5):
        loss = plain_elbo(*bare(next(batches))).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for one, other in zip(trained.parameters(), bare.parameters(), strict=True):
        assert torch.equal(one, other)


def test_random_states_and_checks_are_as_before_afterwards() -> None:
    before = torch.get_rng_state()
    fit(model(), digits(), _config())
    assert torch.equal(before, torch.get_rng_state())
    assert validation.is_on()


def test_validation_is_off_after_the_first_good_step() -> None:
    seen = []
    fit(model(), digits(), _config(steps=3), on_step=lambda step, record: seen.append(validation.is_on()))
    assert seen == [False, False, False]


def test_the_first_step_checks_the_two_programs() -> None:
    class Forgetful(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mean = torch.nn.Linear(64, 2)

        def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
            q, p = unknot.Trace(), unknot.Trace()
            q.normal(self.mean(batch.x.flatten(1)), torch.ones(2), name="z")
            return q, p

    with pytest.raises(unknot.errors.TraceError, match="p never scores"):
        fit(Forgetful(), digits(), _config())


def test_learning_rate_and_temperature_follow_their_schedules() -> None:
    trained = model()
    rate = {"name": "linear", "start": 1e-2, "end": 0.0, "warmup": 2}
    temperature = {"name": "exponential", "start": 1.0, "end": 0.25}
    result = fit(
        trained, digits(), _config(steps=4, log_every=1, learning_rate=rate, temperature=temperature)
    )
    assert [r["learning_rate"] for r in result.history] == pytest.approx([5e-3, 1e-2, 1e-2, 5e-3])
    assert [r["temperature"] for r in result.history] == pytest.approx([0.25 ** (t / 4) for t in range(4)])
    assert trained.temperature.item() == pytest.approx(0.25**0.75)


def test_clipping_bounds_the_step() -> None:
    trained, start = model(), model()
    fit(trained, digits(), _config(steps=1, clip_norm=1e-12))  # below Adam's epsilon: nearly nothing moves
    moved = max(
        float((a - b).detach().abs().max())
        for a, b in zip(trained.parameters(), start.parameters(), strict=True)
    )
    assert 0 < moved < 1e-6


def test_patience_stops_and_goes_back_to_the_best_weights() -> None:
    scores = iter([0.1, 0.5, 0.4, 0.3, 0.9])
    kept: list[dict[str, Tensor]] = []

    def validate(judged: torch.nn.Module) -> float:
        assert not judged.training
        kept.append({name: t.clone() for name, t in judged.state_dict().items()})
        return next(scores)

    trained = model()
    result = fit(trained, digits(), _config(steps=50, validate_every=3, patience=2), held_out=validate)
    assert (result.stopped_because, result.steps) == ("patience", 12)
    for name, tensor in trained.state_dict().items():
        assert torch.equal(tensor, kept[1][name])


def test_averaged_weights_are_validated_and_kept() -> None:
    seen: list[Tensor] = []
    path: list[Tensor] = []
    trained = model()
    fit(
        trained,
        digits(),
        _config(steps=4, average_weights=0.5, validate_every=4),
        held_out=lambda m: seen.append(m.y.bias.detach().clone()) or 0.0,
        on_step=lambda step, record: path.append(trained.y.bias.detach().clone()),
    )
    average = model().y.bias.detach()
    for step, weights in enumerate(path, start=1):
        decay = min(0.5, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * weights
    torch.testing.assert_close(seen[0], average)
    assert torch.equal(trained.y.bias.detach(), seen[0])


def test_bf16_runs_and_stays_near_full_precision() -> None:
    full = fit(model(), digits(), _config(steps=30, log_every=30)).history[-1]["loss"]
    half = fit(model(), digits(), _config(steps=30, log_every=30, precision="bf16-mixed")).history[-1]["loss"]
    assert half == pytest.approx(full, rel=0.02)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's compiler still imports torch.jit
def test_compile_takes_the_whole_step_and_agrees() -> None:
    eager = fit(model(), digits(), _config(steps=12, log_every=12)).history[-1]["loss"]
    compiled = fit(model(), digits(), _config(steps=12, log_every=12, compile=True)).history[-1]["loss"]
    assert compiled == pytest.approx(eager, rel=0.02)  # compiled code draws its noise in another way


def test_a_diverging_step_names_its_site_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    trained = model()

    def spoil(step: int, record: dict[str, Any] | None) -> None:
        if step == 5:
            trained.scale.bias.data[0] = float("nan")

    run = RunFolder.create(tmp_path / "run")
    with pytest.raises(RunError, match=r"diverged at step 6: site 'z'.*checkpoint of step 4 is kept"):
        fit(trained, digits(), _config(checkpoint_every=4, steps=20), run, on_step=spoil)
    made = run.latest()
    assert made is not None
    assert made.step == 4
    assert all(bool(t.isfinite().all()) for t in made.part("model").values())


def test_a_gradient_that_is_not_finite_names_its_site() -> None:
    class Corner(torch.nn.Module):
        """The square root's gradient is infinite at zero, its value is not."""

        def __init__(self) -> None:
            super().__init__()
            self.mean = torch.nn.Parameter(torch.zeros(2))

        def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
            q, p = unknot.Trace(), unknot.Trace()
            mean = (self.mean * 0).abs().sqrt() * self.mean
            q.normal(mean.expand(len(batch), 2), torch.ones(2), name="z")
            p.normal(0.0, 1.0, value=q["z"], name="z")
            return q, p

    def objective(q: unknot.Trace, p: unknot.Trace) -> unknot.objectives.Terms:
        return unknot.objectives.Terms({"ratio": p.log_prob() - q.log_prob()})

    with pytest.raises(RunError, match=r"diverged at step 1: site 'z' of [qp].*gradient"):
        fit(Corner(), digits(), _config(objective=objective))


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def press(step: int, record: dict[str, Any] | None) -> None:
        if step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    run = RunFolder.create(tmp_path / "run")
    result = fit(model(), digits(), _config(steps=8), run, on_step=press)
    assert (result.stopped_because, result.steps) == ("interrupted", 3)
    assert f"unknot fit --resume {run.path}" in capsys.readouterr().err
    resumed, unbroken = model(), model()
    assert fit(resumed, digits(), _config(steps=8), run).stopped_because == "finished"
    fit(unbroken, digits(), _config(steps=8))
    for one, other in zip(resumed.parameters(), unbroken.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_finished_run_is_not_trained_again_but_can_go_on_longer(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", {"data": "digits"})
    first = model()
    fit(first, digits(), _config(), run)
    again = model(seed=1)
    result = fit(again, digits(), _config(), run, on_step=lambda step, record: pytest.fail("trained again"))
    assert result.steps == 6
    assert [r["step"] for r in result.history] == [2, 4, 6]
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert fit(again, digits(), _config(steps=9), run).steps == 9
    lines = [json.loads(line)["step"] for line in run.metrics.read_text().splitlines()]
    assert lines == [2, 4, 6, 8, 9]
    assert run.config["data"] == "digits"
    assert run.config["train"]["steps"] == 9


def test_a_run_refuses_other_settings_and_other_labels(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    fit(model(), digits(), _config(), run)
    with pytest.raises(RunError, match="trained with batch_size = 32, now it is 16"):
        fit(model(), digits(), _config(batch_size=16), run)
    with pytest.raises(RunError, match="visible labels differ"):
        fit(model(), digits(labels=50), _config(steps=9), run)
    with pytest.raises(RunError, match="does not fit this model"):
        fit(model(hidden=16), digits(), _config(steps=9), run)


def test_references_are_for_objectives_that_estimate_the_marginal() -> None:
    spec = {
        "nodes": {
            "z": {"family": "normal", "size": 2, "inferred_from": ["x"]},
            "x": {"family": "bernoulli", "parents": ["z"]},
        }
    }
    priced = {"name": "hfvae", "beta": 4.0}
    started = {"steps": 1, "objective": {"name": "vae"}}  # a stage that takes none goes without
    trained = GraphicalModel(spec, (1, 8, 8))
    config = TrainConfig(
        steps=3, batch_size=20, references=40, objective=priced, stages=(started,), progress=False
    )
    assert fit(trained, digits(), config).steps == 3
    for objective, one in (({"name": "vae"}, trained), (priced, model(independent=True))):
        with pytest.raises(SpecError, match="references are for objectives"):
            fit(one, digits(), replace(config, objective=objective))
    with pytest.raises(SpecError, match="leave one of the two out"):
        replace(config, labeled_share=0.5).refuse_wrong_settings()


def test_bad_input_is_refused_in_one_sentence() -> None:
    with pytest.raises(SpecError, match="batch_size 4000 is more than the 1437 items"):
        fit(model(), digits(), _config(batch_size=4000))
    with pytest.raises(DataError, match="no items"):
        fit(model(), digits().subset([]), _config())
    with pytest.raises(SpecError, match="Linear has no temperature to set"):
        fit(torch.nn.Linear(1, 1), digits(), _config(temperature=0.5))


@pytest.mark.parametrize("told", ["", [], -1, None, 1.5])
def test_a_forged_length_of_the_log_costs_the_log_and_not_the_run(told: object) -> None:
    assert _log_offset(Checkpoint(1, {}, {"metrics_bytes": told})) == 0
    assert _log_offset(Checkpoint(1, {}, {"metrics_bytes": 7})) == 7
