"""What a score returns: named numbers, the protocol they were made by, and a readable repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Result:
    """Fields of type float are its numbers; the rest says more about them."""

    protocol: str = ""
    score: str = ""

    @property
    def numbers(self) -> dict[str, float]:
        """Number by name, as a table prints them."""
        return {f.name: float(getattr(self, f.name)) for f in fields(self) if f.type == "float"}

    def __repr__(self) -> str:
        numbers = self.numbers
        only_value = list(numbers) == ["value"]
        said = ", ".join(f"{v:.3f}" if only_value else f"{n} {v:.3f}" for n, v in numbers.items())
        return f"{self.score}: {said} ({self.protocol})" if self.protocol else f"{self.score}: {said}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Score(Result):
    """One number; by factor and by code where the score has such parts.

    ``matrix`` ``(codes, factors)`` is what the score was made from: information, importance, accuracy.
    """

    value: float
    by_factor: Mapping[str, float] = field(default_factory=dict)
    by_code: Mapping[str, float] = field(default_factory=dict)
    matrix: np.ndarray | None = None


def named(names: tuple[str, ...], values: np.ndarray) -> dict[str, float]:
    """Value by name."""
    return {name: float(value) for name, value in zip(names, values, strict=True)}
