"""The sentences, and where they change."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from unknot.metrics.probes import Leak
from unknot.workflow.counterfactuals.counterfactual import Agreement, Change, Counterfactual

CLEAN = Counterfactual(
    factor="digit",
    settings=10,
    items=1000,
    labels=5000,
    encoder=Agreement(0.99, 0.001, 0.98),
    predictor=Agreement(0.97, 0.002, 0.98),
    moves={"style": Change(0.2, 0.15)},
    style=("style",),
    leak=Leak(0.88, 0.89, 0.88, 0.9, 1000),
    sharpness=Change(0.7, 0.7),
)


def test_a_clean_change() -> None:
    assert CLEAN.verdict == "digit changes cleanly; style holds nothing of it."
    assert replace(CLEAN, leak=None).verdict == "digit changes cleanly."


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.92, "mostly changes (94 % of what can be predicted)"),
        (0.5, "changes in 51 % of items only"),
        (0.11, "does not change"),
    ],
)
def test_the_strictest_reader_decides(share: float, said: str) -> None:
    assert replace(CLEAN, predictor=Agreement(share, 0.01, 0.98)).verdict.startswith(f"digit {said};")
    assert replace(CLEAN, predictor=None, encoder=Agreement(share, 0.01, 0.98)).verdict.startswith(
        f"digit {said};"
    )


def test_a_reader_is_judged_by_what_it_reads_of_real_items() -> None:
    assert replace(CLEAN, predictor=Agreement(0.80, 0.01, 0.80)).verdict.startswith("digit changes cleanly")


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
    moves = {"light": Change(0.9, 0.1), "style": Change(0.5, 0.3), "rest": Change(0.2, 0.2)}
    assert "; light moves with it; style moves a little; " in replace(CLEAN, moves=moves).verdict
    both = {"light": Change(0.9, 0.1), "style": Change(0.9, 0.3)}
    assert "; light and style move with it; " in replace(CLEAN, moves=both).verdict


# ---- The record: as text, and as JSON has it -------------------------------------------------------------


def test_text_and_plain_data() -> None:
    first, *others = str(CLEAN).splitlines()
    assert first == CLEAN.verdict
    assert len(others) == len(CLEAN.rows)
    plain = json.loads(json.dumps(CLEAN.to_dict()))
    assert plain["verdict"] == CLEAN.verdict
    assert plain["predictor"] == {"share": 0.97, "standard_error": 0.002, "real": 0.98}
    assert plain["carried"] == CLEAN.leak.carried
    assert Counterfactual.from_dict(plain) == CLEAN
    few = replace(CLEAN, predictor=None, leak=None, sharpness=None)
    assert Counterfactual.from_dict(json.loads(json.dumps(few.to_dict()))) == few


# ---- The table of a factor: every number with what it is to be compared with -----------------------------


def test_every_number_has_something_beside_it() -> None:
    told = {what: (value, beside) for what, value, beside in CLEAN.rows}
    assert told["predicted as intended by the encoder"] == (
        "99.0 ± 0.1 %",
        "98.0 % of real items predicted correctly",
    )
    value, beside = told["predicted as intended by an independent predictor"]
    assert (value, beside) == (
        "97.0 ± 0.2 %",
        "98.0 % of real items predicted correctly; trained on 5,000 labels",
    )
    assert told["style moves"] == ("0.20", "0.15 without a change; 1: another item")
    assert told["digit predicted from style, five neighbors"] == ("89.0 % error", "90.0 % is chance")
    assert told["sharpness"] == ("0.70", "0.70 without a change; 1: real items")


def test_what_cannot_be_said_is_said() -> None:
    few = replace(
        CLEAN, predictor=None, labels=12, leak=None, sharpness=None, encoder=Agreement(0.5, 0.1, None)
    )
    told = {what: (value, beside) for what, value, beside in few.rows}
    assert told["predicted as intended by an independent predictor"] == (
        "unknown",
        "12 labels to learn from; 10 per class are needed",
    )
    assert told["predicted as intended by the encoder"][1] == "no held-out labels of real items"
    assert len(told) == 3
