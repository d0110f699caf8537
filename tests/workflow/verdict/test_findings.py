"""Every finding both ways: the thing that went wrong, and the run that merely looks like it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.workflow.models import untrained
from unknot.models import node
from unknot.models.yaml_file import parse_yaml
from unknot.train.objective import resolve
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.verdict.comparison import Comparison
from unknot.workflow.verdict.verdict import below_linear, by_heart, collapsed, improving


def wrong(share: float, items: int = 400) -> np.ndarray:
    """Losses of an encoder that errs in so many items, evenly spread over them."""
    return (np.arange(items) * 7919 % items < share * items).astype(float)


GOOD = Comparison(
    "digit", MEASURES["error"], wrong(0.05), wrong(0.2), wrong(0.9), wrong(0.0, 100), 100, 100, True
)


def test_a_style_that_holds_nothing_has_collapsed() -> None:
    nodes = [
        node("light", "normal", 1, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x"]),
        node("x", "bernoulli", parents=["light", "style"]),
    ]
    model = untrained(nodes, (1, 6, 6))
    (found,) = collapsed(model, [("style[0]", 0.004), ("style[1]", 0.0), ("light[0]", 0.0)])
    assert found.kind == "collapsed"
    assert found.text.startswith("style has collapsed: none of its 2 dimensions")
    assert "beta: {style: 0.5}" in found.text
    assert collapsed(model, [("style[0]", 0.4), ("style[1]", 0.0), ("light[0]", 0.0)]) == []
    assert collapsed(model, []) == []


def test_without_labels_what_is_advised_against_a_collapse_can_be_done() -> None:
    nodes = [node("style", "normal", 2, inferred_from=["x"]), node("x", "normal", parents=["style"])]
    (found,) = collapsed(untrained(nodes, (3,)), [("style[0]", 0.0), ("style[1]", 0.0)])
    assert "factors" not in found.text
    advised = parse_yaml(found.text.partition("(")[2].removesuffix(")."))
    resolve(advised["objective"], dataset_size=4)


def test_a_curve_that_falls_to_the_end() -> None:
    falling = [{"step": 50 * i, "loss": 100.0 - i} for i in range(1, 21)]
    (found,) = improving(falling)
    assert "from step 800 to the last, 1,000, the loss went from 84 to 80" in found.text
    assert "steps: 2000" in found.text
    assert improving([{**record, "loss": 3.0} for record in falling]) == []


def test_labels_learned_by_heart() -> None:
    (found,) = by_heart(replace(GOOD, encoder=wrong(0.4)))
    assert "0.00 % on the labels it saw, and 40.00 % on 400 others" in found.text
    assert by_heart(GOOD) == []  # a good encoder from few labels errs a little more on other items
    assert by_heart(replace(GOOD, encoder=wrong(0.4), held_out=False)) == []
    assert by_heart(replace(GOOD, encoder=wrong(0.4), seen=wrong(0.3, 100))) == []  # hard, not by heart
    assert by_heart(replace(GOOD, encoder=wrong(0.4, 5))) == []  # two of five may be chance


def test_a_linear_model_that_reads_better() -> None:
    (found,) = below_linear(replace(GOOD, encoder=wrong(0.3)))
    assert (
        "30.00 % on 400 held-out items, that of a linear model on the same 100 labels 20.00 %" in found.text
    )
    (found,) = below_linear(replace(GOOD, encoder=wrong(0.3), held_out=False))
    assert "even on the labels it was trained on" in found.text
    (found,) = below_linear(replace(GOOD, encoder=wrong(0.3), of=60000))
    assert "on 100 of the 60,000 labels" in found.text
    assert below_linear(GOOD) == []
    assert below_linear(replace(GOOD, encoder=GOOD.linear)) == []
    assert below_linear(replace(GOOD, encoder=wrong(0.3, 20), linear=wrong(0.2, 20))) == []  # chance


def test_equal_encoders_are_called_worse_as_seldom_as_the_level_says() -> None:
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(1000):
        both = rng.normal(size=(2, 200)) ** 2
        one = Comparison(
            "size", MEASURES["root mean square error"], *both, np.full(200, 2.0), both[0], 50, 50, True
        )
        alarms += bool(below_linear(one))
    assert alarms <= 20  # 5 are expected, and 20 would be six standard errors off
