"""Grids: values as YAML, every combination, short names, and mistakes in one sentence."""

from __future__ import annotations

import pytest

from unknot.errors import SpecError
from unknot.workflow.sweep.grid import point_text, points, read_grid, short_names


def test_all_combinations_come_once_in_order() -> None:
    grid = read_grid(["train.objective.beta=1,4", "model.style=2,[3]", "train.compile=true"])
    assert [tuple(point.values()) for point in points(grid)] == [
        (1, 2, True),
        (1, [3], True),
        (4, 2, True),
        (4, [3], True),
    ]
    assert points({}) == [{}]


def test_names_are_as_short_as_they_can_be() -> None:
    keys = ["train.objective.beta", "train.steps", "model.x.size", "model.y.size"]
    assert list(short_names(keys).values()) == ["beta", "steps", "x.size", "y.size"]
    assert point_text({"train.objective.beta": 4, "train.steps": 10}) == "beta = 4, steps = 10"
    assert point_text({}) == "the spec"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("train.steps", "KEY=VALUE"),
        ("train.steps=", "KEY=VALUE"),
        ("steps=1,2", "say the section too"),
        ("trian.steps=1,2", "train"),
        ("train.seed=1,2", "--seeds"),
        ("train.steps=1,1", "a value comes twice"),
        ("train.steps=[1,2", "cannot read the values"),
    ],
)
def test_mistakes_are_refused(word: str, said: str) -> None:
    with pytest.raises(SpecError, match="--grid") as refused:
        read_grid([word])
    assert said in str(refused.value)


def test_a_setting_that_comes_twice_is_refused() -> None:
    with pytest.raises(SpecError, match="comes twice: say all its values at once"):
        read_grid(["train.steps=1", "train.steps=2"])
