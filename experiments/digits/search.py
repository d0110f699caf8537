"""Search: the best values of numbers behind an item, by ascent from where the encoder puts them.

An encoder answers at once, and well for what it was trained on. What the style would be if a 4 were a 9 it has hardly
ever been asked: its answer draws a poor 9, and a poor 9 proves little. Here the values themselves climb,

    ẑ = argmax_z log p(x, k, z),

by Adam's steps from the recognized ones (analysis by synthesis, as in Schott et al. 2019). Every item climbs on its
own; what is found never scores below what it started from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from unknot.core.axes import per_item

_RATE, _FIRST, _SECOND, _TINY = 0.1, 0.9, 0.999, 1e-8  # Adam's


def search(
    start: Mapping[str, Tensor], score: Callable[[Mapping[str, Tensor]], Tensor], steps: int
) -> dict[str, Tensor]:
    """The best values found for each of N items.

    Arguments:
        start: values by node, ``(N, D)``.
        score: from such values to what each item scores, ``(N,)``.
        steps: how many steps are made, each with one gradient of the score.

    >>> goal = torch.tensor([[3.0], [-1.0]])
    >>> found = search({"z": torch.zeros(2, 1)}, lambda v: -(v["z"] - goal).square().sum(-1), 100)
    >>> torch.allclose(found["z"], goal, atol=0.05)
    True
    """
    values = {name: value.detach().clone() for name, value in start.items()}
    first = {name: torch.zeros_like(value) for name, value in values.items()}
    second = {name: torch.zeros_like(value) for name, value in values.items()}
    best, most = dict(values), torch.tensor(-torch.inf)
    for step in range(1, steps + 2):  # the last look is at where the last step has led
        leaves = {name: value.requires_grad_() for name, value in values.items()}
        with torch.enable_grad():
            scored = score(leaves)
            slopes = torch.autograd.grad(scored.sum(), list(leaves.values()))
        better = scored.detach() > most
        most = torch.where(better, scored.detach(), most)
        for (name, value), slope in zip(leaves.items(), slopes, strict=True):
            now = value.detach()
            best[name] = torch.where(per_item(better, 1), now, best[name].detach())
            first[name] = _FIRST * first[name] + (1 - _FIRST) * slope
            second[name] = _SECOND * second[name] + (1 - _SECOND) * slope.square()
            mean, square = first[name] / (1 - _FIRST**step), second[name] / (1 - _SECOND**step)
            values[name] = now + _RATE * mean / (square.sqrt() + _TINY)
    return best
