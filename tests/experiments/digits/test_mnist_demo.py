"""mnist-demo: the demonstration's own recipe, beside what the same labels give without it."""

from __future__ import annotations

from experiments.digits.mnist_demo import ALONE, EXPERIMENT, LINEAR, ROW
from unknot.workflow.demo import MODEL, TRAIN


def test_the_quick_tier_is_the_demo() -> None:
    demo, alone, linear = EXPERIMENT.cases("quick")
    assert (demo["row"], demo["data"], demo["labels"], demo["train"]) == (ROW, "mnist", 100, TRAIN)
    assert (alone["row"], alone["model"], alone["train"]["steps"]) == (ALONE, MODEL, TRAIN["steps"])
    assert alone["train"]["objective"]["name"] == "supervised"
    assert linear["row"] == LINEAR
    assert EXPERIMENT.cases("smoke")[0]["data"] == "digits"


def test_a_linear_classifier_reads_most_of_the_embedded_digits() -> None:
    found = EXPERIMENT.run({"data": "digits", "labels": 100}, 0, None)
    assert 5 < found["error"] < 30
