"""The table of a factor: every number with what it is to be compared with."""

from __future__ import annotations

from dataclasses import replace

from tests.workflow.counterfactuals.test_verdict import CLEAN
from unknot.workflow.counterfactuals.counterfactual import Read


def test_every_number_has_something_beside_it() -> None:
    told = {what: (value, beside) for what, value, beside in CLEAN.rows}
    assert told["read as intended by the encoder"] == ("99.0 ± 0.1 %", "98.0 % of real items read right")
    value, beside = told["read as intended by another reader"]
    assert (value, beside) == ("97.0 ± 0.2 %", "98.0 % of real items read right; learned from 5,000 labels")
    assert told["style moves"] == ("0.20", "0.15 without a change; 1: another item")
    assert told["digit read from style, five neighbors"] == ("89.0 % error", "90.0 % is chance")
    assert told["sharpness"] == ("0.70", "0.70 without a change; 1: real items")


def test_what_cannot_be_said_is_said() -> None:
    few = replace(CLEAN, reader=None, labels=12, leak=None, sharpness=None, encoder=Read(0.5, 0.1, None))
    told = {what: (value, beside) for what, value, beside in few.rows}
    assert told["read as intended by another reader"] == (
        "unknown",
        "12 labels to learn from; 10 a class are needed",
    )
    assert told["read as intended by the encoder"][1] == "no labels of real items"
    assert len(told) == 3
