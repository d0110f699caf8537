"""Generation: the data that any program expects at given values of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Size, Tensor

from unknot.core.given_values import given
from unknot.core.node import Loss, Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError


def expected_data(program: Any, values: Mapping[str, Any], count: int, site: str, shape: Size) -> Tensor:
    """The expected data of ``count`` items, ``(count, *shape)``; variables without a value are drawn from the prior.

    A program that knows its expected data says so by a method ``expected(q)``; of any other the generative program
    is run, and its data ``site`` tells: the mean of its distribution, or what its loss compares the data with.
    """
    asked = given(count, dict(values))
    with torch.no_grad():
        if hasattr(program, "expected"):
            made: Tensor = program.expected(asked)
        else:
            made = _mean(program.decode(None, asked), site)
    if made.numel() != count * shape.numel():
        raise SpecError(
            f"the program's data site '{site}' gives {tuple(made.shape)} for {count} items of shape {tuple(shape)}; "
            "give the program a method expected(q) that returns the expected data."
        )
    return made.reshape(count, *shape)


def data_site(q: Trace, p: Trace) -> str:
    """The site of p that is the data: the one that q does not propose."""
    found = [node.name for node in p.nodes() if node.name not in q and isinstance(node, Loss | Variable)]
    if len(found) != 1:
        raise SpecError(
            "a program has one data site, which its decoder scores and its encoder does not propose, "
            f"but found: {', '.join(found) or 'none'}."
        )
    return found[0]


def _mean(p: Trace, site: str) -> Tensor:
    node = p[site]
    return node.value if isinstance(node, Loss) else node.dist.mean
