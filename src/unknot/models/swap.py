"""Swap: an item made anew with another item's factors must be read as it was made.

In training the values of the nodes that take labels are exchanged between the items of a batch, one permutation for
each node, everything else is kept, and the generator makes an item x̂ of that. The generative program gets the log-term

    λ · Σ_v log q(v | x̂)        over the nodes v, at the values that x̂ was made from,

the sleep phase of the wake-sleep algorithm (Hinton et al. 1995) at factors that need not go together in any item, as
when a generator is later asked for a counterfactual. Its gradient teaches the encoder to read the style of a made
item whatever its factors, and the generator to make items whose factors can be read. No gradient goes into the values.

The generator also learns to make the rest easy to read. That keeps styles where they are, but where a factor leaves a
style little to show, as a 1 does, it comes to write the style in specks that only the encoder looks at. With
``swap_teaches`` below 1 this part of its gradient counts so much less; at 0 it learns from the factors' reading alone.

A factor whose ``gradient`` is "detached" learns nothing from what the generator asks for, and so nothing from made
items either: a network that was taught to read them would be the worse reader of real ones, and the worse judge.

Made items are read as they will be when training is over: without dropout, and with batch norm by its running moments,
which they do not enter. By moments of their own, made items that are paler than real ones would look like them in
training and not afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from unknot.core.trace import Trace
from unknot.models.agreement import first_draw, target
from unknot.models.families import Family


def swapped_label(q: Trace, name: str, family: Family) -> Tensor:
    """Another item's value of a node that takes labels, ``(B, D)``: its label, or the best reading."""
    node = q[name]
    value, _ = target(node, family.reading(node.dist), 0.0)
    return value[torch.randperm(len(value), device=value.device)]


def kept_value(q: Trace, name: str) -> Tensor:
    """A node's value at the first draw, ``(B, D)``, without gradient."""
    node = q[name]
    return first_draw(node.value.detach(), node.event_dims)


@contextmanager
def at_rest(network: nn.Module) -> Iterator[None]:
    """Inside, a network computes as it does after training, with gradients."""
    training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(training)


@contextmanager
def unchanged(network: nn.Module, really: bool = True) -> Iterator[None]:
    """Inside, gradients pass through a network, unless not ``really``, and leave its own weights alone."""
    weights = [w for w in network.parameters() if really and w.requires_grad]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)
