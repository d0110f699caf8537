"""Who is judged and who teaches: never the same item, and half of the labels at most are judged."""

from __future__ import annotations

import torch

from tests.workflow.counterfactuals.exact import exact_data
from unknot.workflow.counterfactuals.reader import MOST_JUDGED, MOST_LEARNED, judging


def rows(data) -> set[tuple[float, ...]]:
    return {tuple(row) for row in torch.as_tensor(data.x).tolist()}


def test_half_of_the_labels_alone() -> None:
    data = exact_data(101)
    parts = judging(data)
    assert (len(parts.judged), len(parts.learning)) == (50, 51)
    assert not rows(parts.judged) & rows(parts.learning)
    assert rows(parts.judged) | rows(parts.learning) == rows(data)


def test_training_labels_spare_the_test_items() -> None:
    test, train = exact_data(40, seed=1), exact_data(200, labeled=0.5)
    parts = judging(test, train)
    assert len(parts.judged) == 40
    assert rows(parts.learning) <= rows(train)
    assert bool(parts.learning.factors["kind"].known.all())
    known = {tuple(r) for r in train.x[train.factors["kind"].known].tolist()}
    assert rows(parts.learning) == known


def test_labels_stay_with_their_items() -> None:
    parts = judging(exact_data(60, seed=1), exact_data(50))
    for data in (parts.judged, parts.learning):
        kind = data.factors["kind"].values
        assert torch.equal(torch.as_tensor(data.x)[:, :3].argmax(-1)[kind >= 0], kind[kind >= 0])


def test_data_without_labels_and_large_data() -> None:
    bare = judging(exact_data(30, labeled=0.0))
    assert (len(bare.judged), len(bare.learning)) == (30, 0)
    large = judging(exact_data(9000))
    assert (len(large.judged), len(large.learning)) == (MOST_JUDGED, MOST_LEARNED)
    assert rows(judging(exact_data(101), seed=1).judged) != rows(judging(exact_data(101), seed=0).judged)
