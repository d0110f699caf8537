import math

import pytest
import torch

from tests.references.pairwise import weight_loop
from unknot.errors import SpecError
from unknot.objectives.marginal.weights import ESTIMATORS, exact, mixture, naive, stratified


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_two_numbers_say_what_the_matrix_says(estimator: str) -> None:
    size = 4 if estimator == "exact" else 12
    weights = mixture(estimator, size, 4, torch.arange(4))
    matrix = weight_loop(estimator, size, 4, range(4))
    assert math.exp(weights.log_own) == pytest.approx(matrix[1][1])
    assert math.exp(weights.log_other) == pytest.approx(matrix[1][2])


@pytest.mark.parametrize("columns", [2, 5, 12])
def test_stratified_weights_add_up_to_one(columns: int) -> None:
    weights = stratified(12, columns, torch.arange(columns))
    total = math.exp(weights.log_own) + (columns - 1) * math.exp(weights.log_other)
    assert total == pytest.approx(1.0)


def test_a_batch_that_is_the_data_set_is_exact() -> None:
    ours, truth = stratified(7, 7, torch.arange(7)), exact(7, 7)
    assert ours.log_own == pytest.approx(truth.log_own)
    assert ours.log_other == pytest.approx(truth.log_other)


def test_a_data_set_of_one_item() -> None:
    assert stratified(1, 1, torch.arange(1)).log_own == 0.0


def test_one_item_of_many_is_refused() -> None:
    with pytest.raises(SpecError, match="at least two items"):
        stratified(10, 1, torch.arange(1))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_more_columns_than_items_are_refused(estimator: str) -> None:
    with pytest.raises(SpecError, match="dataset_size=3"):
        mixture(estimator, 3, 4, torch.arange(4))


def test_exact_needs_the_whole_data_set() -> None:
    with pytest.raises(SpecError, match="all 10 items"):
        exact(10, 4)


def test_unknown_names_and_empty_sets_are_refused() -> None:
    with pytest.raises(SpecError, match="stratified"):
        mixture("stratifed", 10, 4, torch.arange(4))
    with pytest.raises(SpecError, match="at least 1"):
        naive(0, 1)
