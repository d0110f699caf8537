"""Novelty: p-values that are uniform on items like the training items, and small on others."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.statistics import standard_errors
from unknot.models.novelty import NEIGHBORS, Novelty


def blobs(count: int, seed: int, size: int = 6) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    centers = 4 * np.random.default_rng(99).standard_normal((3, size))
    spread = np.array([0.3, 1.0, 2.0])
    kind = rng.integers(0, 3, count)
    return torch.tensor(
        centers[kind] + spread[kind][:, None] * rng.standard_normal((count, size)), dtype=torch.float32
    )


def slow_score(novelty: Novelty, x: torch.Tensor) -> float:
    """The score of one item by its definition: it is added to the items, and its neighbors' radii are computed anew."""
    rows = ((x - novelty.center) @ novelty.projection).double()
    items = torch.cat([novelty.items.double(), rows[None]])
    distances = (items[:, None] - items[None]).norm(dim=-1)
    distances.fill_diagonal_(torch.inf)
    radii = distances.sort(1).values[:, :NEIGHBORS].mean(1)
    nearest = distances[-1].argsort()[:NEIGHBORS]
    return float(distances[-1][nearest].mean() / radii[nearest].mean())


def test_scores_are_those_of_the_definition() -> None:
    novelty = Novelty.of_items(blobs(60, 0), standardize=True)
    new = blobs(20, 1)
    expected = [slow_score(novelty, x) for x in new]
    np.testing.assert_allclose(novelty.score(new), expected, rtol=4e-3)


@pytest.mark.parametrize("count", [40, 300, 1500])
def test_p_values_of_items_like_the_training_items_are_uniform(count: int) -> None:
    """The share of p-values at most a is a, for four a, on the mean of 60 training sets (rate 5.7e-7)."""
    levels, draws = np.array([0.05, 0.1, 0.3, 0.7]), 60
    shares = []
    for draw in range(draws):
        values = Novelty.of_items(blobs(count, 2 * draw), standardize=True)(blobs(400, 2 * draw + 1)).numpy()
        shares.append((values[:, None] <= levels).mean(0))
    reach = standard_errors(len(levels)) * np.std(shares, 0) / draws**0.5 + 1 / (min(count, 1000) + 1)
    assert (np.abs(np.mean(shares, 0) - levels) <= reach).all(), np.mean(shares, 0)


def test_items_of_another_kind_have_small_p_values() -> None:
    novelty = Novelty.of_items(blobs(500, 0), standardize=True)
    far = blobs(50, 1) + 20.0
    assert float(novelty(far).max()) <= 1 / 501 + 1e-9


def test_few_items_and_constant_features_are_fine() -> None:
    few = torch.cat([torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), torch.ones(4, 1)], 1)
    values = Novelty.of_items(few, standardize=True)(torch.cat([few, few + 1e30]))
    assert bool(((values > 0) & (values <= 1)).all())


def test_duplicates_are_not_novel() -> None:
    same = torch.zeros(50, 3)
    assert float(Novelty.of_items(same, standardize=True)(same[:2]).min()) == 1.0


def test_many_features_are_projected_and_restored_from_their_state() -> None:
    rows = torch.randn(200, 300, generator=torch.Generator().manual_seed(0))
    novelty = Novelty.of_items(rows, standardize=False)
    assert novelty.items.shape == (200, 50)
    again = Novelty(300, 50, 200)
    again.load_state_dict(novelty.state_dict())
    assert bool((again(rows[:9]) == novelty(rows[:9])).all())
