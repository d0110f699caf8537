"""Marks of code that has changed, and where runs come from."""

from __future__ import annotations

from experiments.ledger.provenance import (
    marks,
    present_code,
    provenance_lines,
    read_present_code,
    write_present_code,
)
from tests.experiments.toy import CASE, constant, toy


def test_marks_are_of_any_run() -> None:
    runs = [{"revision": "abc"}, {"revision": "abd", "code": "1", "data": {}}]
    assert marks(runs, "1") == "†"
    assert marks(runs, "2") == "°†"
    assert marks(runs[1:], "1") == ""


def test_runs_are_told_by_environment() -> None:
    made = {"revision": "abd", "code": "1", "data": {"mnist": "55"}, "torch": "2", "machine": "x, 1 thread"}
    runs = [{"case": CASE, **made}, {"case": CASE, **made}, {"case": CASE, "revision": "abc", "torch": "2"}]
    assert provenance_lines({"runs": runs}, "1") == [
        "- revision abd, code 1, mnist 55, torch 2, x, 1 thread: 2 runs of 1 cells.",
        "- revision abc†, torch 2: one run: ours, M = 100.",
    ]


def test_the_digests_of_the_pages_are_kept(tmp_path) -> None:
    assert read_present_code(tmp_path) == {}
    one = toy(constant(1.0))
    assert write_present_code([one], tmp_path) == read_present_code(tmp_path) == present_code([one])
