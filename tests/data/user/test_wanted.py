"""What is asked of a file, and what of it concerns the labels that are there."""

from __future__ import annotations

import numpy as np

from unknot.data.from_arrays import from_arrays
from unknot.data.user.wanted import Wanted


def test_nothing_is_asked_by_default() -> None:
    wanted = Wanted()
    assert wanted.factors is None
    assert wanted.kinds_of(["digit"]) == wanted.classes_of(["digit"]) == {}
    assert wanted.split(10) == {}


def test_kinds_and_classes_are_those_of_labels_that_are_there() -> None:
    wanted = Wanted(
        kinds={"digit": "categorical", "light": "continuous"}, classes={"digit": [0, 1], "mood": []}
    )
    assert wanted.kinds_of(["light", "size"]) == {"light": "continuous"}
    assert wanted.classes_of({"digit": [1]}) == {"digit": [0, 1]}


def test_labels_that_look_like_data_are_named_or_known() -> None:
    assert Wanted().named_factors == ()
    assert Wanted(factors=["digit"]).named_factors == ["digit"]
    assert Wanted(like=from_arrays(np.zeros((2, 3)))).named_factors is None
