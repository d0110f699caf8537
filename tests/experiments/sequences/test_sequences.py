"""sequences: its cases, numbers and figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.sequences.regime_models import drawn_sequences
from experiments.sequences.sequences import ROWS, cases, data, draw_regimes, run


@pytest.mark.parametrize("row", [row for row, settings in ROWS.items() if settings["method"] != "hmm"])
def test_every_method_gives_an_accuracy(row: str) -> None:
    case = next(case for case in cases("smoke") if case["row"] == row)
    assert 0 <= run(case, 0, None)["accuracy"] <= 100


def test_em_has_rows_in_every_tier_but_smoke() -> None:
    assert {case["method"] for case in cases("quick")} == {"switching", "hmm", "gru"}
    assert {case["method"] for case in cases("smoke")} == {"switching", "gru"}


def test_labels_name_the_states_of_em() -> None:
    pytest.importorskip("hmmlearn")
    case = next(c for c in cases("quick") if c["method"] == "hmm" and c["share"] == 0.05)
    assert 0 <= run({**case, "budget": 1, "train": 20, "test": 5}, 0, None)["accuracy"] <= 100


def test_training_and_test_sequences_differ_and_all_methods_see_the_same() -> None:
    first, second = (data(case, 0) for case in cases("smoke")[:2])
    assert (first[0].x == second[0].x).all()
    assert first[0].x[: len(first[2].x)].ne(first[2].x).any()


def test_the_figure_shows_test_sequences(tmp_path: Path) -> None:
    test = drawn_sequences(5, 1)
    draw_regimes(test, test.regime, tmp_path / "regimes.png")
    assert (tmp_path / "regimes.png").stat().st_size > 1000
