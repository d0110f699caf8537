"""The rows that keep a table honest."""

from __future__ import annotations

from experiments.ledger.baselines import LEAK_MEASURES, supervised


def test_labels_alone_see_as_many_labels_a_step() -> None:
    objective = {"name": "semi_supervised", "alpha": 50.0}
    train = {"steps": 7, "batch_size": 300, "labeled_share": 1 / 3, "objective": objective}
    alone = supervised(train, 1000)
    assert alone.pop("objective") == {"name": "supervised", "alpha": 50.0}
    assert alone == {"steps": 7, "labeled_share": 1.0, "batch_size": 100}
    assert supervised(train, 50)["batch_size"] == 50


def test_a_leak_is_better_when_it_is_read_worse() -> None:
    assert {measure.better for measure in LEAK_MEASURES} == {"higher"}
