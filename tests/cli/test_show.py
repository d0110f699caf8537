"""Tables that commands print."""

from __future__ import annotations

import pytest

from unknot.cli.show import show_scores, show_table
from unknot.workflow.evaluation import Score


def test_tables_show_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("Digits", ("name", "value"), [("one", "1"), ("two", "2")])
    said = capsys.readouterr().out
    assert all(word in said for word in ("Digits", "name", "one", "2"))


def test_scores_are_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_scores(
        [
            Score("digit", "error", 0.25, 300, (0.204, 0.302)),
            Score("size", "root mean square error", 2.0, 10),
        ],
        "test data",
    )
    said = capsys.readouterr().out
    assert "Encoder on the test data" in said
    assert "25.00 % (20.4 to 30.2 %)" in said
    assert "root mean square error" in said
