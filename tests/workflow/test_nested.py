"""A trained model inside a program: the same numbers as on its own, frozen or learning, for any leading axes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal

import unknot
from benchmarks import canvas_step
from tests.cli.running import refused, run
from tests.workflow.models import untrained
from unknot.errors import RunError, SpecError
from unknot.models import node
from unknot.workflow.model_source import Programmed, read_source
from unknot.workflow.nested import FOLDER, Nested, with_paths
from unknot.workflow.trained_model import TrainedModel

NODES = [
    node("digit", "concrete", 10, inferred_from=["x"], labels=True),
    node("style", "normal", 3, inferred_from=["x", "digit"]),
    node("x", "bernoulli", parents=["digit", "style"]),
]
BATCH = 6


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    untrained(NODES, (1, 8, 8)).save(tmp_path / "digit")
    return tmp_path / "digit"


@pytest.fixture
def alone(saved: Path) -> nn.Module:
    from unknot.workflow.trained_model import TrainedModel

    return TrainedModel.load(saved).module


def both(digit: Nested, x: Tensor, turns: int = 2) -> tuple[unknot.Trace, unknot.Trace, list[Tensor]]:
    """A program that reads every item ``turns`` times."""
    q, p, images = unknot.Trace(), unknot.Trace(), []
    for k in range(turns):
        q.include(digit.encode(x), "turn", k)
        inner, image = digit.decode_mean(q.under("turn", k))
        p.include(inner, "turn", k)
        images.append(image)
    return q, p, images


def test_its_numbers_are_those_of_the_model_on_its_own(saved: Path, alone: nn.Module) -> None:
    x = torch.rand(BATCH, 1, 8, 8)
    q, p, images = both(unknot.nested(saved), x)
    unknot.check(q, p)
    assert list(p) == list(q) == [f"turn[{k}].{site}" for k in range(2) for site in ("digit", "style")]
    for k in range(2):
        own = alone.decode(x, q.under("turn", k))  # scores x too
        assert torch.equal(images[k], own["x"].dist.probs)
        for site in ("digit", "style"):
            assert torch.equal(p[f"turn[{k}].{site}"].log_prob, own[site].log_prob)


def test_densities_by_hand(saved: Path, alone: nn.Module) -> None:
    x = torch.rand(BATCH, 1, 8, 8)
    labels = torch.arange(BATCH)
    q = unknot.Trace()
    q.include(unknot.nested(saved).encode(x, {"digit": labels}), "turn", 0)
    h = alone.trunk(x)
    masses = alone.recognition["digit"].network(h).log_softmax(-1)
    assert torch.allclose(q["turn[0].digit"].log_prob, masses[torch.arange(BATCH), labels])
    standardized = (torch.eye(10)[labels] - 0.1) * 10 / 3
    loc, raw = alone.recognition["style"].network(torch.cat([h, standardized], -1)).chunk(2, -1)
    style = Normal(loc, nn.functional.softplus(raw) + 1e-3).log_prob(q["turn[0].style"].value).sum(-1)
    assert torch.allclose(q["turn[0].style"].log_prob, style, atol=1e-5)


@pytest.mark.parametrize("leading", [(3,), (4, 1), (4, 3)], ids=str)
def test_leading_axes_are_a_loop(leading: tuple[int, ...], saved: Path) -> None:
    """Crops (S, B, ...), or (K, S, B, ...) of a place that depends on an enumerated site."""
    digit, x = unknot.nested(saved), torch.rand(*leading, BATCH, 1, 8, 8)
    inner = digit.encode(x)
    p, image = digit.decode_mean(inner)
    assert p.log_prob().shape == inner.log_prob().shape == (*leading, BATCH)
    assert image.shape == x.shape
    flat = x.flatten(0, len(leading) - 1)
    for one, mean in zip(flat, inner["digit"].dist.logits.reshape(-1, BATCH, 10), strict=True):
        assert torch.allclose(digit.encode(one)["digit"].dist.logits, mean, atol=1e-5)


def test_items_without_samples_are_drawn_as_often_as_asked(saved: Path) -> None:
    q = unknot.Trace(samples=5)
    q.include(unknot.nested(saved).encode(torch.rand(BATCH, 1, 8, 8), samples=q.samples), "turn", 0)
    assert q["turn[0].style"].value.shape == (5, BATCH, 3)


@pytest.mark.parametrize("frozen", [True, False])
def test_gradient_reaches_the_crop_and_only_free_weights(frozen: bool, saved: Path) -> None:
    digit, x = unknot.nested(saved, frozen=frozen), torch.rand(BATCH, 1, 8, 8, requires_grad=True)
    q, p, images = both(digit, x)
    (p.log_prob() - q.log_prob() + sum(images).sum((-3, -2, -1))).sum().backward()
    assert x.grad is not None
    assert bool((x.grad != 0).any())
    assert all((weight.grad is None) is frozen for weight in digit.parameters())


def test_it_stays_in_evaluation_mode(saved: Path) -> None:
    program = nn.Sequential(unknot.nested(saved, frozen=False), nn.Dropout()).train()
    assert program[1].training
    assert not any(part.training for part in program[0].modules())


def test_a_canvas_of_nested_digits_is_the_step_by_hand() -> None:
    """Eq. 8 with a loop of random length, labels for half of the items: value and gradient of plain PyTorch."""
    torch.manual_seed(1)
    nets, (x, labels) = canvas_step.Networks(), canvas_step.batch()
    weights = [weight for weight in nets.parameters() if weight.requires_grad]
    found = []
    for loss in (canvas_step.traced, canvas_step.by_hand):
        torch.manual_seed(2)
        value = loss(nets, x, labels)
        found.append((value, torch.autograd.grad(value, weights)))
    torch.testing.assert_close(found[0][0], found[1][0])
    for one, two in zip(*(gradients for _, gradients in found), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-3)


def test_generation_draws_what_is_not_given(saved: Path) -> None:
    digit = unknot.nested(saved)
    p, image = digit.decode_mean(unknot.given(4, {"turn[0].digit": 7}).under("turn", 0))
    assert p["digit"].value.argmax(-1).tolist() == [7] * 4
    assert image.shape == (4, 1, 8, 8)


def test_what_has_no_expected_data_is_refused() -> None:
    with pytest.raises(SpecError, match=r"Linear cannot be nested: it has no method encode"):
        Nested(nn.Linear(2, 2))


def test_the_graph_goes_through_it(saved: Path) -> None:
    digit = unknot.nested(saved)

    def encode(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        place = q.normal(x.mean((1, 2, 3)), 1.0, name="place")
        q.include(digit.encode(x * place[:, None, None, None]), "digit", 0)
        return q

    def decode(x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        place = p.normal(torch.zeros(()), 1.0, value=q["place"], name="place")
        inner, image = digit.decode_mean(q.under("digit", 0))
        p.include(inner, "digit", 0)
        p.normal(image * place[:, None, None, None], 1.0, value=x, name="x")
        return p

    found = unknot.graph(encode, decode, torch.rand(3, 1, 8, 8))
    arrows = {(e.source, e.target) for e in found.edges if e.model == "recognition"}
    assert {("place", "digit[k].digit"), ("digit[k].digit", "digit[k].style")} <= arrows
    made = {(e.source, e.target) for e in found.edges if e.model == "generative"}
    assert {("place", "x"), ("digit[k].digit", "x"), ("digit[k].style", "x")} <= made


# A program that nests a trained model, through fit, resume, save and load; the nested model's folder may go.

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
labels: {budget: {digit: 100}}
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
