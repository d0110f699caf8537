"""Looked: what an encoder of places says of canvases, look by look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from unknot.core.evidence import Partial
from unknot.core.trace import Trace


@dataclass(frozen=True)
class Looked:
    """How many things there are, and a trace for each look.

    ``count``: logits of the counts from the fewest on, ``(..., B, N)``. ``looks``: a trace each, with the site
    ``place`` and whatever was drawn on the way to it.
    """

    count: Tensor
    looks: list[Trace]


class Looks(Protocol):
    """An encoder of places: canvases ``(B, 1, C, C)``, and the places that are known, from left to right."""

    def __call__(self, x: Tensor, known: Sequence[Partial | None], samples: int | None) -> Looked: ...
