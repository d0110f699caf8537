"""mnist: the table of S17 Fig. 3, its honest rows and its ablation."""

from __future__ import annotations

from unknot.papers.mnist import BEST_ROW, EXPERIMENT, LABELS


def test_the_best_row_comes_first_and_has_every_number_of_labels() -> None:
    cases = EXPERIMENT.cases("quick")
    assert [case["labels"] for case in cases if case["row"] == BEST_ROW] == list(LABELS)
    assert cases[0]["row"] == BEST_ROW


def test_an_ablation_changes_one_part_at_a_time() -> None:
    cases = [case for case in EXPERIMENT.cases("quick") if "steps:" in case["row"]]
    whole = cases[0]
    assert whole["row"].endswith("all parts")
    for case in cases[1:]:
        assert case["labels"] == 100
        assert (case["model"], case["train"]) != (whole["model"], whole["train"])
        assert case["train"]["steps"] == whole["train"]["steps"]


def test_the_row_without_the_generative_model_has_the_same_recogniser_and_as_many_steps() -> None:
    cases = EXPERIMENT.cases("quick")
    whole, bare = cases[0], next(case for case in cases if "without the generative model" in case["row"])
    assert bare["labels"] == whole["labels"] == 100
    assert bare["train"] == {**whole["train"], "objective": {"name": "labels_alone", "alpha": 400.0}}
    nodes = bare["model"]["nodes"]
    assert nodes["digit"].pop("evidence") == 0.0
    digit = {key: value for key, value in whole["model"]["nodes"]["digit"].items() if key != "evidence"}
    assert bare["model"] == {**whole["model"], "nodes": {**whole["model"]["nodes"], "digit": digit}}


def test_labels_alone_stand_beside_both_recognisers() -> None:
    rows = {case["row"] for case in EXPERIMENT.cases("quick")}
    assert sum(row.startswith("labels alone") for row in rows) == 2
