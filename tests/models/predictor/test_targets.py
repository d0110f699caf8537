"""Targets: classes are spread evenly over folds."""

import numpy as np
import pytest
import torch

from unknot.models.predictor.targets import deal, folds_of


@pytest.mark.parametrize("seed", range(3))
def test_folds_are_stratified(seed: int) -> None:
    y = np.repeat([0, 1, 2], [25, 10, 5])
    targets = deal(y, 3, seed)
    counts = np.stack([np.bincount(y[targets.fold == k], minlength=3) for k in range(5)])
    assert counts.tolist() == [[5, 2, 1]] * 5


def test_numbers_are_mixed_and_few_labels_are_folds_of_their_own() -> None:
    y = np.arange(50.0)[:, None]
    means = [y[deal(y, 1).fold == k].mean() for k in range(5)]
    assert max(means) - min(means) <= 5
    assert deal(np.array([0, 1, 0]), 2).folds == 3
    assert folds_of(torch.zeros(7), 3).bincount().tolist() in ([3, 2, 2], [2, 3, 2], [2, 2, 3])


def test_losses_are_those_of_the_labels() -> None:
    targets = deal(np.array([0, 1]), 2)
    np.testing.assert_allclose(targets.losses(np.array([[0.5, 0.5], [0.2, 0.8]])), -np.log([0.5, 0.8]))
    numbers = deal(np.array([[1.0], [2.0]]), 1)
    np.testing.assert_allclose(numbers.losses(np.zeros((2, 1))), [1.0, 4.0])
