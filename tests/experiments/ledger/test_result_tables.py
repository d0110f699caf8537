"""Tables of a result: ours, theirs, misses shown as misses."""

from __future__ import annotations

from experiments.ledger.experiment import Measure
from experiments.ledger.result_tables import number_text, reaches, result_tables, seeds_text, table_lines
from tests.experiments.toy import CASE, OTHER, constant, toy


def content(error: float) -> dict[str, object]:
    numbers = {"error": {"mean": error, "sd": 0.5, "values": [error]}}
    return {"tier": "quick", "summary": [{"case": CASE, "seeds": 3, "numbers": numbers, "cpu_seconds": 90.0}]}


def test_a_cell_says_whether_it_misses_and_what_was_not_run() -> None:
    one = toy(constant(1.0), (CASE, OTHER))
    good = "\n".join(result_tables(one, content(5.0)))
    assert "| ours | 5.00 ± 0.50 | not run | 3 | 1.5 | S17 [P] |" in good
    assert "| S17 [P] | 9.71 ± 0.91 | 2.88 |" in good
    assert "12.00 ± 0.50 (miss)" in "\n".join(result_tables(one, content(12.0)))


def test_lower_or_higher_is_better() -> None:
    one = toy(constant(1.0), (CASE,))
    (measure,) = one.measures
    assert reaches(one, "ours", "M = 100", measure, 9.71) is True
    assert reaches(one, "ours", "M = 100", measure, 9.72) is False
    assert reaches(one, "theirs", "M = 100", measure, 0.0) is None
    assert number_text(1.234, None, measure) == "1.23"


def test_where_seeds_may_fail_the_median_and_the_worst_are_shown() -> None:
    number = {"mean": 70.0, "sd": 40.0, "values": [95.0, 92.0, 23.0]}
    measure = Measure("accuracy", "accuracy", "%", "higher", 1, over_seeds="median")
    assert seeds_text(number, measure) == "92.0, worst 23.0"
    assert measure.typical(number["values"]) == 92.0  # type: ignore[arg-type]
    assert seeds_text(number, Measure("accuracy", "accuracy", decimals=1)) == "70.0 ± 40.0"


def test_a_bar_within_a_cell_is_no_border() -> None:
    head, _, line, _ = table_lines(["", "log p(x | z)"], [["a | b", "1"]])
    assert head == r"|  | log p(x \| z) |"
    assert line == r"| a \| b | 1 |"
