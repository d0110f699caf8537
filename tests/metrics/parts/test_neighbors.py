"""Information by neighbors: scikit-learn's number, brute force, an exact case."""

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif

from unknot.metrics.parts.information import count_closer, neighbor_distance, neighbor_information

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [3, 10])
def test_scikit_learns_number(k: int) -> None:
    factor = RNG.integers(0, 5, 800)
    code = factor + RNG.normal(size=800)
    code = (code - code.mean()) / code.std()
    theirs = mutual_info_classif(
        code[:, None], factor, discrete_features=False, n_neighbors=k, random_state=0
    )[0]
    assert neighbor_information(code, factor, k) == pytest.approx(theirs, abs=1e-6)


def test_equal_values_and_rare_categories() -> None:
    factor = np.concatenate([np.arange(300) % 3, [7], [8, 8]])  # one item alone, and two
    code = factor + 0.0
    theirs = mutual_info_classif(
        code[:, None], factor, discrete_features=False, n_neighbors=10, random_state=0
    )[0]
    assert neighbor_information(code, factor, 10) == pytest.approx(theirs, abs=1e-2)


def test_two_gaussians_far_apart_tell_all() -> None:
    factor = RNG.integers(0, 2, 2000)
    found = neighbor_information(100 * factor + RNG.normal(size=2000), factor, 10)
    assert found == pytest.approx(np.log(2), abs=0.01)
    assert neighbor_information(RNG.normal(size=2000), factor, 10) < 0.03


def test_distances_and_counts_by_brute_force() -> None:
    values = np.sort(RNG.normal(size=60))
    apart = np.abs(values[:, None] - values)
    for k in (1, 4, 59):
        assert neighbor_distance(values, k) == pytest.approx(np.sort(apart, 1)[:, k])
    radius = neighbor_distance(values, 5)
    assert count_closer(values, values, radius).tolist() == (apart < radius[:, None]).sum(1).tolist()
    assert set(count_closer(values, values, radius).tolist()) == {5}  # itself and four
