"""What is learned after training, and kept in a run: out-of-fold predictions and novelty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.errors import SpecError
from unknot.train.loop import Result
from unknot.workflow.answers import intervals, p_values, sets, with_answers
from unknot.workflow.assembly import Assembly, assemble
from unknot.workflow.model_file import load_model, save_model

RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 2, 60)
X = (KIND[:, None] + RNG.normal(size=(60, 2))).astype(np.float32)
SIZE = X[:, 0] + RNG.normal(size=60)
DONE = Result([], "finished", 2)
MODEL = {"kind": "class_style", "style": 2, "width": 8}


def assembled(**train: object) -> Assembly:
    data = from_arrays(X, {"kind": KIND, "size": SIZE})
    return assemble(data, MODEL, {"steps": 2, "batch_size": 20, **train}, labels=data.factors)


def test_default_models_are_cross_fitted_on_all_labels() -> None:
    made = assembled()
    model = with_answers(made.model, made.data, made.config, DONE)
    assert {name: len(one) for name, one in model.out_of_fold.items()} == {"kind": 60, "size": 60}
    assert p_values(model, made.data.batch(range(5)).x).shape == (5,)
    ends = intervals(model, made.data.batch(range(5)).x, "size")
    assert ends.shape == (5, 1, 2)
    assert (ends[..., 0] < ends[..., 1]).all()
    with pytest.raises(SpecError, match="'size' is continuous"):
        sets(model, np.zeros((1, 1)), "size")


def test_nothing_is_learned_unless_asked_or_after_an_interrupt() -> None:
    for made, ended in (
        (assembled(cross_fit=0), DONE),
        (assembled(), replace(DONE, stopped_because="interrupted")),
    ):
        model = with_answers(made.model, made.data, made.config, ended)
        assert (model.out_of_fold, model.novelty, model.predictors) == ({}, None, None)
        with pytest.raises(SpecError, match=r"train\.cross_fit=3"):
            p_values(model, torch.zeros(1, 2))
        x = made.data.batch(range(3)).x
        np.testing.assert_array_equal(intervals(model, x, "size"), model.interval(x, "size").numpy())


def test_a_saved_model_answers_alike(tmp_path: Path) -> None:
    made = assembled()
    model = with_answers(made.model, made.data, made.config, DONE)
    save_model(model, tmp_path / "model")
    again, x = load_model(tmp_path / "model"), made.data.batch(range(60)).x
    np.testing.assert_array_equal(p_values(again, x), p_values(model, x))
    np.testing.assert_array_equal(intervals(again, x, "size"), intervals(model, x, "size"))
    predictions = [one.predict(x).predictions["kind"].numpy() for one in (again, model)]
    np.testing.assert_array_equal(*predictions)
    np.testing.assert_array_equal(
        *(sets(m, p, "kind") for m, p in zip((again, model), predictions, strict=True))
    )
