"""Which data gets an ensemble, and that it goes through every door."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.models.tables import only, rows_of, table
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.errors import SpecError
from unknot.models.ensemble import Ensemble
from unknot.models.graphical_model import GraphicalModel
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.defaults import ensemble_for, is_table, style_size, suits_ensemble
from unknot.workflow.evaluation import evaluate
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import open_run, resume, train_recipe
from unknot.workflow.trained_model import TrainedModel

RANDOM = np.random.default_rng(0)
QUICK = {"steps": 40, "progress": False}


def trained(data: Dataset) -> TrainedModel:
    made = assemble(data, {}, QUICK)
    fit(made.model.module, data, made.config)
    made.model.module.eval()
    return made.model


def test_tables_with_labels_get_a_ensemble() -> None:
    assert suits_ensemble(table())
    assert isinstance(assemble(table(), {}, QUICK).model.module, Ensemble)
    numbers = from_arrays(RANDOM.random((30, 4)).astype(np.float32), {"kind": np.arange(30) % 2})
    assert suits_ensemble(numbers)


def test_nothing_else_does() -> None:
    images = from_arrays(RANDOM.random((30, 1, 8, 8)).astype(np.float32), {"kind": np.arange(30) % 2})
    words = from_arrays(np.arange(60).reshape(30, 2), {"kind": np.arange(30) % 2})
    assert not is_table(images)
    assert not is_table(words)
    assert not suits_ensemble(only(table()))  # no factor
    assert not suits_ensemble(table(labeled=1))
    wide = from_arrays(RANDOM.standard_normal((30, 1001)).astype(np.float32), {"kind": np.arange(30) % 2})
    assert not suits_ensemble(wide)


def test_many_classes_are_too_many_for_a_ensemble() -> None:
    x = RANDOM.random((800, 4)).astype(np.float32)
    names = [f"c{i % 201}" for i in range(800)]
    assert suits_ensemble(from_arrays(x, {"kind": names[:200] * 4}))
    assert not suits_ensemble(from_arrays(x, {"kind": names}))
    many = {f"kind {k}": np.arange(800) % (k + 40) for k in range(3)}  # 68,880 combinations
    assert not suits_ensemble(from_arrays(x, many))
    assert suits_ensemble(from_arrays(x, {"kind": np.arange(800) % 3, "size": x[:, 0]}))


@pytest.mark.parametrize(
    ("model", "train"), [({"style": 3}, {}), ({}, {"objective": "elbo"}), ({}, {"labeled_share": 0.5})]
)
def test_who_asks_for_the_plain_model_gets_it(model: dict[str, int], train: dict[str, object]) -> None:
    assert isinstance(assemble(table(), model, {**QUICK, **train}).model.module, GraphicalModel)


def test_a_ensemble_can_be_asked_for_with_options() -> None:
    made = assemble(table(), {"ensemble": {"folds": 3, "hidden": 8}}, {"objective": "elbo", "steps": 7})
    assert isinstance(made.model.module, Ensemble)
    assert (made.model.module.spec.folds, made.config.steps, made.config.batch_size) == (3, 7, 60)
    with pytest.raises(SpecError, match="unknown key 'fold'"):
        assemble(table(), {"ensemble": {"fold": 3}}, QUICK)
    images = from_arrays(RANDOM.random((30, 1, 8, 8)).astype(np.float32), {"kind": np.arange(30) % 2})
    with pytest.raises(SpecError, match="for tables"):
        assemble(images, {"ensemble": {}}, QUICK)
    with pytest.raises(SpecError, match="stands alone"):
        assemble(table(), {"ensemble": {}, "nodes": {}}, QUICK)


def test_sizes_follow_the_columns() -> None:
    assert [style_size(d) for d in (1, 4, 9, 30, 500)] == [2, 2, 4, 15, 20]
    spec = ensemble_for(table(holes=True))
    assert spec.style == 3  # six columns, the category one-hot
    assert [bool(c.get("holes")) for c in spec.columns] == [True, False, False, True]


def test_it_learns_two_factors_and_is_saved_and_loaded_whole(tmp_path: Path) -> None:
    data = table(rows=120, labeled=40, holes=True)
    model = trained(data)
    whole = table(rows=120, labeled=120, holes=True)
    kind, amount = evaluate(model, whole)
    assert kind.value < 0.3
    assert amount.value < 0.7  # the spread is 2
    model.save(tmp_path / "saved")
    again = TrainedModel.load(tmp_path / "saved")
    x = rows_of(data)
    for name, said in model.predict(x).predictions.items():
        assert torch.equal(said, again.predict(x).predictions[name])
    assert torch.equal(model.reconstruct(x), again.reconstruct(x))
    assert again.vary(x[:5], "kind", [torch.tensor(0), torch.tensor(1)]).shape == (5, 2, 4)
    assert again.sample(6, kind="b", amount=7.0).shape == (6, 4)
    assert "amount: normal" in again.describe()


def test_a_run_is_opened_and_continued(tmp_path: Path) -> None:
    data = only(table(rows=60, labeled=60), "kind")
    lines = ["a,b,c,d,kind"]
    for row, kind in zip(rows_of(data).tolist(), data.factors["kind"].values.tolist(), strict=True):
        lines.append(",".join([*(f"{v:.4f}" for v in row[:3]), "uvw"[int(row[3])], ("no", "yes")[kind]]))
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    recipe = Recipe.from_dict(
        {
            "data": {"file": str(tmp_path / "mine.csv"), "factors": ["kind"]},
            "labels": {"kind": 20},
            "train": QUICK,
        }
    )
    run, _ = train_recipe(recipe, tmp_path / "run")
    assert isinstance(run.model.module, Ensemble)
    x = rows_of(run.train)
    for again in (open_run(tmp_path / "run").model, TrainedModel.load(tmp_path / "run")):
        assert torch.equal(again.predict(x).predictions["kind"], run.model.predict(x).predictions["kind"])
    resumed, result = resume(tmp_path / "run", {"train.steps": 45}, None)
    assert result.steps == 45
    assert isinstance(resumed.model.module, Ensemble)


def test_a_changed_class_changes_the_column_that_shows_it() -> None:
    model = trained(only(table(rows=120, labeled=60), "kind"))
    both = model.vary(rows_of(table())[:20], "kind", [torch.tensor(0), torch.tensor(1)])
    change = (both[:, 1] - both[:, 0]).mean(0)
    assert change[0] > 1.0  # three is true
    assert abs(change[2]) < 1.0


def test_the_same_seed_makes_the_same_ensemble() -> None:
    data = table()
    first, second = (trained(data).predict(rows_of(data)).predictions["kind"] for _ in range(2))
    assert torch.equal(first, second)
