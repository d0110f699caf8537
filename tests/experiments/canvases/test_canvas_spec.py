"""The spec of canvases with a nested model of digits: every command runs with it, as its head says."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import run
from tests.test_examples import EXAMPLES, SHORT, canvases
from unknot.data import load
from unknot.data.sets.multi_mnist import make_multi_mnist

SPECS = Path(__file__).parent.parent.parent.parent / "experiments" / "canvases"


def nested_digit(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Settings that nest a model of single digits, which is trained for a moment."""
    digits = (
        "--set",
        "data.name=digits",
        "--set",
        "model.nodes.style.size=2",
        *SHORT,
        "--run",
        folder / "digit",
    )
    assert run(capsys, "fit", EXAMPLES / "class_and_style.yaml", *digits)[0] == 0
    return ["--set", f"model.nested.digit={folder / 'digit'}", "--set", "train.stages=[]"]


def test_a_program_with_a_nested_model_goes_through_every_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = canvases(tmp_path / "canvases.npz", monkeypatch)
    nested = nested_digit(tmp_path, capsys)
    assert run(capsys, "fit", SPECS / "canvas.yaml", data, *nested, *SHORT, "--run", "out")[0] == 0
    (tmp_path / "digit").rename(tmp_path / "elsewhere")  # the run has its own copy
    assert run(capsys, "fit", "--resume", "out", "--set", "train.steps=3")[0] == 0
    code, said, _ = run(capsys, "evaluate", "out")
    assert code == 0
    assert all(name in said for name in ("count", "digit_1", "digit_3"))  # narrow tables cut the last name
    assert run(capsys, "predict", "out", data, "-o", "table.csv")[0] == 0
    table = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert {"count", "digit_1", "place_1[0]", "digit_3", "place_3[2]"} <= set(table[0])
    for row in table:  # nothing is said of digits beyond the count
        assert [row[f"digit_{k}"] != "" for k in (1, 2, 3)] == [k <= int(row["count"]) for k in (1, 2, 3)]


def test_the_things_own_images_are_labels_for_a_spec_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """S17 sec. 3.3: labels for the constituent images, here of every third canvas."""
    monkeypatch.chdir(tmp_path)
    source = load("digits")
    made = make_multi_mnist(source.x, source.factor("digit").values, n=60, canvas=20, with_images=True)
    columns = {name: factor.values.numpy().copy() for name, factor in made.factors.items()}
    for name in ("image_1", "image_2", "image_3"):
        columns[name][np.arange(60) % 3 > 0] = np.nan
    np.savez("canvases.npz", x=made.x.numpy(), **columns)
    nested = nested_digit(tmp_path, capsys)
    code, said, _ = run(capsys, "fit", SPECS / "canvas.yaml", "canvases.npz", *nested, *SHORT, "--run", "out")
    assert code == 0
    assert "Label image_1: numbers, known for 20 of 60." in said
    assert "classifier" in (tmp_path / "out" / "metrics.jsonl").read_text()


def test_the_commands_at_the_head_of_the_spec_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SPECS, "experiments/canvases")
    text = (SPECS / "canvas.yaml").read_text()
    commands = [
        line.removeprefix("#   ").split() for line in text.splitlines() if line.startswith("#   python")
    ]
    assert [command[3] for command in commands if command[1] == "-m"] == ["fit", "fit", "predict", "report"]
    for _, *words in commands:
        if words[0] != "-m":
            assert words[0] == "examples/multi_digit.py"
            canvases(tmp_path / words[-1], monkeypatch)
            continue
        short = SHORT if words[2] == "fit" else ()
        stages = ("--set", "train.stages=[]") if "experiments/canvases/canvas.yaml" in words else ()
        assert run(capsys, *words[2:], *short, *stages)[0] == 0
    assert (tmp_path / "found.csv").exists()


@pytest.mark.slow
def test_a_program_with_a_nested_model_has_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = canvases(tmp_path / "canvases.npz", monkeypatch)
    nested = nested_digit(tmp_path, capsys)
    assert run(capsys, "fit", SPECS / "canvas.yaml", data, *nested, *SHORT, "--run", "out")[0] == 0
    assert run(capsys, "report", "out")[0] == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Confusion: count" in page
    assert "Parts" in page
