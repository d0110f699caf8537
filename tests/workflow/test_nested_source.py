"""A program that nests a trained model, through fit, resume, save and load; the nested model's folder may go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.cli.running import refused, run
from tests.workflow.models import untrained
from tests.workflow.test_nested import NODES
from unknot.errors import RunError, SpecError
from unknot.workflow.model_source import Programmed, read_source
from unknot.workflow.nested_source import FOLDER, with_paths
from unknot.workflow.trained_model import TrainedModel

PROGRAM = '''
"""A digit that is moved up or down in brightness, which a trained model of digits reads and draws."""

import torch
from torch import nn

import unknot


class Lit(nn.Module):
    def __init__(self, digit, start: float = 0.0):
        super().__init__()
        self.digit = digit
        self.light = nn.Linear(64, 1)
        nn.init.constant_(self.light.bias, start)

    def encode(self, x, labels=None):
        q = unknot.Trace()
        light = q.normal(self.light(x.flatten(1)), 0.1, name="light")
        q.include(self.digit.encode(x * light.sigmoid()[..., None, None], labels), "shown")
        return q

    def decode(self, x, q):
        p = unknot.Trace()
        light = p.normal(torch.zeros(1), 1.0, value=q["light"], name="light")
        inner, image = self.digit.decode_mean(q.under("shown"))
        p.include(inner, "shown")
        bright = image * light.sigmoid()[..., None, None]
        p.bernoulli(probs=bright, value=x, name="image", gradient="score_function", event_dims=3)
        return p

    def predictions(self, q):
        return {"digit": q["shown.digit"].dist.probs}
'''
SPEC = """
data: {name: digits}
labels: {digit: 100}
model: {program: "mine.py:Lit", arguments: {start: 1.5}, nested: {digit: models/digit}}
train: {steps: 4, batch_size: 50, checkpoint_every: 2, progress: false, learning_rate: 0.01}
"""
LEARNING = "model.nested={digit: {path: models/digit, frozen: false}}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(PROGRAM)
    (tmp_path / "spec.yaml").write_text(SPEC)
    torch.manual_seed(0)
    untrained(NODES, (1, 8, 8)).save(tmp_path / "models" / "digit")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def inner(model: TrainedModel) -> dict[str, Tensor]:
    """The weights of the nested model, by their own names."""
    start = "digit.module."
    return {n.removeprefix(start): w for n, w in model.module.state_dict().items() if n.startswith(start)}


def same(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


def test_a_frozen_model_is_kept_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = TrainedModel.load("models/digit").module.state_dict()
    assert run(capsys, "fit", "spec.yaml", "--run", "out")[0] == 0
    model = TrainedModel.load("out")
    assert same(inner(model), dict(alone))
    assert not torch.equal(model.module.light.bias, torch.tensor([1.5]))  # the program around it has learned


def test_its_folder_is_not_needed_after(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fit", "spec.yaml", "--set", LEARNING, "--run", "whole")[0] == 0
    assert (
        run(capsys, "fit", "spec.yaml", "--set", LEARNING, "--set", "train.steps=2", "--run", "parts")[0] == 0
    )
    alone = TrainedModel.load("models/digit").module.state_dict()
    shutil.rmtree(folder / "models")
    (folder / "mine.py").unlink()
    assert run(capsys, "fit", "--resume", "parts", "--set", "train.steps=4")[0] == 0
    whole, parts = TrainedModel.load("whole"), TrainedModel.load("parts")
    assert same(dict(whole.module.state_dict()), dict(parts.module.state_dict()))
    assert not same(inner(whole), dict(alone))  # it has learned too
    assert run(capsys, "evaluate", "whole")[0] == 0
    whole.save(folder / "kept")
    whole.save(folder / "kept")  # over itself
    shutil.rmtree(folder / "whole")
    again = TrainedModel.load(folder / "kept")
    assert same(dict(whole.module.state_dict()), dict(again.module.state_dict()))
    assert same(dict(TrainedModel.load(folder / "kept" / FOLDER / "digit").module.state_dict()), dict(alone))
    assert all(weight.requires_grad for weight in again.module.digit.parameters())


def test_a_run_without_a_checkpoint_starts_from_its_own_copy(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "fit", "spec.yaml", "--run", "whole")[0] == 0
    shutil.copytree("whole", "killed")
    shutil.rmtree("killed/checkpoints")
    (folder / "killed" / "metrics.jsonl").unlink()
    shutil.rmtree(folder / "models")
    assert run(capsys, "fit", "--resume", "killed")[0] == 0
    one, two = TrainedModel.load("whole").module.state_dict(), TrainedModel.load("killed").module.state_dict()
    assert same(dict(one), dict(two))


def test_a_program_with_a_nested_model_is_nested_like_any_other(folder: Path) -> None:
    source = read_source({"program": "mine.py:Lit", "nested": {"digit": "models/digit"}}, folder)
    assert isinstance(source, Programmed)
    described = source.to_dict()["nested"]
    assert described == {"digit": {"path": "nested/digit", "frozen": True}}
    assert {"program.py", "nested/digit/model.json", "nested/digit/model.safetensors"} == set(source.files())
    one, two = source.build(torch.Size((1, 8, 8))), source.build(torch.Size((1, 8, 8)))
    assert one.digit is not two.digit  # every build has weights of its own


def test_paths_are_placed() -> None:
    model = {"program": "a.py:A", "nested": {"digit": "runs/d", "face": {"path": "f", "frozen": False}}}
    placed = with_paths(model, lambda one: Path("/there") / one)
    assert placed == {
        "program": "/there/a.py:A",
        "nested": {
            "digit": {"path": "/there/runs/d", "frozen": True},
            "face": {"path": "/there/f", "frozen": False},
        },
    }
    assert with_paths({"style": 3}, Path) == {"style": 3}


def test_mistakes_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = {"program": "mine.py:Lit", "arguments": {"digit": 1}, "nested": {"digit": "models/digit"}}
    with pytest.raises(SpecError, match="'digit' is both an argument of the program and a nested model"):
        read_source(twice, folder)
    with pytest.raises(RunError, match="models/none holds no model"):
        read_source({"program": "mine.py:Lit", "nested": {"digit": "models/none"}}, folder)
    with pytest.raises(SpecError, match="cannot be made with"):
        read_source({"program": "mine.py:Lit", "nested": {"digits": "models/digit"}}, folder).build(
            torch.Size((1, 8, 8))
        )
    said = refused(capsys, "fit", "spec.yaml", "--set", "model.nested={digit: {frozen: true}}")
    assert "path" in said
