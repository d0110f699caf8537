"""Early stopping listens to labels, or else items, that training does not see."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.errors import SpecError
from unknot.objectives.elbo import elbo
from unknot.train.config import TrainConfig
from unknot.workflow.assembly import Assembly, assemble
from unknot.workflow.hold_out import SHARE, hold_out

X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
KINDS = np.where(np.arange(60) < 40, np.arange(60) % 2, -1)


def made(data: Dataset, **train: object) -> Assembly:
    return assemble(data, {"style": 2}, {"steps": 3, "batch_size": 30, **train})


def test_without_patience_nothing_is_held_out() -> None:
    one = made(from_arrays(X, {"kind": KINDS}))
    assert hold_out(one.model, one.data, one.config) == (one.data, None)


def test_labels_are_held_out_and_their_items_stay() -> None:
    one = made(from_arrays(X, {"kind": KINDS}), patience=2)
    train, score = hold_out(one.model, one.data, one.config)
    shown = train.factor("kind").known
    assert len(train) == 60
    assert int(shown.sum()) == 40 - round(SHARE * 40)
    assert score is not None
    hidden = one.data.factor("kind").known & ~shown  # minus the error on just these
    guess = one.model.predict(torch.from_numpy(X)).predictions["kind"].argmax(1)
    wrong = (guess != torch.from_numpy(KINDS))[hidden].float().mean()
    assert score(one.model.module) == pytest.approx(-float(wrong))


def test_without_labels_items_are_held_out_and_their_bound_is_the_score() -> None:
    one = made(from_arrays(X), patience=2)
    train, score = hold_out(one.model, one.data, one.config)
    assert len(train) == 60 - round(SHARE * 60)
    assert score is not None
    held = one.data.subset(torch.from_numpy(~np.isin(np.arange(60), train.ids.numpy())))
    with torch.no_grad():
        torch.manual_seed(one.config.seed)
        bound = elbo(*one.model.module(held.batch(range(len(held))))).total
        assert score(one.model.module) == pytest.approx(float(bound), rel=1e-5)
        assert score(one.model.module) == score(one.model.module)


def test_too_little_to_hold_out_is_refused() -> None:
    few = made(from_arrays(X[:4], {"kind": [0, 1, -1, -1]}))
    with pytest.raises(SpecError, match="too few to hold any out"):
        hold_out(few.model, few.data, TrainConfig(steps=3, batch_size=2, patience=1))
    two = made(from_arrays(X[:2]))
    with pytest.raises(SpecError, match="has only 2"):
        hold_out(two.model, two.data, TrainConfig(steps=3, batch_size=2, patience=1))
