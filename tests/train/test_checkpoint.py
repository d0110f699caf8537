"""Checkpoints: they come back as they were, or are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from tests.train.programs import digits, model, plain_elbo
from unknot.errors import RunError
from unknot.seal import open_sealed_json, sealed_json
from unknot.train.checkpoint import (
    Checkpoint,
    latest,
    latest_step,
    pack_optimizer,
    read,
    save,
    under,
    unpack_optimizer,
)


def _checkpoint(step: int, size: int = 8) -> Checkpoint:
    tensors = {"model.w": torch.full((size,), float(step)), "random.cpu": torch.get_rng_state()}
    return Checkpoint(step, tensors, {"seconds": 1.5})


def test_the_newest_are_kept(tmp_path: Path) -> None:
    assert latest(tmp_path) is None
    assert latest_step(tmp_path) is None
    for step in (9, 10, 100):
        save(tmp_path, _checkpoint(step), keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000000010", "step-000000100"]
    assert latest_step(tmp_path) == 100


def test_parts_are_put_under_a_prefix_and_taken_out() -> None:
    tensors = {"a": torch.zeros(1), "b.c": torch.ones(1)}
    made = Checkpoint(1, {**under("model", tensors), "models.a": torch.ones(1)}, {})
    assert made.part("model") == tensors


@pytest.mark.parametrize("name", ["tensors.safetensors", "state.json"])
@pytest.mark.parametrize("damage", ["truncated", "altered", "missing"])
def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path, name: str, damage: str) -> None:
    save(tmp_path, _checkpoint(1))
    save(tmp_path, _checkpoint(2))
    _damage(tmp_path / "step-000000002" / name, damage)
    with pytest.warns(UserWarning, match=r"step-000000002 is damaged .*; going back to step-000000001"):
        made = latest(tmp_path)
    assert made is not None
    assert made.step == 1
    _damage(tmp_path / "step-000000001" / name, damage)
    with pytest.raises(RunError, match=r"no checkpoint .* can be used: step-000000002 is damaged"):
        latest(tmp_path)
    shutil.rmtree(tmp_path / "step-000000001")
    save(tmp_path, _checkpoint(2))  # takes the damaged one's place
    made = latest(tmp_path)
    assert made is not None
    assert made.step == 2


def _damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.write_bytes(b"#" + content[1:-1] + b"#")


def test_weights_that_are_not_finite_are_never_saved(tmp_path: Path) -> None:
    save(tmp_path, _checkpoint(1))
    with pytest.raises(RunError, match="weight 'w' is not finite"):
        save(tmp_path, Checkpoint(2, {"model.w": torch.tensor([1.0, float("nan")])}, {}))
    made = latest(tmp_path)
    assert made is not None
    assert made.step == 1


def test_tied_weights_can_be_saved(tmp_path: Path) -> None:
    weight = torch.arange(6.0).reshape(2, 3)
    save(tmp_path, Checkpoint(1, {"model.a": weight, "model.b": weight, "model.t": weight.T}, {}))
    made = latest(tmp_path)
    assert made is not None
    assert torch.equal(made.tensors["model.t"], weight.T)


def test_another_format_is_named(tmp_path: Path) -> None:
    save(tmp_path, _checkpoint(3))
    state = tmp_path / "step-000000003" / "state.json"
    state.write_bytes(sealed_json({**open_sealed_json(state.read_bytes()), "format": 99}))
    with pytest.raises(RunError, match="step-000000003 has format 99, this version of Unknot reads format 1"):
        read(state.parent)


@pytest.mark.parametrize("key", ["step", "seconds"])
def test_a_state_that_was_changed_shows(tmp_path: Path, key: str) -> None:
    save(tmp_path, _checkpoint(3))
    state = tmp_path / "step-000000003" / "state.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), key: 10**12}))
    with pytest.raises(RunError, match=r"step-000000003 is damaged .*not as it was written"):
        read(state.parent)


def test_a_checkpoint_under_another_steps_name_is_refused(tmp_path: Path) -> None:
    save(tmp_path, _checkpoint(3))
    (tmp_path / "step-000000003").rename(tmp_path / "step-000000900")
    with pytest.raises(RunError, match="says that it is of step 3"):
        latest(tmp_path)


@pytest.mark.parametrize(
    "forged",
    [
        {"0.exp_avg": torch.zeros(1)},
        {"0.step": torch.zeros(3)},
        {"0.exp_avg_sq": torch.zeros(4, 3, dtype=torch.int64)},
        {"99.step": torch.zeros(())},
        {"x.step": torch.zeros(())},
        {"0.max_exp_avg_sq": torch.zeros(4, 3)},
    ],
)
def test_an_optimisers_tensors_are_compared_with_the_parameters(forged: dict[str, torch.Tensor]) -> None:
    """Fused Adam would read beyond the end of a tensor that is too small."""
    layer = torch.nn.Linear(3, 4)
    optimizer = torch.optim.Adam(layer.parameters(), fused=True)
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    good = pack_optimizer(optimizer)
    unpack_optimizer(optimizer, good)
    with pytest.raises(ValueError, match="the optimizer"):
        unpack_optimizer(optimizer, {**good, **forged})
    with pytest.raises(ValueError, match="parameter 0 is not complete"):
        unpack_optimizer(optimizer, {name: t for name, t in good.items() if name != "0.step"})


def test_an_optimiser_goes_on_where_it_was(tmp_path: Path) -> None:
    """Three steps at once, and two with a file before the third: the same weights, bit for bit."""

    def optimized(
        steps: int, start: Checkpoint | None = None
    ) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
        trained = model()
        optimizer = torch.optim.Adam(trained.parameters(), fused=True)
        if start is not None:
            trained.load_state_dict(start.part("model"))
            unpack_optimizer(optimizer, start.part("optimizer"))
        for step in range(0 if start is None else start.step, steps):
            torch.manual_seed(step)
            loss = plain_elbo(*trained(digits().batch(range(step, step + 8)))).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return trained, optimizer

    half, optimizer = optimized(2)
    tensors = {**under("model", half.state_dict()), **under("optimizer", pack_optimizer(optimizer))}
    save(tmp_path, Checkpoint(2, tensors, {}))
    whole, _ = optimized(3)
    resumed, _ = optimized(3, latest(tmp_path))
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), resumed.parameters(), strict=True))
