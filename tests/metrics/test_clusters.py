"""Clusters against classes: brute force over matchings and pairs, and chance."""

from itertools import combinations, permutations

import numpy as np
import pytest

from tests.metrics import cases
from unknot.errors import DataError
from unknot.metrics import ari, class_accuracy, nmi

CLASSES = cases.FACTORS[:, 1]


def test_names_of_clusters_do_not_matter() -> None:
    renamed = np.array([2, 0, 1])[CLASSES]
    for score in (class_accuracy, nmi, ari):
        assert score(renamed, CLASSES).value == pytest.approx(1)


def test_accuracy_is_the_best_of_all_matchings() -> None:
    rng = np.random.default_rng(0)
    classes, clusters = rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    slow = max(
        np.mean([order[c] == y for c, y in zip(clusters, classes, strict=True)])
        for order in permutations(range(4))
    )
    assert class_accuracy(clusters, classes).value == pytest.approx(slow)


def test_rand_index_over_all_pairs() -> None:
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 3, 50)
    clusters = np.where(rng.random(50) < 0.6, classes, rng.integers(0, 3, 50))
    pairs = list(combinations(range(50), 2))
    same_class = np.array([classes[i] == classes[j] for i, j in pairs])
    same_cluster = np.array([clusters[i] == clusters[j] for i, j in pairs])
    expected = same_class.sum() * same_cluster.sum() / len(pairs)
    highest = (same_class.sum() + same_cluster.sum()) / 2
    slow = ((same_class & same_cluster).sum() - expected) / (highest - expected)
    assert ari(clusters, classes).value == pytest.approx(slow)


def test_normalised_information_by_hand() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 3, 80).tolist(), rng.integers(0, 4, 80).tolist()
    slow = cases.slow_information(a, b) / ((cases.slow_entropy(a) + cases.slow_entropy(b)) / 2)
    assert nmi(a, b).value == pytest.approx(slow)


def test_independent_clusters() -> None:
    clusters = cases.FACTORS[:, 0]
    assert class_accuracy(clusters, CLASSES).value == pytest.approx(1 / 3)
    assert nmi(clusters, CLASSES).value == pytest.approx(0, abs=1e-9)
    assert abs(ari(clusters, CLASSES).value) < 0.01


def test_the_best_discrete_code_of_each_factor() -> None:
    codes = {"z": cases.NOISY, "c": cases.FACTORS[:, 1], "d": cases.FACTORS[:, 2]}
    found = class_accuracy(codes, cases.FACTORS[:, 1:])
    assert list(found.by_factor.values()) == [1, 1]


def test_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="no code is discrete"):
        class_accuracy(cases.NOISY, CLASSES)
    with pytest.raises(DataError, match="no factor is discrete"):
        nmi(CLASSES, cases.NOISY)
