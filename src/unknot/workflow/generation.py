"""Generation: the data that a program expects, or draws, at given values of its variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Size, Tensor

from unknot.core.evidence import given
from unknot.core.program import Program
from unknot.errors import SpecError
from unknot.models.spec import NodeSpec


def deterministic_children(nodes: Sequence[NodeSpec], changed: str) -> list[str]:
    """Return the variables that the encoder infers from ``changed``, but not from the data (S17 Fig. 5 left).

    If ``changed`` is set to another value, they take new values too.

    Parameters
    ----------
    nodes : sequence of NodeSpec
        All variables.
    changed : str
        The variable that is set.

    Examples
    --------
    >>> from unknot.models import node
    >>> faces = [
    ...     node("light", "direction", 3, inferred_from=["x"]),
    ...     node("shading", "normal", 8, inferred_from=["light"]),
    ...     node("rest", "normal", 8, inferred_from=["x", "light"]),
    ...     node("x", "normal", parents=["light", "shading", "rest"]),
    ... ]
    >>> deterministic_children(faces, "light")
    ['shading']
    """
    data = {node.name for node in nodes if node.is_data}
    children: list[str] = []
    while True:
        more = [
            node.name
            for node in nodes
            if node.name not in (changed, *children)
            and {changed, *children} & set(node.inferred_from)
            and not data & set(node.inferred_from)
        ]
        if not more:
            return children
        children += more


def expected_items(program: Program, values: Mapping[str, Any], count: int, shape: Size) -> Tensor:
    """Generate items as their expected data.

    Parameters
    ----------
    program : Program
        The model.
    values : mapping from site to value
        Variables without a value are drawn from the prior.
    count : int
        The number of items.
    shape : Size
        The shape of one item.

    Returns
    -------
    Tensor
        ``(count, *shape)``, see :meth:`unknot.core.program.Program.expected_data`.
    """
    with torch.no_grad():
        return _as_items(program.expected_data(given(count, dict(values))), count, shape)


def sampled_items(program: Program, values: Mapping[str, Any], count: int, shape: Size) -> Tensor:
    """Generate items whose data are drawn too, see :meth:`unknot.core.program.Program.sample_data`.

    The parameters are those of :func:`expected_items`.
    """
    with torch.no_grad():
        return _as_items(program.sample_data(given(count, dict(values))), count, shape)


def _as_items(data: Tensor, count: int, shape: Size) -> Tensor:
    if data.numel() != count * shape.numel():
        raise SpecError(
            f"the program generates data of shape {tuple(data.shape)} for {count} items of shape {tuple(shape)}; "
            "give it a method expected_data(q) that returns the expected data."
        )
    return data.reshape(count, *shape)
