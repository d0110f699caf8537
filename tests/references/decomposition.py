"""Slow, obvious twin of the decomposition: one node of the tree at a time, one pair at a time (E19 Figs. 1, 3)."""

from collections.abc import Mapping

import torch
from torch import Tensor

from tests.references.pairwise import mixture_loop

Tree = Mapping | list


def members(tree: Tree) -> list[str]:
    """The variables below a node."""
    if isinstance(tree, Mapping):
        return [name for part in tree.values() for name in members(part)]
    return list(tree)


def log_q_loop(names: list[str], leaf_logs: Mapping[str, Tensor], weights: list[list[float]]) -> Tensor:
    """log q^ of several variables together, from log q(z_bd | x_c) of each, (B, C, D)."""
    joint = sum(leaf_logs[name].sum(-1) for name in names)
    assert isinstance(joint, Tensor)
    return mixture_loop(joint, weights)


def correlations_loop(
    tree: Tree,
    leaf_logs: Mapping[str, Tensor],
    prior_logs: Mapping[str, Tensor],
    weights: list[list[float]],
    path: str = "",
) -> dict[str, Tensor]:
    """The correlation at every inner node, by name, for a prior whose variables and dimensions are independent."""
    parts = tree if isinstance(tree, Mapping) else {name: [name] for name in tree}
    below = [log_q_loop(members(part), leaf_logs, weights) for part in parts.values()]
    here = torch.stack(below).sum(0) - log_q_loop(members(tree), leaf_logs, weights)
    found = {f"between[{path}]" if path else "between": here} if len(parts) > 1 or not path else {}
    if isinstance(tree, Mapping):
        for name, part in tree.items():
            full = f"{path}.{name}" if path else name
            found |= correlations_loop(part, leaf_logs, prior_logs, weights, full)
        return found
    for name in tree:
        leaves = leaf_logs[name].shape[-1]
        if leaves > 1:
            single = [mixture_loop(leaf_logs[name][:, :, d], weights) for d in range(leaves)]
            found[f"within[{name}]"] = torch.stack(single).sum(0) - log_q_loop([name], leaf_logs, weights)
    return found


def marginal_loop(
    leaf_logs: Mapping[str, Tensor], prior_logs: Mapping[str, Tensor], weights: list[list[float]]
) -> Tensor:
    """(ii): Σ_d log p(z_d) - log q^(z_d); ``prior_logs`` are log p(z_bd), (B, D)."""
    total = torch.zeros(len(weights), dtype=torch.float64)
    for name, logs in leaf_logs.items():
        for d in range(logs.shape[-1]):
            total += prior_logs[name][:, d].double() - mixture_loop(logs[:, :, d], weights)
    return total
