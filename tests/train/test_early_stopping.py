"""Early stopping: the best score, and when to give up."""

from __future__ import annotations

import json
import math

import torch

from unknot.train.held_out import EarlyStopping


def test_it_stops_after_so_many_scores_without_a_new_best() -> None:
    stopping = EarlyStopping(patience=2)
    verdicts = []
    for step, score in enumerate([0.1, 0.5, 0.5, 0.6, math.nan, 0.2], start=1):
        verdicts.append((stopping.observe(score, step), stopping.exhausted))
    assert verdicts == [
        (True, False),
        (True, False),
        (False, False),  # as good is not better
        (True, False),
        (False, False),
        (False, True),
    ]
    assert (stopping.best, stopping.best_step) == (0.6, 4)


def test_without_patience_it_never_stops() -> None:
    stopping = EarlyStopping(None)
    assert [stopping.observe(-step, step) for step in (1, 2, 3)] == [True, False, False]
    assert not stopping.exhausted


def test_its_state_is_json_and_comes_back() -> None:
    for scores in ([], [0.5, 0.1]):
        stopping, other = EarlyStopping(3), EarlyStopping(3)
        for step, score in enumerate(scores):
            stopping.observe(score, step)
        weights = {"w": torch.ones(2)}
        other.restore(json.loads(json.dumps(stopping.state())), weights)
        assert (other.best, other.best_step, other.worse) == (
            stopping.best,
            stopping.best_step,
            stopping.worse,
        )
        assert other.weights is weights
