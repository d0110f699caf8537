"""The trained model: its variables, values in the user's words, what varies and what is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.workflow.models import untrained
from unknot import StructuredVAE
from unknot.cli import main
from unknot.data.factor import Factor
from unknot.errors import DataError, RunError, SpecError
from unknot.models import node
from unknot.workflow.trained_model import TrainedModel, item_rows, items_at_once

NODES = [
    node("kind", "concrete", 3, inferred_from=["x"], labels=True),
    node("shade", "normal", 2, inferred_from=["kind"]),
    node("style", "normal", 2, inferred_from=["x", "kind"]),
    node("x", "normal", parents=["kind", "shade", "style"]),
]
KIND = Factor("kind", "categorical", torch.zeros(0, dtype=torch.int64), ("10", "20", "30"))


@pytest.fixture
def model() -> TrainedModel:
    torch.manual_seed(0)
    return untrained(NODES, (4,), kind=KIND)


def test_what_there_is(model: TrainedModel) -> None:
    assert [one.name for one in model.latents] == ["kind", "shade", "style"]
    assert [one.name for one in model.labeled] == ["kind"]
    assert model.class_values("kind") == [10, 20, 30]
    assert "kind: concrete, 3 classes, takes labels" in model.describe()
    with pytest.raises(SpecError, match="no factor 'color' to set; there are kind, shade, style"):
        model.node("color")


def test_values_in_the_users_words(model: TrainedModel) -> None:
    assert model.value("kind", 20, 3).tolist() == [1, 1, 1]
    assert model.value("kind", "30", 1).tolist() == [2]
    assert model.value("kind", [10, 30], 2).tolist() == [0, 2]
    assert model.value("style", [0.0, 1.0], 3).shape == (3, 2)
    with pytest.raises(DataError, match="'style' is 2 numbers, but got 'wide'"):
        model.value("style", "wide", 3)
    with pytest.raises(DataError, match="no class 2; it has 10, 20, 30"):
        model.value("kind", 2, 3)
    with pytest.raises(DataError, match="one class for all, or one for each of 3; got 2"):
        model.value("kind", [10, 20], 3)


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", None])
def test_a_number_of_samples_that_cannot_be(model: TrainedModel, count: object) -> None:
    with pytest.raises(SpecError, match="a whole number of items, at least 1, but got"):
        model.sample(count)  # type: ignore[arg-type]


def test_what_is_changed_what_follows_and_what_is_kept(model: TrainedModel) -> None:
    x = torch.randn(5, 4)
    varied = model.vary(x, "kind", torch.arange(3))
    assert varied.shape == (5, 3, 4)
    values = model.predict(x).values
    for k in range(3):
        follows = model.predict(x, {"kind": torch.full((5,), k)}).values["shade"]
        by_hand = {"kind": torch.full((5,), k), "shade": follows, "style": values["style"]}
        torch.testing.assert_close(varied[:, k], model.generate(5, by_hand))
    own = values["kind"].argmax(-1)
    torch.testing.assert_close(varied[torch.arange(5), own], model.reconstruct(x))


def test_each_door_opens_what_the_others_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=(60, 3)).astype(np.float32), np.array(["u", "v"])[np.arange(60) % 2]
    np.savez(tmp_path / "mine.npz", x=x[:40], kind=kind[:40])
    np.savez(tmp_path / "new.npz", x=x[40:], kind=kind[40:])
    (tmp_path / "spec.yaml").write_text("train: {steps: 3, progress: false}\n")
    monkeypatch.chdir(tmp_path)
    assert ended("fit", "spec.yaml", "mine.npz", "--run", "run") == 0
    from_run = StructuredVAE.load("run")
    assert set(from_run.predict(x)) <= {"u", "v"}
    assert from_run.classes_ == {"kind": ["u", "v"]}
    assert "StructuredVAE" in repr(from_run)
    from_run.save("saved")
    assert ended("predict", "saved", "mine.npz", "-o", "one.csv") == 0
    assert ended("predict", "run", "mine.npz", "-o", "two.csv") == 0
    assert Path("one.csv").read_text() == Path("two.csv").read_text()
    assert ended("evaluate", "saved", "new.npz") == 0
    assert ended("sample", "saved", "--set", "kind=v", "-o", "drawn.npz") == 0
    assert ended("report", "saved", "new.npz", "-o", "page.html") == 0
    assert "Confusion: kind" in Path("page.html").read_text()
    assert torch.equal(TrainedModel.load("saved").predict(torch.tensor(x)).values["kind"],
                       TrainedModel.load("run").predict(torch.tensor(x)).values["kind"])  # fmt: skip


def test_a_folder_with_other_files_is_left_alone(model: TrainedModel, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError, match=r"holds other files \(thesis.txt\)"):
        model.save(tmp_path)
    model.save(tmp_path / "model")
    model.save(tmp_path / "model")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def ended(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    return int(end.value.code or 0)


# ---- A stretch of items, dense or sparse -----------------------------------------------------------------


def test_sparse_rows_are_the_dense_ones() -> None:
    x = torch.arange(12.0).reshape(4, 3) * torch.tensor([1.0, 0.0, 1.0])
    for start, stop in ((0, 2), (1, 3), (2, 9)):
        torch.testing.assert_close(item_rows(x.to_sparse(), start, stop).to_dense(), x[start:stop])
        torch.testing.assert_close(item_rows(x, start, stop), x[start:stop])
        assert item_rows(x.to_sparse(), start, stop).is_coalesced()


def test_large_items_go_through_in_smaller_numbers() -> None:
    assert items_at_once(torch.Size([1, 28, 28])) == 1000
    assert items_at_once(torch.Size([3, 256, 256])) == 85
    assert items_at_once(torch.Size([10**9])) == 1
