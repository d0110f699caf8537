"""Counterfactual: the numbers of one factor that is changed while everything else is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from unknot.metrics.leak import Leak
from unknot.workflow.counterfactuals.rows import rows
from unknot.workflow.counterfactuals.verdict import verdict


@dataclass(frozen=True)
class Read:
    """How often changed items are read as intended, and real items (where labels tell) as what they are."""

    share: float
    standard_error: float
    real: float | None


@dataclass(frozen=True)
class Beside:
    """A number of changed items, beside the same number of items made anew without a change."""

    changed: float
    unchanged: float


@dataclass(frozen=True)
class Counterfactual:
    """What happens when one named factor is changed and everything else is kept.

    - ``settings``, ``items``: how many settings each of so many items is changed to.
    - ``encoder``: the reading of the model's own encoder.
    - ``reader``: that of a reader which learned from ``labels`` labels; None where they are too few.
    - ``moves``: how far the encoder sees each other variable move: 0 not at all, 1 as far as to another item.
    - ``leak``: what probes read of the factor from ``style``, the variables without a name; None where there are none,
      or too few labels.
    - ``sharpness``: of images, over that of the real ones.
    """

    factor: str
    settings: int
    items: int
    labels: int
    encoder: Read
    reader: Read | None
    moves: dict[str, Beside]
    style: tuple[str, ...]
    leak: Leak | None
    sharpness: Beside | None

    @property
    def verdict(self) -> str:
        """One sentence (:mod:`unknot.workflow.counterfactuals.verdict`)."""
        return verdict(self)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """What is measured, the number, and what stands beside it."""
        return rows(self)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and the verdict, as JSON has them."""
        carried = None if self.leak is None else self.leak.carried
        return {"verdict": self.verdict, **asdict(self), "carried": carried}

    def __str__(self) -> str:
        lines = [f"  {what}: {value} ({beside})" for what, value, beside in self.rows]
        return "\n".join([self.verdict, *lines])
