"""Trained from a file, a model is bit for bit the one that is trained from memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from unknot.workflow.evaluation import evaluate
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import open_run, train_recipe

TRAIN = {"steps": 6, "batch_size": 8, "progress": False, "checkpoint_every": 3, "seed": 3}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))


def pictures(folder: Path) -> Path:
    draw = np.random.default_rng(0)
    for i in range(40):
        path = folder / "pictures" / "ab"[i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(draw.integers(0, 120 + 100 * (i % 2), (8, 8, 3), dtype=np.uint8)).save(path)
    return folder / "pictures"


def numbers(folder: Path) -> Path:
    draw = np.random.default_rng(0)
    np.savez(folder / "numbers.npz", x=draw.normal(size=(40, 6)), label=np.arange(40) % 2)
    return folder / "numbers.npz"


def table(folder: Path) -> Path:
    lines = [f"{(i * 7) % 11 / 3},{'xyz'[i % 3]},{i % 2}" for i in range(40)]
    (folder / "table.csv").write_text("number,word,label\n" + "\n".join(lines) + "\n")
    return folder / "table.csv"


@pytest.mark.parametrize("make", [pictures, numbers, table])
def test_the_same_weights_and_scores(make: Any, tmp_path: Path) -> None:
    path = make(tmp_path)
    found = []
    for mapped in (False, True):
        data = {"file": str(path), "test_share": 0.25, "mapped": mapped, "factors": ["label"]}
        model = {"kind": "class_style", "style": 2, "width": 8}
        recipe = Recipe.from_dict({"data": data, "model": model, "train": TRAIN})
        trained, _ = train_recipe(recipe, tmp_path / f"run-{mapped}")
        assert isinstance(trained.train.x, torch.Tensor) != mapped
        assert trained.test is not None
        found.append((trained.model.module.state_dict(), evaluate(trained.model, trained.test)))
        again = open_run(tmp_path / f"run-{mapped}")
        assert again.train.fingerprint() == trained.train.fingerprint()
    assert found[0][1] == found[1][1]
    for name, tensor in found[0][0].items():
        assert torch.equal(tensor, found[1][0][name]), name
