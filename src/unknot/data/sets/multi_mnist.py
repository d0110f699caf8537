"""Multi-MNIST: a few MNIST digits, scaled and placed on one canvas, with count, digits, places as labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import UNKNOWN, Factor
from unknot.data.sets.digit_scenes import Scenes, Sources, draw_scenes
from unknot.errors import DataError

CHUNK = 2000  # canvases rendered at once: bounds the memory
LICENCE = "as MNIST, from whose images it is made"


def make_multi_mnist(
    images: Any,
    labels: Any,
    n: int = 82000,
    seed: int = 0,
    canvas: int = 50,
    counts: Sequence[int] = (1, 2, 3),
    splits: Mapping[str, Any] | None = None,
    apart: bool = True,
    with_sources: bool = False,
    with_images: bool = False,
) -> Dataset:
    """``n`` canvases ``(1, canvas, canvas)`` of uint8, made from source images ``(M, 28, 28)`` and their labels.

    - **Balance.** Each count comes equally often, and so does each digit, within every count too; each
      source image of a digit is used equally often. (Within a split; where numbers do not divide
      they differ by one.)
    - **Placement.** Each digit is magnified by a factor drawn evenly from 0.6 to 1, whatever the count, and
      put where its ink lies inside the canvas. Of 48 such placements of all digits of a canvas the first is
      taken in which the boxes around the ink do not overlap; if there is none, the one with the smallest
      overlap. Where digits do meet, the brighter pixel shows. With ``apart=False`` the first placement is taken,
      whatever overlaps.
    - **Labels.** ``count``; ``digit_1``, ``digit_2``, ... from left to right; ``place_1``, ...: x, y, scale, such that
      ``affine_grid`` with [[scale, 0, x], [0, scale, y]] cuts the source image out of the canvas: x and y are
      the center from -1 to 1, scale is the side of the source image as a share of the canvas. Slots beyond
      the count have no label: -1 and NaN, like unknown ones. With ``with_sources`` also ``source_1``, ...: the rows
      of the source images; with ``with_images`` the constituent images themselves, ``image_1``, ... (S17 sec. 3.3),
      S · S numbers from 0 to 1 each: for small sets, they take more room than the canvases.
    - **Splits.** ``splits`` gives the rows of the source images of each split; a canvas uses source images of
      its own split only. The canvases are shared out in proportion to the source images.

    The same arguments give the same canvases: the random numbers come from a generator of its own.
    """
    sources = _sources(images, labels)
    if n < 1 or not counts or min(counts) < 0 or max(counts) < 1 or canvas < sources.side:
        raise DataError(
            f"multi-mnist: needs n >= 1, counts >= 0, not all of them 0, and a canvas of at least {sources.side} "
            f"pixels; got n={n}, counts={tuple(counts)}, canvas={canvas}."
        )
    pools = {name: torch.as_tensor(rows).cpu() for name, rows in (splits or {}).items()}
    every = [torch.arange(len(sources.images))]
    parts = shares(n, [len(rows) for rows in pools.values() or every])
    generator = torch.Generator().manual_seed(seed)
    scenes = [
        draw_scenes(sources, rows, size, canvas, counts, generator, apart)
        for rows, size in zip(pools.values() or every, parts, strict=True)
    ]
    x = torch.cat([render(sources, scene, canvas) for scene in scenes])
    rows_of = dict(zip(pools, torch.arange(n).split(parts), strict=False))
    factors = _factors(scenes, with_sources)
    if with_images:
        factors |= _images(sources, scenes)
    return Dataset("multi-mnist", x, torch.arange(n), factors, rows_of, LICENCE)


def render(sources: Sources, scenes: Scenes, canvas: int) -> Tensor:
    """Draw the canvases, ``(N, 1, canvas, canvas)`` uint8.

    The digits are shifted and scaled, not turned, so bilinear sampling is one small matrix for each axis:
    canvas = rows · image · columns^T. That is several times faster than sampling point by point.
    """
    n, slots = scenes.digit.shape
    x = torch.zeros(n, 1, canvas, canvas, dtype=torch.uint8)
    for k in range(slots):
        for items in (scenes.count > k).nonzero()[:, 0].split(CHUNK):
            digit = sources.images[scenes.source[items, k]].float()  # (n, S, S)
            shift_x, shift_y, scale = scenes.place[items, k].unbind(-1)
            rows = sampling_matrix(shift_y, scale, canvas, sources.side)  # (n, canvas, S)
            columns = sampling_matrix(shift_x, scale, canvas, sources.side)
            drawn = (rows @ digit @ columns.mT).round_().to(torch.uint8)[:, None]
            x[items] = torch.maximum(x[items], drawn)
    return x


def sampling_matrix(shift: Tensor, scale: Tensor, canvas: int, side: int) -> Tensor:
    """How much of source pixel j shows at canvas pixel i: ``(n, canvas, side)``, at most two entries a row.

    The point u of the canvas shows the point (u - shift) / scale of the source, both from -1 to 1.
    """
    u = (torch.arange(canvas) + 0.5) / canvas * 2 - 1
    point = (u - shift[:, None]) / scale[:, None]  # (n, canvas)
    pixel = (point + 1) * side / 2 - 0.5
    return (1 - (pixel[..., None] - torch.arange(side)).abs()).clamp_(min=0)


def shares(n: int, weights: Sequence[int]) -> list[int]:
    """``n`` shared out in proportion to the weights: 82000 over 60000 and 10000 is 70286 and 11714."""
    total, ends = sum(weights), [0]
    for i in range(len(weights)):
        ends.append(round(n * sum(weights[: i + 1]) / total))
    return [after - before for before, after in pairwise(ends)]


def _sources(images: Any, labels: Any) -> Sources:
    pictures, digits = torch.as_tensor(images).cpu(), torch.as_tensor(labels).cpu().long()
    if pictures.ndim == 4 and pictures.shape[1] == 1:
        pictures = pictures[:, 0]
    if pictures.dtype != torch.uint8 or pictures.ndim != 3 or pictures.shape[1] != pictures.shape[2]:
        raise DataError(
            f"multi-mnist: source images are uint8 (M, S, S), got {pictures.dtype} {tuple(pictures.shape)}."
        )
    if digits.shape != (len(pictures),) or bool((digits < 0).any()):
        raise DataError(f"multi-mnist: every one of the {len(pictures)} source images needs its label.")
    return Sources(pictures, digits)


def _factors(scenes: Sequence[Scenes], with_sources: bool) -> dict[str, Factor]:
    digit = torch.cat([s.digit for s in scenes])  # (N, K)
    place = torch.cat([s.place for s in scenes])  # (N, K, 3)
    classes = tuple(str(d) for d in range(max(10, int(digit.max()) + 1)))
    factors = [Factor("count", "count", torch.cat([s.count for s in scenes]))]
    for k in range(digit.shape[1]):
        factors.append(Factor(f"digit_{k + 1}", "categorical", digit[:, k].contiguous(), classes))
    for k in range(digit.shape[1]):
        factors.append(Factor(f"place_{k + 1}", "continuous", place[:, k].contiguous()))
    source = torch.cat([s.source for s in scenes]).masked_fill(digit < 0, UNKNOWN)  # (N, K)
    for k in range(digit.shape[1] if with_sources else 0):
        factors.append(Factor(f"source_{k + 1}", "count", source[:, k].contiguous()))
    return {factor.name: factor for factor in factors}


def _images(sources: Sources, scenes: Sequence[Scenes]) -> dict[str, Factor]:
    digit, source = (torch.cat([getattr(s, name) for s in scenes]) for name in ("digit", "source"))  # (N, K)
    found = {}
    for k in range(digit.shape[1]):
        images = sources.images[source[:, k]].flatten(1).float() / 255  # (N, S * S)
        values = images.masked_fill(digit[:, k, None] < 0, torch.nan)
        found[f"image_{k + 1}"] = Factor(f"image_{k + 1}", "continuous", values)
    return found
