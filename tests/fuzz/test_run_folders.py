"""Damaged run folders and models: every file truncated, altered, forged, removed or replaced; then used."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import strategies as st

from tests.fuzz.outcomes import answered, fuzz
from unknot.seal import open_sealed_json, sealed_json
from unknot.workflow.model_file import load_model
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import open_run, resume, train_recipe

RECIPE = Recipe(
    {"name": "digits"},
    {"budget": {"digit": 20}},
    {"kind": "class_style", "style": 2, "width": 8},
    {
        "steps": 4,
        "batch_size": 50,
        "checkpoint_every": 2,
        "log_every": 1,
        "progress": False,
        "average_weights": 0.9,
        "cross_fit": 0,  # a thousand folders are resumed; predictions for hidden labels are no part of a resume
    },
)
FILES = [
    "run.json",
    "config.yaml",
    "label_budget.json",
    "model.json",
    "metrics.jsonl",
    *[
        f"checkpoints/step-00000000{step}/{name}"
        for step in (2, 4)
        for name in ("state.json", "tensors.safetensors")
    ],
]
VALUES: list[Any] = [None, True, -1, 0, 10**12, 1.5, "", "x", [], [1], {}, {"a": 1}]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    """A whole run, and its weights."""
    trained, _ = train_recipe(RECIPE, tmp_path_factory.mktemp("fuzz") / "run")
    return trained.run.path, trained.model.module.state_dict()


def _truncated(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def _altered(path: Path, share: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(share * (len(content) - 1))] ^= 1 + int(254 * share)
    path.write_bytes(bytes(content))


def _removed(path: Path, share: float) -> None:
    path.unlink()


def _folder(path: Path, share: float) -> None:
    path.unlink()
    path.mkdir()


def _noise(path: Path, share: float) -> None:
    path.write_bytes(os.urandom(int(200 * share)))


def _forged(path: Path, share: float) -> None:
    """A table with a value replaced, sealed as if it were ours."""
    if path.suffix != ".json":
        return _altered(path, share)
    content = open_sealed_json(path.read_bytes())
    key = list(content)[int(share * (len(content) - 1))]
    content[key] = VALUES[int(share * 1000) % len(VALUES)]
    path.write_bytes(sealed_json(content) if share > 0.3 else json.dumps(content).encode())
    return None


DAMAGES = [_truncated, _altered, _removed, _folder, _noise, _forged]
cases_of_damage = st.lists(
    st.tuples(st.sampled_from(FILES), st.sampled_from(DAMAGES), st.floats(0, 1)),
    min_size=1,
    max_size=2,
    unique_by=lambda one: one[0],
)


@pytest.mark.parametrize("cases", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_damaged_runs(cases: int, run: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path) -> None:
    whole, weights = run

    def body(damages: list[tuple[str, Any, float]]) -> None:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole, copy, ignore=shutil.ignore_patterns("tensorboard"))
        for name, damage, share in damages:
            if (copy / name).is_file():
                damage(copy / name, share)
        answered(lambda: load_model(copy))
        answered(lambda: open_run(copy))
        forged = any(damage is _forged for _, damage, _ in damages)
        done: list[Any] = []
        refused = answered(lambda: done.append(resume(copy, {}, None)))
        if refused is None and not forged:  # it went on: to the same weights, or it would have said so
            found = done[0][0].model.module.state_dict()
            assert all(torch.equal(tensor, found[name]) for name, tensor in weights.items())

    fuzz(cases, cases_of_damage, body)
