"""Novelty: p-values that are uniform on items like the training items, and small on others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.statistics import standard_errors
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.models.novelty import MOST_ITEMS, NEIGHBORS, Novelty, make_novelty


def blobs(count: int, seed: int, size: int = 6) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    centers = 4 * np.random.default_rng(99).standard_normal((3, size))
    spread = np.array([0.3, 1.0, 2.0])
    kind = rng.integers(0, 3, count)
    rows = centers[kind] + spread[kind][:, None] * rng.standard_normal((count, size))
    return torch.tensor(rows, dtype=torch.float32)


def items(rows: torch.Tensor) -> Dataset:
    return replace(from_arrays(rows.numpy()), x=rows)


def learned(rows: torch.Tensor) -> Novelty:
    novelty = Novelty.for_data(items(rows))
    assert novelty is not None
    return novelty


def slow_score(novelty: Novelty, x: torch.Tensor) -> float:
    """The score of one item by its definition: it is added to the items, and its neighbors' radii are computed anew."""
    rows = ((novelty.features(x[None]) - novelty.center) @ novelty.projection).double()
    known = torch.cat([novelty.items.double(), rows])
    distances = (known[:, None] - known[None]).norm(dim=-1)
    distances.fill_diagonal_(torch.inf)
    radii = distances.sort(1).values[:, :NEIGHBORS].mean(1)
    nearest = distances[-1].argsort()[:NEIGHBORS]
    return float(distances[-1][nearest].mean() / radii[nearest].mean())


def test_scores_are_those_of_the_definition() -> None:
    novelty = learned(blobs(90, 0))
    new = blobs(20, 1)
    np.testing.assert_allclose(novelty.score(new), [slow_score(novelty, x) for x in new], rtol=4e-3)


@pytest.mark.parametrize(("count", "size"), [(60, 6), (300, 6), (1600, 6), (90, 200)])
def test_p_values_of_items_like_the_training_items_are_uniform(count: int, size: int) -> None:
    """The share of p-values at most a is a for four a, on the mean of 60 training sets (rate 5.7e-7).

    Also with fewer items than columns, whose principal components fit the items that they are learned from too well.
    """
    levels, draws, shares = np.array([0.05, 0.1, 0.3, 0.7]), 60, []
    for draw in range(draws):
        values = learned(blobs(count, 2 * draw, size))(blobs(400, 2 * draw + 1, size)).numpy()
        shares.append((values[:, None] <= levels).mean(0))
    kept = min(count - count // 3, MOST_ITEMS)
    reach = standard_errors(len(levels)) * np.std(shares, 0) / draws**0.5 + 1 / (kept + 1)
    assert (np.abs(np.mean(shares, 0) - levels) <= reach).all(), np.mean(shares, 0)


def test_items_of_another_kind_have_small_p_values() -> None:
    novelty = learned(blobs(600, 0))
    assert float(novelty(blobs(50, 1) + 20.0).max()) <= 1 / 401 + 1e-9


def test_constant_columns_and_far_items_are_fine() -> None:
    rows = torch.cat([blobs(30, 0), torch.ones(30, 1)], 1)
    values = learned(rows)(torch.cat([rows, rows + 1e30]))
    assert bool(((values > 0) & (values <= 1)).all())


def test_duplicates_are_not_novel() -> None:
    same = torch.zeros(50, 3)
    assert float(learned(same)(same[:2]).min()) == 1.0


def test_few_items_or_items_without_features_have_no_novelty() -> None:
    assert Novelty.for_data(items(blobs(19, 0))) is None
    unknown = Dataset("x", torch.zeros(40, 2, 2, 2, 2), torch.arange(40))
    assert Novelty.for_data(unknown) is None


def test_many_columns_are_projected_and_restored_from_description_and_state() -> None:
    rows = torch.randn(300, 80, generator=torch.Generator().manual_seed(0))
    novelty = learned(rows)
    assert novelty.items.shape == (200, 50)
    again = make_novelty(novelty.to_dict())
    again.load_state_dict(novelty.state_dict())
    assert bool((again(rows[:9]) == novelty(rows[:9])).all())
    assert again.rows.shape == (200, 80)
    assert bool((again.rows == novelty.rows).all())
