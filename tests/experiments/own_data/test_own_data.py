"""own-data: all sets with all methods, labels apart from test items, plain scores, goals reached and missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from experiments.own_data.items import Items
from experiments.own_data.methods import LINEAR, OURS, full, methods_of
from experiments.own_data.overview import overview
from experiments.own_data.own_data import EXPERIMENT, r_squared, scores
from experiments.own_data.split import KINDS, groups
from experiments.own_data.task import Task, draw
from experiments.own_data.usual_features import dense_rows, linear_rows

DRAW = np.random.default_rng(0)
Y = np.arange(80) % 2


def pictures() -> np.ndarray:
    return np.clip(DRAW.normal(100 + 60 * Y[:, None, None, None], 20, (80, 1, 8, 8)), 0, 255).astype(np.uint8)


def table() -> Any:
    import pandas as pd

    numbers = np.where(np.arange(80) % 9, DRAW.normal(3 * Y, 1), np.nan)
    return pd.DataFrame({"size": numbers, "color": np.where(Y, "red", "blue")}).astype({"color": object})


ITEMS = {
    "tables": table,
    "texts": lambda: [f"{'red car' if y else 'blue boat'} {i % 5} {i % 3}" for i, y in enumerate(Y)],
    "images": pictures,
    "wide": lambda: DRAW.poisson(2 + 6 * Y[:, None] * (np.arange(600) < 200)).astype(float),
    "series": lambda: DRAW.normal(2 * Y[:, None, None], 1, (80, 1, 30)).astype(np.float32),
}


def test_every_set_has_every_method_and_both_numbers_of_labels() -> None:
    found = EXPERIMENT.cases("quick")
    for kind in KINDS:
        for group, names in groups(kind).items():
            here = [c for c in found if (c["kind"], c["group"]) == (kind, group) and not c["each"]]
            assert {c["set"] for c in here} == set(names)
            for name in names:
                mine = [c for c in here if c["set"] == name]
                methods = methods_of(kind, numbers=len(mine) == 8)
                assert {(c["labels"], c["method"]) for c in mine} == {
                    (n, m) for n in (30, 100) for m in methods
                }


@pytest.mark.parametrize("each", [0, 3])
def test_labels_unlabeled_and_test_items_are_apart(each: int) -> None:
    y = np.repeat([0, 1, 2], [60, 30, 10])
    task, truth = draw(Items(np.arange(100)[:, None], y, 3), "wide", 12, seed=1, each=each)
    parts = [task.x[:, 0], task.more[:, 0], task.test[:, 0]]
    assert sorted(np.concatenate(parts)) == list(range(100))
    assert np.array_equal(y[parts[0]], task.y)
    assert np.array_equal(y[parts[2]], truth)
    counts = np.bincount(task.y, minlength=3)
    assert counts.tolist() == [3, 3, 3] if each else (len(task.y), counts.min() >= 1) == (12, True)


@pytest.mark.parametrize("kind", KINDS)
def test_baselines_see_what_tells_the_classes_apart(kind: str) -> None:
    task, truth = draw(Items(ITEMS[kind](), Y, 2), kind, 20, seed=0)
    for name, method in methods_of(kind, numbers=False).items():
        if name in (LINEAR, "label spreading", "self-training"):
            predictions = method(task)
            assert predictions.shape == (len(truth), 2)
            np.testing.assert_allclose(predictions.sum(1), 1)
            assert (predictions.argmax(1) == truth).mean() > 0.9, name
    assert linear_rows(task).test.shape[0] == dense_rows(task).test.shape[0] == len(truth)


def test_ours_predicts_all_classes_in_their_order() -> None:
    task, truth = draw(Items(ITEMS["wide"]()[:, :20], Y, 3), "wide", 20, seed=0, steps=5)
    predictions = methods_of("wide", numbers=False)[OURS](task)
    assert predictions.shape == (len(truth), 3)
    assert (predictions.argmax(1) == truth).mean() > 0.9
    assert predictions[:, 2].max() < 0.01


def test_a_table_without_unlabeled_rows() -> None:
    task, truth = draw(Items(table(), Y, 2), "tables", 48, seed=0)
    assert len(task.more) == 0
    assert methods_of("tables", numbers=False)[LINEAR](task).shape == (len(truth), 2)


def test_classes_without_labels_have_a_small_probability() -> None:
    found = full(np.array([[0.3, 0.7]]), np.array([0, 2]), 3)
    np.testing.assert_allclose(found, [[0.2997, 0.001, 0.6993]], atol=1e-4)


def test_scores_are_plain_means() -> None:
    found = scores(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), np.array([0, 1, 1]))
    assert found["accuracy"] == pytest.approx(200 / 3)
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.8]).mean())
    assert found["excess"] == pytest.approx((0.9 + 0.6 + 0.8) / 3 - 2 / 3)
    assert found["calibration"] == pytest.approx((0.1 + 0.6 + 0.2) / 3)
    assert r_squared(np.array([1.0, 2.0]), np.array([1.0, 3.0]))["accuracy"] == pytest.approx(50.0)


def content(ours: float) -> dict[str, Any]:
    def entry(name: str, method: str, accuracy: float) -> dict[str, Any]:
        case = {"row": name, "column": method, "group": "once", "kind": "texts", "set": name}
        measures = {"accuracy": accuracy, "log_loss": 1 - accuracy / 100, "calibration": 0.04}
        numbers = {**measures, "excess": -0.01, "seconds": 2.0}
        return {"case": case, "numbers": {key: {"mean": value} for key, value in numbers.items()}}

    cells = [("a", ours, 70.0), ("b", 80.0, 75.0)]
    lines = [
        entry(name, method, value)
        for name, o, linear in cells
        for method, value in ((OURS, o), (LINEAR, linear))
    ]
    return {"summary": [*lines, entry("c", OURS, 10.0)]}  # no baseline yet: it does not count


def test_goals_that_are_reached_and_missed() -> None:
    reached, missed = ("\n".join(overview(content(ours))) for ours in (75.0, 60.0))
    assert "miss" not in reached
    assert "| once, texts: classes, 2 sets, 2 cells |" in reached
    assert "+5.0" in reached
    assert "**miss** -2.5" in missed
    assert "**miss** -10.0 (a)" in missed


def test_nothing_is_shown_of_an_empty_result() -> None:
    assert overview({"summary": []}) == []


def test_a_task_keeps_what_it_is_given() -> None:
    task, _ = draw(Items(ITEMS["texts"](), Y, 2), "texts", 20, seed=3, steps=7)
    assert isinstance(task, Task)
    assert (task.kind, task.classes, task.seed, task.steps) == ("texts", 2, 3, 7)
