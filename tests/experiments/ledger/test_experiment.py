"""Experiments as data: measures, yardsticks, cases by their names."""

from __future__ import annotations

import pytest

from experiments.ledger.experiment import Measure, Yardstick, case_title, chosen_cases, settings_of
from tests.experiments.toy import CASE, OTHER, constant, toy
from unknot.errors import SpecError


def test_a_yardstick_has_a_number_and_perhaps_a_spread() -> None:
    line = Yardstick("S17", {"a": (9.7, 0.9), "b": 2.9}, "D")
    assert line.value("a") == (9.7, 0.9)
    assert line.value("b") == (2.9, None)
    assert line.value("c") is None
    assert line.title == "S17 [D]"


def test_a_run_depends_on_settings_and_not_on_names() -> None:
    assert settings_of(CASE) == {"labels": 100}
    assert case_title(CASE) == "ours, M = 100"


def test_yardsticks_speak_of_the_first_measure_unless_they_say() -> None:
    error, angle = Measure("error", "error", "%"), Measure("angle", "angle")
    one = toy(
        constant(1.0),
        measures=[error, angle],
        yardsticks=[Yardstick("S17", {"": 1.0}), Yardstick("S17", {"": 2.0}, measure="angle")],
    )
    assert one.yardstick("ours", error).value("") == (1.0, None)
    assert one.yardstick("ours", angle).value("") == (2.0, None)
    assert one.yardstick("theirs", error) is None
    assert error.heading == "error (%)"


def test_cases_are_chosen_by_exact_name_before_part_of_one() -> None:
    assert chosen_cases([CASE, OTHER], ["M = 100"]) == [CASE]
    assert chosen_cases([CASE, OTHER], ["M ="]) == [CASE, OTHER]
    with pytest.raises(SpecError, match="expected a part of a row or column"):
        chosen_cases([CASE], ["SVHN"])
