"""The files of predictors, out-of-fold predictions and novelty."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.workflow.test_answers import DONE, assembled
from unknot.errors import RunError
from unknot.files import write_folder
from unknot.workflow.answers import with_answers
from unknot.workflow.predictor_file import ARRAYS, DESCRIPTION, FOLDER, predictor_files, read_predictors
from unknot.workflow.trained_model import TrainedModel


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    made = assembled()
    return with_answers(made.model, made.data, made.config, DONE)


def test_everything_comes_back(model: TrainedModel, tmp_path: Path) -> None:
    write_folder(tmp_path / FOLDER, predictor_files(model, 7))
    predictors, out_of_fold, novelty = read_predictors(tmp_path, 7)
    assert predictors is not None
    assert novelty is not None
    assert predictors.names == ("kind", "size")
    for name, one in model.out_of_fold.items():
        again = out_of_fold[name]
        assert (again.factor, again.folds, again.repeats) == (one.factor, one.folds, one.repeats)
        for part in ("ids", "labels", "predictions", "linear"):
            np.testing.assert_array_equal(getattr(again, part), getattr(one, part))
    assert read_predictors(tmp_path, 8) == (None, {}, None)  # of another checkpoint


def test_a_model_without_any_has_no_files(model: TrainedModel, tmp_path: Path) -> None:
    assert predictor_files(replace(model, predictors=None, out_of_fold={}, novelty=None)) == {}
    assert read_predictors(tmp_path) == (None, {}, None)
    only = predictor_files(replace(model, predictors=None, out_of_fold={}))
    write_folder(tmp_path / FOLDER, only)
    predictors, out_of_fold, novelty = read_predictors(tmp_path)
    assert (predictors, out_of_fold) == (None, {})
    assert novelty is not None


def test_damage_is_one_sentence(model: TrainedModel, tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    write_folder(folder, predictor_files(model))
    (folder / ARRAYS).write_bytes((folder / ARRAYS).read_bytes()[:-1] + b"?")
    with pytest.raises(RunError, match="is not the one that"):
        read_predictors(tmp_path)
    (folder / ARRAYS).unlink()
    with pytest.raises(RunError, match="cannot be read: No such file"):
        read_predictors(tmp_path)
    content = json.loads((folder / DESCRIPTION).read_text())
    (folder / DESCRIPTION).write_text(json.dumps({**content, "step": 3}))
    with pytest.raises(RunError, match="are damaged"):
        read_predictors(tmp_path)
