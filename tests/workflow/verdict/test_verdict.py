"""The verdict on small real trainings: silent on good ones, and what it says of bad ones."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.workflow.verdict.made import fold_of, out_of_fold
from unknot import StructuredVAE
from unknot.data.from_arrays import from_arrays
from unknot.errors import TrainingWarning
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.verdict.finding import Finding
from unknot.workflow.verdict.unseen import Unseen
from unknot.workflow.verdict.verdict import Verdict, judge, verdict, warn_of_findings

RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 2, 400)
STYLE = RNG.normal(size=(400, 1))
X = np.concatenate([KIND[:, None] * 2.0 + 0.4 * RNG.normal(size=(400, 2)), STYLE, STYLE], 1)
X[:, 3] += 0.1 * RNG.normal(size=400)  # the style is seen twice: worth a code


@pytest.fixture(scope="module")
def good() -> StructuredVAE:
    rate = {"name": "cosine", "start": 1e-2, "end": 1e-4}
    vae = StructuredVAE(
        "class_style", style=1, steps=200, batch_size=100, learning_rate=rate, cross_fit=0, verbose=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        return vae.fit(X[:300], kind=KIND[:300])


def test_a_good_training_gives_no_warning_and_says_what_was_examined(good: StructuredVAE) -> None:
    data = [from_arrays(X[part], {"kind": KIND[part]}) for part in (slice(0, 300), slice(300, 400))]
    found = verdict(good.trained_, data[0], data[1], good.history_)
    assert found.findings == ()
    assert found.line.startswith(
        "Nothing stands out. Examined: kind on 100 held-out labels beside a linear model; "
    )
    assert found.color == "green"


def test_without_held_out_labels_it_shows_no_error_and_says_why(good: StructuredVAE) -> None:
    train = from_arrays(X[:300], {"kind": KIND[:300]})
    for held_out in (None, from_arrays(X[300:])):
        found = verdict(good.trained_, train, held_out, good.history_)
        line = found.line
        assert found.color == "gray"  # not green: no error is known
        assert "No error of kind is shown, because the only labels here are those that the model was" in line
        assert "%" not in line
    bare = StructuredVAE("class_style", style=1, steps=2, verdict=False, verbose=False).fit(X)
    assert "No error" not in verdict(bare.trained_, from_arrays(X), None, []).line  # it has no factors


def test_a_training_of_a_few_steps_is_worse_than_a_linear_model_and_the_estimator_warns() -> None:
    vae = StructuredVAE("class_style", style=1, steps=2, learning_rate=1e-5, cross_fit=0, verbose=False)
    with pytest.warns(TrainingWarning, match="Predictions of kind are worse than those of a linear model"):
        vae.fit(X, kind=KIND)


def test_it_can_be_switched_off() -> None:
    vae = StructuredVAE(
        "class_style", style=1, steps=2, learning_rate=1e-5, cross_fit=0, verdict=False, verbose=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        vae.fit(X, kind=KIND)


def test_looking_leaves_the_model_and_the_random_numbers_as_they_were(good: StructuredVAE) -> None:
    before, weights = (
        torch.get_rng_state(),
        {n: p.clone() for n, p in good.trained_.module.state_dict().items()},
    )
    verdict(good.trained_, from_arrays(X, {"kind": KIND}), None, good.history_)
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(p, weights[n]) for n, p in good.trained_.module.state_dict().items())


def test_a_verdict_without_data_says_so(good: StructuredVAE) -> None:
    assert "nothing, there is no data" in judge(good.trained_, [], [], []).line
    assert Verdict((), ("the curve",)).line == "Nothing stands out. Examined: the curve."


# ---- Out-of-fold predictions ------------------------------------------------------------------------------


def test_out_of_fold_predictions_are_judged_where_there_are_no_held_out_labels(good: StructuredVAE) -> None:
    train = from_arrays(X[:300], {"kind": KIND[:300]})
    model = replace(good.trained_, out_of_fold={"kind": out_of_fold(KIND[:300], right=0.9, linear=0.9)})
    found = verdict(model, train, None, good.history_)
    assert found.color == "green"
    assert "kind on 300 out-of-fold labels beside a linear model" in found.line
    assert "No error" not in found.line
    worse = replace(good.trained_, out_of_fold={"kind": out_of_fold(KIND[:300], right=0.6, linear=0.9)})
    found = verdict(worse, train, None, good.history_)
    assert found.color == "red"
    assert [one.kind for one in found.findings] == ["below linear"]
    assert "on 300 out-of-fold labels the error is 40.00 %, and 10.00 % for a linear model" in found.line


def test_held_out_labels_come_before_out_of_fold_ones(good: StructuredVAE) -> None:
    data = [from_arrays(X[part], {"kind": KIND[part]}) for part in (slice(0, 300), slice(300, 400))]
    model = replace(good.trained_, out_of_fold={"kind": out_of_fold(KIND[:300], right=0.6, linear=0.9)})
    assert verdict(model, data[0], data[1], good.history_).color == "green"


def test_few_labels_are_no_warning_and_overconfidence_is_one(good: StructuredVAE) -> None:
    train = from_arrays(X[:300], {"kind": KIND[:300]})
    few = replace(good.trained_, out_of_fold={"kind": out_of_fold(KIND[:20], right=0.8, linear=0.8)})
    assert [one.kind for one in verdict(few, train, None, good.history_).findings] == ["few labels"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        warn_of_findings(verdict(few, train, None, good.history_))
    sure = replace(
        good.trained_, out_of_fold={"kind": out_of_fold(KIND[:300], right=0.7, linear=0.7, confidence=0.99)}
    )
    with pytest.warns(TrainingWarning, match="overconfident"):
        warn_of_findings(verdict(sure, train, None, good.history_))


def test_weights_of_classes_move_their_shares_on_purpose(good: StructuredVAE) -> None:
    one = fold_of(np.repeat([0, 1], [270, 30]), np.tile([0.5, 0.5], (300, 1)))
    train = from_arrays(X[:300], {"kind": one.labels})
    model = replace(good.trained_, out_of_fold={"kind": one})
    balanced = replace(model, class_weights={"kind": (1.0, 9.0)})
    kinds = [[found.kind for found in verdict(m, train, None, []).findings] for m in (model, balanced)]
    assert "class shares" in kinds[0]
    assert "class shares" not in kinds[1]


def test_the_color_is_that_of_the_gravest_finding() -> None:
    red, amber = Finding("below linear", "worse.", "red"), Finding("improving", "longer.")
    fold = out_of_fold(KIND[:20], right=0.8, linear=0.8)
    known = (Unseen("kind", MEASURES["error"], ("a", "b"), fold.ids, fold.labels, fold.predictions, 5),)
    assert Verdict((amber, red), (), unseen=known).color == "red"
    assert Verdict((amber, red), ()).lines == ["worse.", "longer."]
    assert Verdict((amber,), (), unseen=known).color == "amber"
    assert Verdict((), (), unseen=known).color == "green"
    assert Verdict((), (), "No error of size.", known).color == "gray"
    assert Verdict((), ()).color == "gray"
