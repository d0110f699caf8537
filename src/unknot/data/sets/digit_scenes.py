"""What is on each canvas of Multi-MNIST: how many digits, which, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from unknot.data.factor import UNKNOWN

MAGNIFICATION = (0.6, 1.0)  # of the source image: 17 to 28 pixels for MNIST's 28
TRIES = 48  # placements to choose from
CHUNK = 2000  # canvases placed at once: bounds the memory; part of what a seed means


@dataclass(frozen=True)
class Sources:
    """The single digits: images ``(M, S, S)`` uint8 and labels ``(M,)`` int64."""

    images: Tensor
    labels: Tensor

    @property
    def side(self) -> int:
        return self.images.shape[-1]


@dataclass(frozen=True)
class Scenes:
    """N canvases with up to K digits, numbered from left to right; unused slots come last."""

    count: Tensor  # (N,) int64
    digit: Tensor  # (N, K) int64, -1 in unused slots
    source: Tensor  # (N, K) int64, row of the source image; 0 in unused slots
    place: Tensor  # (N, K, 3) float32: x, y, scale; NaN in unused slots


def draw_scenes(
    sources: Sources,
    pool: Tensor,
    n: int,
    canvas: int,
    counts: Sequence[int],
    generator: torch.Generator,
    apart: bool = True,
) -> Scenes:
    """Decide what is on ``n`` canvases, with source images from the rows ``pool``; ``apart``: their ink kept apart."""
    count = torch.tensor(counts)[torch.arange(n) % len(counts)]
    count = count[torch.randperm(n, generator=generator)]
    present = torch.arange(max(counts)) < count[:, None]  # (N, K)
    digit = balanced_digits(count, present, sources.labels[pool].unique(), generator)
    source = source_rows(digit, sources.labels, pool, generator)
    low, high = MAGNIFICATION
    zoom = low + (high - low) * torch.rand(digit.shape, generator=generator)
    box = ink_boxes(sources.images)[source] * zoom[..., None]  # (N, K, 4), in pixels of the canvas
    chunks = [slice(i, i + CHUNK) for i in range(0, n, CHUNK)]
    center = torch.cat([little_overlap(box[c], present[c], canvas, generator, apart) for c in chunks])
    place = torch.cat([center / canvas * 2 - 1, zoom[..., None] * sources.side / canvas], -1)  # (N, K, 3)

    order = torch.where(present, place[..., 0], torch.inf).argsort(dim=1, stable=True)
    place = place.gather(1, order[..., None].expand(-1, -1, 3)).masked_fill(~present[..., None], torch.nan)
    return Scenes(count, digit.gather(1, order), source.gather(1, order), place)


def balanced_digits(count: Tensor, present: Tensor, classes: Tensor, generator: torch.Generator) -> Tensor:
    """Digits (N, K), each class equally often over all slots, and within each count; -1 in unused slots."""
    digit = torch.full(present.shape, UNKNOWN)
    start = 0
    for k in count.unique().tolist():
        slots = present & (count == k)[:, None]
        filled = int(slots.sum())
        turn = (start + torch.arange(filled)) % len(classes)  # goes on where the last count ended
        digit[slots] = classes[turn[torch.randperm(filled, generator=generator)]]
        start += filled
    return digit


def source_rows(digit: Tensor, labels: Tensor, pool: Tensor, generator: torch.Generator) -> Tensor:
    """A source image for each slot: those of its class in turn, in a new order each time round."""
    source = torch.zeros_like(digit)
    for d in labels[pool].unique().tolist():
        rows, slots = pool[labels[pool] == d], digit == d
        filled = int(slots.sum())
        rounds = -(-filled // len(rows))
        turns = [rows[torch.randperm(len(rows), generator=generator)] for _ in range(rounds)]
        source[slots] = torch.cat([rows[:0], *turns])[:filled]
    return source


def ink_boxes(images: Tensor) -> Tensor:
    """Left, right, top, bottom of the ink, measured from the center of the image: ``(M, 4)`` float.

    With half a pixel on each side, which is as far as bilinear sampling spreads it.
    """
    half = images.shape[-1] / 2
    edges = []
    for axis in (1, 2):
        line = (images > 0).any(axis).to(torch.uint8)  # (M, S): columns with ink, then rows
        first, blank = line.argmax(1), line.flip(1).argmax(1)
        edges += [first - half - 0.5, half - blank + 0.5]
    return torch.stack(edges, -1)


def little_overlap(
    box: Tensor, present: Tensor, canvas: int, generator: torch.Generator, apart: bool = True
) -> Tensor:
    """Centers ``(N, K, 2)`` in pixels: the first of many tries whose ink boxes are apart, or the least bad one.

    Every try puts each digit evenly over the places where its ink is inside the canvas. The magnification
    is not tried again: it would make digits in company smaller than single ones. Not ``apart``: one try.
    """
    n, k = present.shape
    tries = TRIES if apart else 1
    low = -box[..., 0::2]  # (N, K, 2): the least x and y
    high = canvas - box[..., 1::2]
    share = torch.rand((n, tries, k, 2), generator=generator)
    center = low[:, None] + (high - low)[:, None] * share  # (N, T, K, 2)
    start, end = center + box[:, None, :, 0::2], center + box[:, None, :, 1::2]
    overlap = torch.zeros(n, tries)
    for i, j in combinations(range(k), 2):
        common = torch.minimum(end[:, :, i], end[:, :, j]) - torch.maximum(start[:, :, i], start[:, :, j])
        area = common.clamp(min=0).prod(-1)  # (N, T)
        overlap += area * (present[:, i] & present[:, j])[:, None]
    # Among tries without overlap the earliest: a tiny penalty that grows with the number of the try.
    best = (overlap + torch.arange(tries) * 1e-4).argmin(1)
    return center[torch.arange(n), best]
