"""Placing: small images pasted on a canvas and cropped from it, by two small matrices.

A place is x, y and scale, ``(..., 3)``: the point v of the image is at v · scale + (x, y) of the canvas, from -1 to 1
each. Without rotation bilinear sampling is one matrix for each axis,

    canvas = rows · image · columns^T

and several times faster than sampling point by point.
"""

from __future__ import annotations

import torch
from torch import Tensor


def put_down(image: Tensor, place: Tensor, canvas: int) -> Tensor:
    """Return images ``(..., 1, S, S)`` at their places ``(..., 3)`` on empty canvases: ``(..., 1, C, C)``.

    >>> image = torch.ones(5, 1, 8, 8)
    >>> put_down(image, torch.tensor([0.0, 0.0, 0.5]), 16)[0, 0].sum()     # as large as half the canvas's side
    tensor(64.)
    """
    side = image.shape[-1]
    x, y, scale = place.unsqueeze(-2).unbind(-1)  # (..., 1) each
    points = _middles(canvas, place)
    rows = _bilinear((points - y) / scale, side)  # (..., C, S)
    columns = _bilinear((points - x) / scale, side)
    return (rows @ image.squeeze(-3) @ columns.mT).unsqueeze(-3)


def cut_out(canvas: Tensor, place: Tensor, side: int) -> Tensor:
    """Return crops ``(..., 1, S, S)`` at the places ``(..., 3)`` of canvases ``(..., 1, C, C)``."""
    x, y, scale = place.unsqueeze(-2).unbind(-1)
    points = _middles(side, place)
    rows = _bilinear(points * scale + y, canvas.shape[-1])  # (..., S, C)
    columns = _bilinear(points * scale + x, canvas.shape[-1])
    return (rows @ canvas.squeeze(-3) @ columns.mT).unsqueeze(-3)


def _middles(pixels: int, like: Tensor) -> Tensor:
    """Return the centers of pixels on the line from -1 to 1."""
    return (torch.arange(pixels, device=like.device, dtype=like.dtype) + 0.5) / pixels * 2 - 1


def _bilinear(points: Tensor, pixels: int) -> Tensor:
    """Return the weight of each pixel at points ``(..., P)`` of the line: ``(..., P, pixels)``."""
    at = (points + 1) * pixels / 2 - 0.5
    own = torch.arange(pixels, device=points.device, dtype=points.dtype)
    return (1 - (at.unsqueeze(-1) - own).abs()).clamp(min=0)
