"""The default model of images whose labels are classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.data import from_arrays
from unknot.data.dataset import Dataset
from unknot.models.spec import ModelSpec
from unknot.workflow.assembly import assemble
from unknot.workflow.image_defaults import AGREEMENT, DRAWN, PHOTOGRAPHED, suits_two_views

DRAW = np.random.default_rng(0)
PHOTOGRAPHS = DRAW.random((6, 3, 9, 8)).astype(np.float32)
STROKES = np.where(DRAW.random((6, 1, 9, 8)) < 0.3, 1.0, 0.0).astype(np.float32)
KINDS = [0, 1, -1, 1, 0, -1]


def spec(data: Dataset, model: dict[str, Any] | None = None, **train: Any) -> ModelSpec:
    return assemble(data, model or {}, train).model.source.spec  # type: ignore[attr-defined, no-any-return]


def test_images_with_classes_are_seen_twice() -> None:
    photographs = spec(from_arrays(PHOTOGRAPHS, {"kind": KINDS}))
    strokes = spec(from_arrays(STROKES, {"kind": KINDS}))
    assert (photographs.augment, photographs.agreement) == (PHOTOGRAPHED, AGREEMENT)
    assert (strokes.augment, strokes.agreement) == (DRAWN, AGREEMENT)


def test_what_a_jitter_may_change_is_not_jittered() -> None:
    assert not suits_two_views(from_arrays(PHOTOGRAPHS))
    assert not suits_two_views(from_arrays(PHOTOGRAPHS, {"light": DRAW.random(6)}))
    assert not suits_two_views(from_arrays(PHOTOGRAPHS, {"kind": KINDS, "light": DRAW.random(6)}))
    assert not suits_two_views(from_arrays(PHOTOGRAPHS[..., :7], {"kind": KINDS}))
    assert not suits_two_views(from_arrays(PHOTOGRAPHS.reshape(6, -1), {"kind": KINDS}))


def test_whoever_says_something_of_the_model_gets_that() -> None:
    data = from_arrays(PHOTOGRAPHS, {"kind": KINDS})
    assert spec(data, {"style": 3}).agreement == 0
    assert spec(data, objective="elbo").agreement == 0
    assert spec(data, {"augment": "affine"}).augment == "affine"
    assert spec(data, steps=3).agreement == AGREEMENT


def test_the_style_has_time_to_begin() -> None:
    data = from_arrays(STROKES, {"kind": KINDS})
    config = assemble(data, {}, {"steps": 1000}).config
    assert [stage["steps"] for stage in config.stages] == [300]
    assert config.stages[0]["objective"]["beta"] == {"style": 0.1}
    assert config.stages[0]["objective"]["alpha"] == config.objective["alpha"]  # type: ignore[index]
    assert assemble(data, {}, {"steps": 800}).config.stages == ()
    assert assemble(data, {}, {"epochs": 2}).config.stages == ()
    assert assemble(data, {}, {"steps": 1000, "stages": []}).config.stages == ()
    assert assemble(data, {"style": 3}, {"steps": 1000}).config.stages == ()
    named = assemble(from_arrays(STROKES, {"style": KINDS}), {}, {"steps": 1000}).config
    assert named.stages[0]["objective"]["beta"] == {"style_": 0.1}
