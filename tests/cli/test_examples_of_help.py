"""Every example in the help of a command runs."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.cells import small_cells
from tests.cli.running import csv_file, digits, run
from unknot.cli import COMMANDS

ELSEWHERE = {"data", "demo", "export", "explore"}  # downloads, or long; they have tests of their own
SPEC = """
data: {file: mine.npz}
model: {kind: class_style, style: 2, width: 16}
train: {steps: 3, batch_size: 60, device: cpu, objective: {name: semi_supervised, beta: 1}}
"""
QUICK = {
    "fit": ["--set", "train.steps=4"],
    "sweep": ["--set", "train.steps=3", "--seeds", "2", "--workers", "1"],
    "metrics": ["--jobs", "1"],
}


def examples() -> list[str]:
    """The lines of the commands' docstrings that call `unknot`, without what is said about them."""
    lines = []
    for name in COMMANDS.keys() - ELSEWHERE:
        text = importlib.import_module(f"unknot.cli.{name}").command.__doc__ or ""
        lines += [
            re.split(r"  +", line)[0] for line in re.findall(r"^        unknot (.*)", text, re.MULTILINE)
        ]
        lines += re.findall(r"`unknot (objectives[^`]*)`", text)
    return sorted(lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a run and a saved model with the names of the examples."""
    from PIL import Image

    from unknot.workflow.recipe import Recipe
    from unknot.workflow.run import train_recipe

    folder = tmp_path_factory.mktemp("help")
    images, classes = digits()
    shown = np.where(np.arange(240) % 2, classes[:240], -1)
    data = {"x": images[:240], "digit": shown, "x_test": images[240:], "digit_test": classes[240:]}
    np.savez(folder / "mine.npz", **data)
    for name in ("more.npz", "new.npz"):
        np.savez(folder / name, x=images[240:], digit=classes[240:])
    (folder / "spec.yaml").write_text(SPEC)
    table = csv_file(folder / "table.csv").read_text().replace("group", "kind")
    (folder / "wine.csv").write_text(table)
    wine = (folder / "wine.csv").read_text().splitlines()
    (folder / "cells.csv").write_text("\n".join([wine[0].replace("kind", "type"), *wine[1:]]))
    kinds = sorted({line.split(",")[wine[0].split(",").index("kind")] for line in wine[1:]} - {""})
    (folder / "types.yaml").write_text(yaml.safe_dump({"all": kinds}))
    votes = [",".join([line, *[kinds[i % 2]] * 2]) for i, line in enumerate(wine[1:])]
    (folder / "items.csv").write_text("\n".join([wine[0].replace("kind", "note") + ",ann,bob", *votes]))
    cells = small_cells()
    cells.obs["cell_type"] = cells.obs["kind"]
    cells.write_h5ad(folder / "cells.h5ad")
    for i in range(40):
        place = folder / "photographs" / ("odd" if classes[i] % 2 else "even") / f"{i}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(images[i]).save(place)
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (300, 2))
    np.savez(folder / "codes.npz", codes=factors + 0.1 * rng.normal(size=(300, 2)), factors=factors)
    trained, _ = train_recipe(Recipe.read(folder / "spec.yaml"), folder / "runs" / "mine-1")
    trained.model.save(folder / "model")
    return folder


def test_there_are_examples() -> None:
    assert len(examples()) > 15


@pytest.mark.parametrize("line", examples())
def test_an_example(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--ray 10." in line:
        pytest.skip("needs a cluster")
    monkeypatch.chdir(folder)
    words = shlex.split(line)
    code, _, err = run(capsys, *words, *QUICK.get(words[0], []))
    assert code == 0, err
