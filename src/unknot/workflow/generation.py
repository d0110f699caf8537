"""Generation: the data that a program expects, or draws, at given values of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Size, Tensor

from unknot.core.evidence import given
from unknot.core.program import Program
from unknot.errors import SpecError


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
