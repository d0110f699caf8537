"""mnist: the table of S17 Fig. 3, its honest rows and its ablation."""

from __future__ import annotations

from experiments.digits.mnist import BEST_ROW, EXPERIMENT, LABELS, S17_ROW


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


def test_rows_without_the_generative_model_have_the_same_encoder_and_as_many_steps() -> None:
    cases = EXPERIMENT.cases("quick")
    for row in (BEST_ROW, S17_ROW):
        whole = next(case for case in cases if case["row"] == row)
        name = f"{row if row == S17_ROW else 'separate encoders'}, without the generative model"
        bare = next(case for case in cases if case["row"] == name)
        assert bare["labels"] == whole["labels"] == 100
        objective = {**whole["train"]["objective"], "name": "supervised"}
        assert bare["train"] == {**whole["train"], "objective": objective}
        if row == BEST_ROW:
            nodes = whole["model"]["nodes"]
            nodes = {**nodes, "digit": {**nodes["digit"], "encoder": {"name": "mlp", "part": "shapes"}}}
            whole = {**whole, "model": {**whole["model"], "nodes": nodes}}
        assert bare["model"] == whole["model"]


def test_labels_alone_stand_beside_both_encoders() -> None:
    rows = {case["row"] for case in EXPERIMENT.cases("quick")}
    assert sum(row.startswith("labels alone") for row in rows) == 2
