"""mnist-demo: the demonstration's own recipe."""

from __future__ import annotations

from unknot.papers.demo import TRAIN
from unknot.papers.mnist_demo import EXPERIMENT


def test_the_quick_tier_is_the_demo() -> None:
    (case,) = EXPERIMENT.cases("quick")
    assert (case["data"], case["labels"], case["steps"]) == ("mnist", 100, TRAIN["steps"])
    assert EXPERIMENT.cases("smoke")[0]["data"] == "digits"
