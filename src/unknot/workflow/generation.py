"""Generation: the data that any program expects, or draws, at given values of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Size, Tensor

from unknot.core.generated import drawn, expected
from unknot.core.given_values import given
from unknot.core.node import Loss, Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError


def expected_data(program: Any, values: Mapping[str, Any], count: int, site: str, shape: Size) -> Tensor:
    """The expected data of ``count`` items, ``(count, *shape)``; variables without a value are drawn from the prior.

    See :func:`unknot.core.generated.expected`.
    """
    with torch.no_grad():
        return _as_items(expected(program, given(count, dict(values)), site), count, site, shape)


def drawn_data(program: Any, values: Mapping[str, Any], count: int, site: str, shape: Size) -> Tensor:
    """New items ``(count, *shape)``: every variable without a value is drawn, the data too.

    See :func:`unknot.core.generated.drawn`.
    """
    with torch.no_grad():
        return _as_items(drawn(program, given(count, dict(values)), site), count, site, shape)


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
