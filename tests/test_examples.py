"""Every example runs: the described models for a few steps on tiny data, the scripts as they are but shorter."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import unknot
from tests.cli.docstrings import write_docstrings
from tests.cli.running import run
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
        ("half_labeled_table", "missing values imputed, off by"),
        ("two_programs", '"r x" -> "r z"'),
        ("keep_the_style", "predicted as intended by the encoder"),
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
