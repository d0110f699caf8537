"""The sentences, and where they change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unknot.metrics.leak import Leak
from unknot.workflow.counterfactuals.counterfactual import Beside, Counterfactual, Read

CLEAN = Counterfactual(
    factor="digit",
    settings=10,
    items=1000,
    labels=5000,
    encoder=Read(0.99, 0.001, 0.98),
    reader=Read(0.97, 0.002, 0.98),
    moves={"style": Beside(0.2, 0.15)},
    style=("style",),
    leak=Leak(0.88, 0.89, 0.88, 0.9, 1000),
    sharpness=Beside(0.7, 0.7),
)


def test_a_clean_change() -> None:
    assert CLEAN.verdict == "digit changes cleanly; style holds nothing of it."
    assert replace(CLEAN, leak=None).verdict == "digit changes cleanly."


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.92, "mostly changes (94 % of what can be read)"),
        (0.5, "changes in 51 % of items only"),
        (0.11, "does not change"),
    ],
)
def test_the_strictest_reader_decides(share: float, said: str) -> None:
    assert replace(CLEAN, reader=Read(share, 0.01, 0.98)).verdict.startswith(f"digit {said};")
    assert replace(CLEAN, reader=None, encoder=Read(share, 0.01, 0.98)).verdict.startswith(f"digit {said};")


def test_a_reader_is_judged_by_what_it_reads_of_real_items() -> None:
    assert replace(CLEAN, reader=Read(0.80, 0.01, 0.80)).verdict.startswith("digit changes cleanly")


@pytest.mark.parametrize(
    ("best", "said"),
    [
        (0.0, "all"),
        (0.09, "nine tenths"),
        (0.3, "two thirds"),
        (0.45, "half"),
        (0.6, "a third"),
        (0.81, "a tenth"),
    ],
)
def test_how_much_is_left(best: float, said: str) -> None:
    found = replace(CLEAN, leak=Leak(0.88, best, 0.88, 0.9, 1000))
    assert found.verdict == f"digit changes cleanly; style still carries {said} of it."


def test_few_items_show_no_small_leak() -> None:
    assert "holds nothing" in replace(CLEAN, leak=Leak(0.8, 0.8, 0.8, 0.9, 25)).verdict
    assert "carries a tenth" in replace(CLEAN, leak=Leak(0.8, 0.8, 0.8, 0.9, 2500)).verdict


def test_what_moves_with_it() -> None:
    moves = {"light": Beside(0.9, 0.1), "style": Beside(0.5, 0.3), "rest": Beside(0.2, 0.2)}
    assert "; light moves with it; style moves a little; " in replace(CLEAN, moves=moves).verdict
    both = {"light": Beside(0.9, 0.1), "style": Beside(0.9, 0.3)}
    assert "; light and style move with it; " in replace(CLEAN, moves=both).verdict
