"""Layout: where things lie on a canvas before it is looked at. They are inside it, and they keep apart."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

_INSIDE = (0.72, 0.66)  # how far from the middle of the canvas, sideways and up or down
_APART = (0.55, 0.68)  # how far from each other on one of the axes, in sides of their images
_SOFT = 0.05
_MEET = 0.02  # how often things meet all the same, beside places where they do not


def log_weights(points: Tensor, earlier: Sequence[Tensor], size: float) -> Tensor:
    """How likely a thing lies at each of some points, but for a constant: ``(..., P)``.

        Π_axis σ((i_axis - |v_axis|) / s) · Π_earlier [m + 1 - Π_axis (1 - σ((|v - u|_axis / side - a_axis) / s))]

    for the point v and earlier things at u: it is inside the canvas, and next to or above each of them, or meets it.
    The constants are those of canvases whose digits keep their ink apart, of MNIST's proportions.

    - ``points``: ``(P, 2)``, x and y from -1 to 1.
    - ``earlier``: places ``(..., 3)`` of the things so far.
    - ``size``: the usual side of a thing, as a share of the canvas: that of the one to come.
    """
    weights = logsigmoid((points.new_tensor(_INSIDE) - points.abs()) / _SOFT).sum(-1)
    for place in earlier:
        side = (place[..., 2:] + size).clamp(min=size).unsqueeze(-2)  # (..., 1, 1): a canvas is two wide
        gap = (points - place[..., None, :2]).abs() / side  # (..., P, 2)
        meets = torch.sigmoid((gap.new_tensor(_APART) - gap) / _SOFT).prod(-1)
        weights = weights + torch.log(_MEET + 1 - meets)
    return weights
