"""What a report says of a run, and the page made of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unknot
from unknot.data.from_arrays import from_arrays
from unknot.report.content import Content, collect, collect_model
from unknot.report.gallery import gallery
from unknot.report.page import render
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import TrainedRun, open_run, train_recipe


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    recipe = Recipe(
        {"name": "digits"},
        {"budget": {"digit": 50}},
        {"kind": "class_style", "style": 3, "width": 16},
        {"steps": 4, "log_every": 2, "batch_size": 50, "cross_fit": 0},
    )
    with unknot.validation(True):
        return train_recipe(recipe, tmp_path_factory.mktemp("report") / "a & b")[0]


@pytest.fixture(scope="module")
def content(trained: TrainedRun) -> Content:
    return collect(trained)


def test_what_is_gathered(content: Content, trained: TrainedRun) -> None:
    assert [answer.factor for answer in content.answers] == ["digit"]
    assert content.facts["training labels"] == "50 labels of digit (seed 0)"
    assert content.facts["training"] == "4 steps of 50 items"
    assert content.facts["Data"].startswith("1,437 images of digits")
    assert "torch" in content.facts["versions"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", content.facts["date"])
    (classes,) = content.data
    assert classes.table is not None
    assert sum(int(row[1]) for row in classes.table.rows) == 50
    assert sorted(name for name, _ in content.information) == ["style[0]", "style[1]", "style[2]"]
    assert {"digit", "style", "x"} <= set(re.findall(r">(\w+)</text>", content.graph_svg))
    titles = [picture.title for picture in content.pictures]
    grids = [f"Style grid {i}" for i in range(1, 5)]
    assert titles == ["Reconstructions", "Analogies: digit", *grids, "Traversals of style", "Samples"]


def test_the_answer_is_that_on_held_out_labels_beside_the_baselines(content: Content) -> None:
    (answer,) = content.answers
    assert answer.source == "Measured on 360 held-out labels, which the model was not trained on."
    found = re.search(r"it is right in (\d+) of 100 .*; a linear model in (\d+), always", answer.headline)
    assert found is not None
    assert int(found.group(1)) < int(found.group(2))  # after four steps
    assert "Predictions of digit are worse than those of a linear model" in content.verdict.line
    assert content.verdict.color == "red"


def test_sections_beside_the_pictures(content: Content) -> None:
    assert [section.title for section in content.doubts] == [
        "Confusion: digit",
        "Calibration: digit",
        "Most confident mistakes: digit",
        "Most uncertain items: digit",
    ]


def test_a_model_without_its_run_has_no_baselines(trained: TrainedRun) -> None:
    assert trained.test is not None
    alone = collect_model(trained.model, trained.test.subset(range(40)), "alone")
    assert "linear model" not in alone.answers[0].headline
    assert alone.records == []
    assert "below linear" not in {finding.kind for finding in alone.verdict.findings}


def test_items_of_training_show_the_out_of_fold_error_and_no_other(trained: TrainedRun) -> None:
    """The model knows every training label by now; its out-of-fold predictions are right in seven of ten."""
    train = trained.train
    known = train.factors["digit"].known.numpy()
    labels, ids = train.factors["digit"].values.numpy()[known], train.ids.numpy()[known]
    right = np.arange(len(labels)) % 10 < 7
    predictions = np.full((len(labels), 10), 0.03)
    predictions[np.arange(len(labels)), np.where(right, labels, (labels + 1) % 10)] = 0.73
    one = OutOfFold("digit", ids, labels, predictions, predictions, 5)
    fitted = replace(trained.model, out_of_fold={"digit": one})
    for content in (collect_model(fitted, train, "seen"), collect_model(fitted, train, "seen", train=train)):
        (answer,) = content.answers
        assert "it is right in 70 of 100 (95 % interval 49 to 85); a linear model in 70" in answer.headline
        assert answer.source.startswith("Measured on 50 labels by cross-fitting (5 folds)")
        assert "some of which it was trained on" in content.summary
        page = render(content)
        assert "50 out-of-fold labels" in page
        assert "30.00 %" in page
        assert content.verdict.no_error == ""
        wrong = next(section for section in content.doubts if "mistakes" in section.title)
        assert wrong.figure is not None  # the items are here


def test_without_either_no_number_is_called_an_error(trained: TrainedRun) -> None:
    bare = replace(trained.model, out_of_fold={})
    content = collect_model(bare, trained.train, "seen", train=trained.train)
    assert content.answers == content.numbers == []
    assert content.verdict.color != "green"
    assert "No error of digit is shown" in content.verdict.no_error
    assert [section.title for section in content.doubts] == ["Most uncertain items: digit"]


def test_every_factor_is_changed(content: Content) -> None:
    digit = next(section for section in content.changes if section.title == "Setting digit")
    assert digit.table is not None
    assert "Each of 205 items with its digit set to 10 values" in digit.caption
    assert digit.caption.startswith("digit ")
    names = [row[0] for row in digit.table.rows]
    assert names[:2] == [
        "predicted as intended by the encoder",
        "predicted as intended by an independent predictor",
    ]


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
