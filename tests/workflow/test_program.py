"""Programs of one's own through the same doors: fit, resume, evaluate, predict, sample, report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.cli.running import refused, run
from unknot.errors import SpecError
from unknot.workflow import pictures
from unknot.workflow.model_source import load_program
from unknot.workflow.nested import Nested
from unknot.workflow.trained_model import TrainedModel

PROGRAM = '''
"""A class and a style, written by hand."""

import torch
from torch import nn
from torch.nn.functional import softplus

import unknot


class Pair(nn.Module):
    def __init__(self, style: int = 2) -> None:
        super().__init__()
        self.see = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU())
        self.kind = nn.Linear(32, 10)
        self.style = nn.Linear(42, 2 * style)
        self.draw = nn.Linear(10 + style, 64)
        self.size = style

    def encode(self, x, labels=None):
        q = unknot.Trace()
        h = self.see(x)
        known = unknot.partial(labels["digit"]) if labels else None
        y = q.concrete(self.kind(h), 0.66, value=known, name="digit")
        loc, raw = self.style(unknot.cat([h, y])).chunk(2, -1)
        q.normal(loc, softplus(raw) + 1e-3, name="style")
        return q

    def decode(self, x, q):
        p = unknot.Trace()
        y = p.concrete(torch.zeros(10), 0.66, value=q["digit"], name="digit")
        z = p.normal(torch.zeros(self.size), 1.0, value=q["style"], name="style")
        pixels = self.draw(unknot.cat([y, z])).unflatten(-1, (1, 8, 8))
        p.bernoulli(logits=pixels, value=x, name="image", gradient="score_function", event_dims=3)
        return p


class Forgetful(Pair):
    def encode(self, x, labels=None):
        super().encode(x, labels)


class Bare(nn.Module):
    """The least that a program can be: it takes no labels and has no further methods."""

    def __init__(self) -> None:
        super().__init__()
        self.code = nn.Linear(64, 4)
        self.kind = nn.Linear(64, 10)
        self.draw = nn.Linear(12, 64)

    def encode(self, x):
        q = unknot.Trace()
        q.categorical(logits=self.kind(x.flatten(1)), name="digit", gradient="enumerate")
        loc, raw = self.code(x.flatten(1)).chunk(2, -1)
        q.normal(loc, softplus(raw) + 1e-3, name="style")
        return q

    def decode(self, x, q):
        p = unknot.Trace()
        y = p.categorical(logits=torch.zeros(10), value=q["digit"], name="digit")
        z = p.normal(torch.zeros(2), 1.0, value=q["style"], name="style")
        mean = self.draw(unknot.cat([nn.functional.one_hot(y, 10).float(), z])).unflatten(-1, (1, 8, 8))
        p.normal(mean, 1.0, value=x, name="image", event_dims=3)
        return p


class Full(Bare):
    """Every optional method of a program, each of which leaves its mark."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(3))

    def prepare(self, data):
        self.calls[0] = len(data)

    def finalize(self):
        self.calls[1] += 1

    def set_temperature(self, value):
        self.calls[2] = value

    def predictions(self, q):
        return {"digit": torch.eye(10)[torch.full((len(q["digit"].value),), 7)]}

    def not_applicable(self, predictions):
        return {"digit": torch.arange(len(predictions["digit"])) == 1}

    def expected_data(self, q):
        return torch.full((4, 1, 8, 8), 0.25)

    def parts(self, q):
        return torch.zeros(len(q["digit"].value), 2, 1, 8, 8)

    def boxes(self, q):
        return torch.zeros(len(q["digit"].value), 1, 3), ["digit"]


class Half(nn.Module):
    def encode(self, x, labels=None):
        return unknot.Trace()
'''
SPEC = """
data: {name: digits}
labels: {budget: {digit: 100}}
model: {program: "mine.py:Pair", arguments: {style: 3}}
train: {steps: 6, batch_size: 50, checkpoint_every: 3, progress: false}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(PROGRAM)
    (tmp_path / "spec.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_door_opens(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fit", "spec.yaml", "--run", "out")[0] == 0
    (folder / "mine.py").unlink()  # the run keeps the program it was made with
    code, said, _ = run(capsys, "evaluate", "out", "--json")
    assert code == 0
    assert json.loads(said)[0]["factor"] == "digit"
    np.savez(folder / "new.npz", x=np.zeros((5, 8, 8), np.uint8))
    assert run(capsys, "predict", "out", "new.npz", "-o", "table.csv")[0] == 0
    assert (folder / "table.csv").read_text().startswith("row,digit,digit probability")
    assert run(capsys, "sample", "out", "-n", "4", "--set", "digit=3", "-o", "threes.npz")[0] == 0
    assert np.load("threes.npz")["x"].shape == (4, 1, 8, 8)
    assert run(capsys, "report", "out")[0] == 0
    page = (folder / "out" / "report.html").read_text()
    for title in ("Confusion: digit", "Analogies: digit", "Traversals of style"):
        assert title in page


def program(name: str) -> tuple[str, ...]:
    return ("--set", f"model.program=mine.py:{name}", "--set", "model.arguments={}")


def test_an_encoder_and_a_decoder_are_enough(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a batch of as many items as there are classes, and labels that the encoder does not take."""
    settings = (*program("Bare"), "--set", "train.batch_size=10", "--set", "train.objective=elbo")
    assert run(capsys, "fit", "spec.yaml", "--run", "out", *settings)[0] == 0
    np.savez(folder / "new.npz", x=np.zeros((10, 8, 8), np.uint8))
    assert run(capsys, "predict", "out", "new.npz", "-o", "table.csv")[0] == 0
    assert run(capsys, "evaluate", "out")[0] == 0
    for count in ("2", "10"):  # also as many as the style has numbers, or as there are classes
        assert run(capsys, "sample", "out", "-n", count, "-o", f"{count}.npz")[0] == 0
        assert np.load(f"{count}.npz")["x"].shape == (int(count), 1, 8, 8)
    assert run(capsys, "report", "out")[0] == 0
    assert "Traversals of style" in (folder / "out" / "report.html").read_text()


def test_every_optional_method_is_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = (*program("Full"), "--set", "train.objective=elbo", "--set", "train.temperature=0.5")
    assert run(capsys, "fit", "spec.yaml", "--run", "out", *settings)[0] == 0
    model = TrainedModel.load("out")
    assert model.module.calls.tolist() == [1437, 1, 0.5]  # type: ignore[union-attr]
    np.savez(folder / "new.npz", x=np.zeros((3, 8, 8), np.uint8))
    assert run(capsys, "predict", "out", "new.npz", "-o", "table.csv")[0] == 0
    rows = [line.split(",")[1:] for line in (folder / "table.csv").read_text().splitlines()[1:]]
    assert rows == [["7", "1.0000"], ["", ""], ["7", "1.0000"]]
    assert model.sample(4).unique().tolist() == [0.25]
    x = torch.zeros(5, 1, 8, 8)
    found = pictures.parts(model, x)
    assert found is not None
    assert found.shape == (2, 5, 1, 8, 8)
    places = pictures.boxes(model, x)
    assert places is not None
    assert places[1] == [["7"]] * 5


def test_a_program_without_decode_mean_can_be_nested(folder: Path) -> None:
    inner = Nested(load_program(folder / "mine.py", "Bare", {}))
    q = inner.encode(torch.rand(4, 1, 8, 8))
    p, mean = inner.decode_mean(q)
    assert list(p) == ["digit", "style"]
    assert mean.shape == (10, 1, 4, 1, 8, 8)  # every class
    assert not any(weight.requires_grad for weight in inner.parameters())


def test_a_run_goes_on_to_the_same_weights(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fit", "spec.yaml", "--run", "whole")[0] == 0
    assert run(capsys, "fit", "spec.yaml", "--set", "train.steps=3", "--run", "parts")[0] == 0
    assert run(capsys, "fit", "--resume", "parts", "--set", "train.steps=6")[0] == 0
    one, two = TrainedModel.load("whole").module.state_dict(), TrainedModel.load("parts").module.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_it_is_saved_and_loaded_with_its_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fit", "spec.yaml", "--run", "out")[0] == 0
    model = TrainedModel.load("out")
    model.save(folder / "kept")
    again, x = TrainedModel.load(folder / "kept"), torch.rand(3, 1, 8, 8)
    assert torch.equal(model.predict(x).predictions["digit"], again.predict(x).predictions["digit"])
    assert model.vary(x, "digit", torch.arange(10)).shape == (3, 10, 1, 8, 8)
    assert model.reconstruct(x).shape == x.shape
    assert [node.name for node in model.labeled] == ["digit"]
    assert "digit: concrete, 10 classes, takes labels" in model.describe()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("mine.py:Pear", "no class 'Pear'.*did you mean 'Pair'"),
        ("mine.py:Half", "Half in .* has no method decode"),
        ("mine.py:Forgetful", "encode.* to return its unknot.Trace, but it returned a NoneType"),
        ("absent.py:Pair", "cannot read the program"),
        ("mine.py", "program is FILE.py:CLASS"),
    ],
)
def test_what_is_no_program_is_refused(
    said: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    told = refused(
        capsys, "fit", "spec.yaml", "--set", f"model.program={said}", "--set", "model.arguments={}"
    )
    assert re.search(message, told)


def test_a_program_that_fails_says_where(folder: Path) -> None:
    (folder / "broken.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(SpecError, match=r"broken\.py fails: ModuleNotFoundError"):
        load_program(folder / "broken.py", "Pair", {})
    with pytest.raises(SpecError, match="cannot be made with"):
        load_program(folder / "mine.py", "Pair", {"stile": 2})
