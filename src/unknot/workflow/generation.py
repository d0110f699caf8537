"""Generation: the data that any program expects, or draws, at given values of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Size, Tensor
from torch.distributions import Bernoulli

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
    return _as_items(made, count, site, shape)


def drawn_data(program: Any, values: Mapping[str, Any], count: int, site: str, shape: Size) -> Tensor:
    """New items ``(count, *shape)``: every variable without a value is drawn, the data too.

    A program that draws its data in a way of its own says so by a method ``drawn(q)``. Pixels are not drawn: a
    Bernoulli scores greys, but only draws black and white, so that their expectation stands for them; and so does
    that of a program which knows its expected data alone.
    """
    if not hasattr(program, "drawn") and hasattr(program, "expected"):
        return expected_data(program, values, count, site, shape)
    asked = given(count, dict(values))
    with torch.no_grad():
        if hasattr(program, "drawn"):
            made: Tensor = program.drawn(asked)
        else:
            node = program.decode(None, asked)[site]
            greys = isinstance(node, Variable) and isinstance(node.dist, Bernoulli)
            made = node.dist.mean if greys else node.value
    return _as_items(made, count, site, shape)


def _as_items(made: Tensor, count: int, site: str, shape: Size) -> Tensor:
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
