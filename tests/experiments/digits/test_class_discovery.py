"""Classes without labels: what each row leaves out, and numbers of an encoder that knows the answer."""

from __future__ import annotations

import pytest

from experiments.digits.class_discovery import (
    ABLATION_STEPS,
    ALL_PARTS,
    AUTHORS_ROW,
    BEST_ROW,
    EXPERIMENTS,
    JOINT_ROW,
    MEASURES,
    PRINTED_ROW,
    REWARD,
    REWARDED_ROW,
    rows,
)
from experiments.ledger.codes import CLASS


def test_no_row_sees_a_label() -> None:
    for settings in rows().values():
        assert not any(node.get("labels") for node in settings["model"]["nodes"].values())


def test_the_printed_row_has_the_weights_and_nothing_else() -> None:
    printed = rows()[PRINTED_ROW]
    assert printed["train"]["objective"] == {"name": "hfvae", "beta": 12.0, "gamma": 4.0}
    assert set(printed["model"]) == {"nodes"}


def test_the_rewarded_rows_differ_in_the_networks_and_the_ablation_in_one_part() -> None:
    best, ours = rows()[BEST_ROW], rows()[REWARDED_ROW]
    assert best["model"]["nodes"]["x"]["encoder"]["name"] == "conv"
    assert ours["train"]["objective"]["information"] == {CLASS: -19.0}
    assert ours["train"]["objective"]["marginal"] == {CLASS: 41.0}
    parts = rows(apart=True)
    whole, without = (parts[f"{ABLATION_STEPS} steps: {part}"] for part in (ALL_PARTS, "without agreement"))
    assert {**whole["train"], "steps": ours["train"]["steps"]} == ours["train"]
    assert without["model"] == whole["model"] == ours["model"]
    regularizers = [settings["train"]["objective"]["regularizers"] for settings in (without, whole)]
    assert regularizers == [{"agreement": 0.0}, {"agreement": REWARD}]


def test_accuracy_is_shown_by_its_median_and_worst_seed() -> None:
    assert MEASURES[0].over_seeds == "median"


def test_each_data_set_has_its_own_experiment() -> None:
    data = [{case["data"] for case in one.cases("quick")} for one in EXPERIMENTS]
    assert data == [{"mnist"}, {"fashion-mnist"}]


def test_the_authors_scoring_differs_in_the_family_of_the_class_and_what_the_style_is_inferred_from() -> None:
    authors, printed = rows()[AUTHORS_ROW], rows()[PRINTED_ROW]
    assert authors["train"]["objective"] == printed["train"]["objective"]
    theirs, ours = authors["model"]["nodes"], printed["model"]["nodes"]
    assert theirs[CLASS] == {**ours[CLASS], "family": "argmax_concrete"}
    assert theirs["style"] == {**ours["style"], "inferred_from": ["x", CLASS]}
    assert theirs["x"] == ours["x"]


def test_joint_vae_s_capacities_rise_as_slowly_as_published() -> None:
    train = rows()[JOINT_ROW]["train"]
    rise = sum(stage["steps"] for stage in train["stages"])
    assert 24_000 <= rise < 25_000 < train["steps"]
    assert train["objective"]["C"]["style"] == 5.0
    assert train["objective"]["C"][CLASS] == pytest.approx(2.3026, abs=1e-4)
