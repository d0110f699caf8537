"""Generated: the data that a generative program makes, as expected or as drawn."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.distributions import Bernoulli

from unknot.core.given_values import GivenValues
from unknot.core.node import Variable
from unknot.core.trace import Trace


def expected(program: Any, q: Trace | GivenValues, site: str) -> Tensor:
    """The expected data at the values in ``q``.

    A program that knows its expected data says so by a method ``expected(q)``; of any other the generative program
    is run, and its data ``site`` tells: the mean of its distribution, or what its loss compares the data with.
    """
    if hasattr(program, "expected"):
        made: Tensor = program.expected(q)
        return made
    return _mean(program.decode(None, q)[site])


def drawn(program: Any, q: Trace | GivenValues, site: str) -> Tensor:
    """New data at the values in ``q``.

    A program that draws its data in a way of its own says so by a method ``drawn(q)``. Pixels are not drawn: a
    Bernoulli scores greys, but only draws black and white, so that their expectation stands for them; and so does
    that of a program which knows its expected data alone.
    """
    if hasattr(program, "drawn"):
        made: Tensor = program.drawn(q)
        return made
    if hasattr(program, "expected"):
        return expected(program, q, site)
    return drawn_at(program.decode(None, q)[site])


def drawn_at(node: Any) -> Tensor:
    """The data of a program that was run without any: what its data site has drawn; greys are not drawn."""
    greys = isinstance(node, Variable) and isinstance(node.dist, Bernoulli)
    return _mean(node) if greys else node.value


def _mean(node: Any) -> Tensor:
    made: Tensor = node.dist.mean if isinstance(node, Variable) else node.value
    return made
