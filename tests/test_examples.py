"""Every example runs: the described models for a few steps on tiny data, the scripts as they are but shorter."""

from __future__ import annotations

import ast
import csv
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import unknot
from tests.cli.docstrings import write_docstrings
from tests.cli.running import run
from unknot.data import load
from unknot.data.sets.multi_mnist import make_multi_mnist
from unknot.models import GraphicalModel
from unknot.workflow.recipe import Recipe

EXAMPLES = Path(__file__).parent.parent / "examples"
SPECS = sorted(EXAMPLES.glob("*.yaml"))
SHORT = ("--set", "train.steps=2", "--set", "train.batch_size=20")


def tiny_faces(path: Path) -> Path:
    rng = np.random.default_rng(0)
    light = rng.normal(size=(228, 3))
    np.savez(
        path,
        x=rng.integers(0, 256, (228, 1, 12, 10)).astype(np.uint8),
        identity=np.arange(228) % 38,
        light=light / np.linalg.norm(light, axis=1, keepdims=True),
    )
    return path


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_a_described_model_trains(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if spec.stem == "multi_digit":
        data: list[str | Path] = [canvases(tmp_path / "canvases.npz", monkeypatch)]
    elif spec.stem == "canvas":
        data = [canvases(tmp_path / "canvases.npz", monkeypatch), *nested_digit(tmp_path, capsys)]
    elif spec.stem == "faces":
        data = [tiny_faces(tmp_path / "faces.npz")]
    elif spec.stem == "prodlda":
        write_docstrings(tmp_path / "texts", 20)
        data = [tmp_path / "texts", "--set", "train.epochs=null"]
    else:
        data = ["--set", "data.name=digits"]
    code, out, err = run(capsys, "fit", spec, *data, *SHORT, "--run", "out")
    assert (code, err) == (0, "")
    assert "Trained 2 steps" in out


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


def canvases(path: Path, monkeypatch: pytest.MonkeyPatch, count: int = 300) -> Path:
    monkeypatch.setattr(sys, "argv", ["multi_digit.py", "--canvases", str(count), "--write", str(path)])
    runpy.run_path(str(EXAMPLES / "multi_digit.py"), run_name="__main__")
    return path


def test_a_program_goes_through_every_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = canvases(tmp_path / "canvases.npz", monkeypatch)
    assert run(capsys, "fit", EXAMPLES / "multi_digit.yaml", data, *SHORT, "--run", "out")[0] == 0
    assert run(capsys, "fit", "--resume", "out", "--set", "train.steps=3")[0] == 0
    code, said, _ = run(capsys, "evaluate", "out")
    assert code == 0
    assert "count" in said
    assert run(capsys, "predict", "out", data, "-o", "table.csv")[0] == 0
    assert (tmp_path / "table.csv").read_text().startswith("row,count,count probability,digit_1")
    assert run(capsys, "sample", "out", "-n", "4", "-o", "new.npz")[0] == 0
    assert np.load("new.npz")["x"].shape == (4, 1, 20, 20)
    assert run(capsys, "report", "out")[0] == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Confusion: count" in page
    assert "Reconstructions" in page
    assert "Parts" not in page


def test_a_program_with_a_nested_model_goes_through_every_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = canvases(tmp_path / "canvases.npz", monkeypatch)
    nested = nested_digit(tmp_path, capsys)
    assert run(capsys, "fit", EXAMPLES / "canvas.yaml", data, *nested, *SHORT, "--run", "out")[0] == 0
    (tmp_path / "digit").rename(tmp_path / "elsewhere")  # the run has its own copy
    assert run(capsys, "fit", "--resume", "out", "--set", "train.steps=3")[0] == 0
    code, said, _ = run(capsys, "evaluate", "out")
    assert code == 0
    assert all(name in said for name in ("count", "digit_1", "place_3"))
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
    code, said, _ = run(
        capsys, "fit", EXAMPLES / "canvas.yaml", "canvases.npz", *nested, *SHORT, "--run", "out"
    )
    assert code == 0
    assert "Label image_1: numbers, known for 20 of 60." in said
    assert "classifier" in (tmp_path / "out" / "metrics.jsonl").read_text()


def test_the_commands_at_the_head_of_the_canvas_example_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, "examples")
    text = ast.get_docstring(ast.parse((EXAMPLES / "canvas.py").read_text())) or ""
    commands = [line.split() for line in text.splitlines() if line.startswith("    ")]
    assert [command[0] for command in commands] == ["unknot", "python", "unknot", "unknot", "unknot"]
    for program, *words in commands:
        if program == "python":
            canvases(tmp_path / words[-1], monkeypatch)
        elif words[0] == "fit":
            short = [*SHORT, *(() if "digit.yaml" in words[1] else ("--set", "train.stages=[]"))]
            assert run(capsys, *words, *short)[0] == 0
        else:
            assert run(capsys, *words)[0] == 0
    assert (tmp_path / "found.csv").exists()


@pytest.mark.slow
def test_a_program_with_a_nested_model_has_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = canvases(tmp_path / "canvases.npz", monkeypatch)
    nested = nested_digit(tmp_path, capsys)
    assert run(capsys, "fit", EXAMPLES / "canvas.yaml", data, *nested, *SHORT, "--run", "out")[0] == 0
    assert run(capsys, "report", "out")[0] == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Confusion: count" in page
    assert "Parts" in page


@pytest.mark.parametrize("samples", [None, 1, 3])
def test_the_canvas_takes_any_number_of_samples(samples: int | None) -> None:
    import torch

    example = runpy.run_path(str(EXAMPLES / "multi_digit.py"))
    torch.manual_seed(0)
    model, batch = example["Canvas"](), example["scenes"](40).batch(range(8))
    q = model.encode(batch.x, batch.values, samples)
    p = model.decode(batch.x, q)
    unknot.check(q, p)
    terms = unknot.objectives.semi_supervised(q, p, alpha=10.0)
    assert terms.per_item.shape == (8,)
    terms.loss.backward()


def test_the_faces_have_the_papers_graph() -> None:
    """q(r | x) q(i | x) q(l | x) q(s | i, l), S17 Fig. 5."""
    import torch

    model = GraphicalModel(Recipe.read(EXAMPLES / "faces.yaml").model, (1, 12, 10))
    found = unknot.graph(model.encode, model.decode, torch.rand(3, 1, 12, 10))
    arrows = {(e.source, e.target) for e in found.edges if e.model == "recognition"}
    expected = {
        ("x", "rest"),
        ("x", "identity"),
        ("x", "light"),
        ("identity", "shading"),
        ("light", "shading"),
    }
    assert arrows == expected


def test_several_digits(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["multi_digit.py", "--steps", "3", "--canvases", "300"])
    runpy.run_path(str(EXAMPLES / "multi_digit.py"), run_name="__main__")
    assert "right count on 60 new canvases after 3 steps" in capsys.readouterr().out


@pytest.mark.slow
def test_own_data(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "own_data.py"), run_name="__main__")
    assert "(1, 10, 1, 8, 8)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("half_labeled_table", "holes filled, off by"),
        ("two_programs", '"r x" -> "r z"'),
        ("keep_the_style", "read as intended by the encoder"),
        ("pulled_apart", "infomec.modularity"),
    ],
)
@pytest.mark.filterwarnings("ignore::unknot.errors.TrainingWarning")  # three steps are too few
def test_a_script_says_what_it_is_for(
    script: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{script}.py", "3"])
    runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert says in capsys.readouterr().out
