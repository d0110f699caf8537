"""Slow, obvious twins of the pairwise estimators: one pair at a time, one term at a time."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def weight_loop(estimator: str, dataset_size: int, columns: int, own: Sequence[int]) -> list[list[float]]:
    """Weights of draw b (row) on item c (column), each from its formula."""
    n = dataset_size
    weights = []
    for own_column in own:
        row = []
        for c in range(columns):
            if estimator == "stratified":
                row.append(1 / n if c == own_column else (n - 1) / (n * (columns - 1)))
            elif estimator == "minibatch_weighted":
                row.append(1 / (n * columns))
            elif estimator == "naive":
                row.append(1 / columns)
            else:
                row.append(1 / n)
        weights.append(row)
    return weights


def pair_loop(rows: int, columns: int, log_prob: Callable[[int, int], Tensor]) -> Tensor:
    """``log_prob(b, c)`` gives log q(z_bd | x_c) for all leaves d, (D,): the result is (R, C, D)."""
    return torch.stack([torch.stack([log_prob(b, c) for c in range(columns)]) for b in range(rows)])


def mixture_loop(logs: Tensor, weights: list[list[float]]) -> Tensor:
    """log Σ_c w_bc exp(log q(z_b | x_c)) for ``logs`` (R, C), in float64."""
    result = []
    for row, row_weights in zip(logs.double(), weights, strict=True):
        top = max(value.item() for value in row)
        total = 0.0
        for value, weight in zip(row, row_weights, strict=True):
            total += weight * math.exp(value.item() - top)
        result.append(top + math.log(total))
    return torch.tensor(result, dtype=torch.float64)


def joint_and_marginals(logs: Tensor, weights: list[list[float]]) -> tuple[Tensor, Tensor]:
    """The joint matrix (R, C) and the per-leaf mixtures (R, D)."""
    leaves = [mixture_loop(logs[:, :, d], weights) for d in range(logs.shape[2])]
    return logs.sum(-1), torch.stack(leaves, -1)
