"""What a report says of a run, and the page made of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import unknot
from unknot.data.from_arrays import from_arrays
from unknot.report.content import Content, collect, collect_model
from unknot.report.gallery import gallery
from unknot.report.page import render
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import TrainedRun, open_run, train_recipe


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    recipe = Recipe(
        {"name": "digits"},
        {"budget": {"digit": 50}},
        {"kind": "class_style", "style": 3, "width": 16},
        {"steps": 4, "log_every": 2, "batch_size": 50},
    )
    with unknot.validation(True):
        return train_recipe(recipe, tmp_path_factory.mktemp("report") / "a & b")[0]


@pytest.fixture(scope="module")
def content(trained: TrainedRun) -> Content:
    return collect(trained)


def test_what_is_gathered(content: Content, trained: TrainedRun) -> None:
    assert [score.factor for score in content.scores] == ["digit"]
    assert content.facts["training labels"] == "50 labels of digit (seed 0)"
    assert content.facts["training"] == "4 steps of 50 items"
    name, matrix, classes = content.confusions[0]
    assert (name, matrix.sum(), len(classes)) == ("digit", 360, 10)
    error = 1 - np.trace(matrix) / matrix.sum()
    assert content.scores[0].value == pytest.approx(error)
    assert sorted(name for name, _ in content.information) == ["style[0]", "style[1]", "style[2]"]
    assert {"digit", "style", "x"} <= set(re.findall(r">(\w+)</text>", content.graph_svg))
    titles = [picture.title for picture in content.pictures]
    grids = [f"Style grid {i}" for i in range(1, 5)]
    assert titles == ["Reconstructions", "Analogies: digit", *grids, "Traversals of style", "Samples"]


def test_the_verdict_and_the_linear_model_stand_beside_the_error(content: Content) -> None:
    kinds = [finding.kind for finding in content.verdict.findings]
    assert "below linear" in kinds  # after four steps
    assert "Predictions of digit are worse than those of a linear model" in content.verdict.line
    assert content.beside["digit"].startswith("A linear model on the same 50 labels: ")
    assert "Always the most frequent class: " in content.beside["digit"]


def test_sections_beside_the_pictures(content: Content) -> None:
    assert [section.title for section in content.sections] == [
        "Most confident mistakes: digit",
        "Calibration: digit",
    ]


def test_a_model_without_its_run_has_no_baselines(trained: TrainedRun) -> None:
    assert trained.test is not None
    alone = collect_model(trained.model, trained.test.subset(range(40)), "alone")
    assert alone.beside == {}
    assert alone.records == []
    assert {finding.kind for finding in alone.verdict.findings} <= {"collapsed"}


def test_every_factor_is_changed(content: Content) -> None:
    (digit,) = content.counterfactuals
    assert (digit.factor, digit.items, digit.labels) == ("digit", 205, 205)
    page = render(content)
    assert "Counterfactuals: digit" in page
    assert digit.verdict in page
    assert "predicted as intended by an independent predictor" in page


def test_one_item_of_each_class_is_shown(content: Content, trained: TrainedRun) -> None:
    assert trained.test is not None
    shown = content.pictures[0].images[0]  # (10, 1, 8, 8)
    test = trained.test.batch(range(len(trained.test)))
    classes = [
        int(test.values["digit"][(test.x.numpy() == image).all((1, 2, 3)).argmax()]) for image in shown
    ]
    assert classes == list(range(10))


def test_a_report_is_the_same_twice(content: Content, trained: TrainedRun) -> None:
    again = collect(open_run(trained.run.path))
    assert again.information == content.information
    for one, two in zip(content.pictures, again.pictures, strict=True):
        np.testing.assert_array_equal(one.images, two.images)


def test_names_are_escaped(content: Content) -> None:
    page = render(content)
    assert "<title>a &amp; b" in page
    assert "a & b" not in page


def test_classes_that_did_not_occur_do_not_break_the_gallery(trained: TrainedRun) -> None:
    assert trained.test is not None
    some = trained.test.subset(trained.test.factors["digit"].values < 3)
    assert gallery(trained.model, some, [("style[0]", 0.0), ("style[1]", 0.0), ("style[2]", 0.0)])
    few = from_arrays(np.zeros((2, 8, 8), np.uint8), {"digit": [1, -1]}, classes={"digit": range(10)})
    assert gallery(trained.model, few, [("style[0]", 1.0), ("style[1]", 0.0), ("style[2]", 0.0)])


def test_config_trains_the_same_model_again(trained: TrainedRun, tmp_path: Path) -> None:
    again, _ = train_recipe(Recipe.read(trained.run.path / "config.yaml"), tmp_path / "again")
    one, two = trained.run.latest(), again.run.latest()
    assert one is not None
    assert two is not None
    assert all(bool((t == two.part("model")[n]).all()) for n, t in one.part("model").items())
