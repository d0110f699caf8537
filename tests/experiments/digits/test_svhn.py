"""svhn: the table of S17 Fig. 3, on the subset."""

from __future__ import annotations

from experiments.digits.svhn import BEST_ROW, EXPERIMENT, LABELS, S17_ROW


def test_both_rows_have_their_labels_alone() -> None:
    cases = EXPERIMENT.cases("quick")
    for row in (BEST_ROW, S17_ROW):
        assert [case["labels"] for case in cases if case["row"] == row] == list(LABELS)
    alone = [case for case in cases if case["row"].startswith("labels alone")]
    assert len(alone) == 2 * len(LABELS)
    assert all(case["train"]["objective"]["name"] == "supervised" for case in alone)
