"""Schedules: where they start, where they end, and that they never leave the span."""

from __future__ import annotations

import itertools

import pytest

from unknot.train.schedules import CURVES, schedule


@pytest.mark.parametrize("name", [n for n in CURVES if n != "constant"])
def test_a_curve_goes_from_start_to_end(name: str) -> None:
    value = schedule({"name": name, "start": 2.0, "end": 0.5}, 100, "rate")
    values = [value(step) for step in range(101)]
    assert values[0] == pytest.approx(2.0)
    assert values[-1] == pytest.approx(0.5)
    assert value(1000) == pytest.approx(0.5)  # a run that goes on longer stays at the end
    assert all(before > after for before, after in itertools.pairwise(values))


def test_halfway_values() -> None:
    half = {name: schedule({"name": name, "start": 2.0, "end": 0.5}, 100, "rate")(50) for name in CURVES}
    assert half == pytest.approx({"constant": 2.0, "linear": 1.25, "cosine": 1.25, "exponential": 1.0})


def test_warm_up_rises_linearly_to_the_start() -> None:
    value = schedule({"name": "cosine", "start": 1.0, "end": 0.0, "warmup": 4}, 100, "rate")
    assert [value(step) for step in range(5)] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])
