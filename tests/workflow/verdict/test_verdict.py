"""The verdict on small real trainings: silent on good ones, and what it says of bad ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from unknot import StructuredVAE
from unknot.data.from_arrays import from_arrays
from unknot.errors import TrainingWarning
from unknot.workflow.verdict.verdict import Verdict, judge, verdict

RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 2, 400)
STYLE = RNG.normal(size=(400, 1))
X = np.concatenate([KIND[:, None] * 2.0 + 0.4 * RNG.normal(size=(400, 2)), STYLE, STYLE], 1)
X[:, 3] += 0.1 * RNG.normal(size=400)  # the style is seen twice: worth a code


@pytest.fixture(scope="module")
def good() -> StructuredVAE:
    rate = {"name": "cosine", "start": 1e-2, "end": 1e-4}
    vae = StructuredVAE(style=1, steps=200, batch_size=100, learning_rate=rate, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        return vae.fit(X[:300], kind=KIND[:300])


def test_a_good_training_gives_no_warning_and_says_what_was_looked_at(good: StructuredVAE) -> None:
    data = [from_arrays(X[part], {"kind": KIND[part]}) for part in (slice(0, 300), slice(300, 400))]
    found = verdict(good.trained_, data[0], data[1], good.history_)
    assert found.findings == ()
    assert found.line.startswith("Nothing stands out. Looked at: the information in the style")
    assert "kind on 100 held-out labels beside a linear model" in found.line


def test_a_training_of_a_few_steps_is_worse_than_a_linear_model_and_the_estimator_warns() -> None:
    vae = StructuredVAE(style=1, steps=2, learning_rate=1e-5, verbose=False)
    with pytest.warns(TrainingWarning, match="kind is read worse than by a linear model"):
        vae.fit(X, kind=KIND)


def test_it_can_be_switched_off() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        StructuredVAE(style=1, steps=2, learning_rate=1e-5, verdict=False, verbose=False).fit(X, kind=KIND)


def test_looking_leaves_the_model_and_the_random_numbers_as_they_were(good: StructuredVAE) -> None:
    before, weights = (
        torch.get_rng_state(),
        {n: p.clone() for n, p in good.trained_.module.state_dict().items()},
    )
    verdict(good.trained_, from_arrays(X, {"kind": KIND}), None, good.history_)
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(p, weights[n]) for n, p in good.trained_.module.state_dict().items())


def test_a_verdict_without_anything_to_look_at_says_so(good: StructuredVAE) -> None:
    assert "nothing, for want of data" in judge(good.trained_, [], [], []).line
    assert Verdict((), ("the curve",)).line == "Nothing stands out. Looked at: the curve."
