"""How much each reference item counts in a minibatch estimate of the inference marginal.

The marginal is a mixture over all N items of the data set, q(z) = 1/N Σ_n q(z | x_n), too long to sum at
every step. Every estimator here sums over C reference items ("columns": the batch, or the batch followed by
further items) with two weights, one for the draw's own item and one shared by the others:

    q^(z_b) = w_own q(z_b | x_b) + w_other Σ_{c ≠ b} q(z_b | x_c)

====================  =========  ====================  ===========================================
estimator             w_own      w_other               E q^(z_b)
====================  =========  ====================  ===========================================
``stratified``        1/N        (N-1) / (N (C-1))     q(z_b)
``naive``             1/C        1/C                   too large: own item counts N/C times
``minibatch_weighted``  1/(N C)  1/(N C)               naive / N
``exact``             1/N        1/N                   q(z_b), no error: the columns are the data set
====================  =========  ====================  ===========================================

*stratified* (E19 sec. 3.1 and App. A) takes the own item for certain, which is where most of the density is,
and lets the other columns stand for the N - 1 items left. It is unbiased for q(z_b) as long as every other
column is uniform over the items that are not b: batches drawn without replacement, and a **reference batch**
of R further items, distinct from the batch's, appended as extra columns (C = B + R): more columns, the same
two formulas, less variance. Its logarithm is biased downwards (Jensen), by O(1/C).

*minibatch_weighted* (Chen et al. 2018, MWS) differs from naive by the constant log N alone. Constants cancel
in gradients but not in reported values: each log q^ is low by log N, so a total correlation over D
dimensions, log q^(z) - Σ_d log q^(z_d), is high by (D - 1) log N. Compare gradients with it, not values.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from unknot.errors import SpecError


@dataclass(frozen=True)
class Mixture:
    """Weights of a minibatch mixture: two numbers and where the own items are, never a B x C matrix.

    ``own[b]`` is the column of draw b's own item, shape (B,); None when both weights are the same.
    """

    columns: int
    log_own: float
    log_other: float
    own: Tensor | None = None


def stratified(dataset_size: int, columns: int, own: Tensor) -> Mixture:
    """E19 sec. 3.1: own item 1/N, each other column (N-1) / (N (C-1)). Unbiased for q(z_b)."""
    _check_sizes(dataset_size, columns)
    if columns == 1:
        if dataset_size > 1:
            raise SpecError(
                f"stratified: expected at least two items to estimate a mixture over {dataset_size}, got one; "
                "use a larger batch, drop the last incomplete one, or add reference items"
            )
        return Mixture(1, 0.0, 0.0)
    other = (dataset_size - 1) / (dataset_size * (columns - 1))
    return Mixture(columns, -math.log(dataset_size), math.log(other), own)


def minibatch_weighted(dataset_size: int, columns: int, own: Tensor | None = None) -> Mixture:
    """Chen et al. 2018, MWS: every column 1/(N C). Low by log N; see the module's note on constants."""
    _check_sizes(dataset_size, columns)
    return _uniform(columns, -math.log(dataset_size) - math.log(columns))


def naive(dataset_size: int, columns: int, own: Tensor | None = None) -> Mixture:
    """Every column 1/C, as if the batch were the data set."""
    _check_sizes(dataset_size, columns)
    return _uniform(columns, -math.log(columns))


def exact(dataset_size: int, columns: int, own: Tensor | None = None) -> Mixture:
    """Every column 1/N, and the columns are all N items: the inference marginal itself."""
    _check_sizes(dataset_size, columns)
    if columns != dataset_size:
        raise SpecError(
            f"exact: expected all {dataset_size} items as reference, got {columns}; "
            "pass the parameters of the whole data set, or use the stratified estimator"
        )
    return _uniform(columns, -math.log(dataset_size))


ESTIMATORS: dict[str, Callable[[int, int, Tensor], Mixture]] = {
    "stratified": stratified,
    "minibatch_weighted": minibatch_weighted,
    "naive": naive,
    "exact": exact,
}


def mixture(estimator: str, dataset_size: int, columns: int, own: Tensor) -> Mixture:
    """The weights of an estimator by name.

    >>> mixture("stratified", dataset_size=60000, columns=512, own=torch.arange(512)).log_own
    -11.002...
    """
    if estimator not in ESTIMATORS:
        raise SpecError(f"unknown estimator of q(z) {estimator!r}; choose one of {', '.join(ESTIMATORS)}")
    return ESTIMATORS[estimator](dataset_size, columns, own)


def _uniform(columns: int, log_weight: float) -> Mixture:
    return Mixture(columns, log_weight, log_weight)


def _check_sizes(dataset_size: int, columns: int) -> None:
    if dataset_size < 1 or columns < 1:
        raise SpecError(f"dataset_size and batch must be at least 1, got {dataset_size} and {columns}")
    if columns > dataset_size:
        raise SpecError(
            f"expected no more reference items than dataset_size={dataset_size}, got {columns}; "
            "dataset_size is the number of training items, not of batches"
        )
