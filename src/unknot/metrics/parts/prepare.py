"""What every score does first: read the arrays, find the constants, keep to the protocol's number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unknot.metrics.parts.columns import Arrays, Columns, Discrete, at_most, read_pair
from unknot.metrics.protocols import protocol_name, settings


@dataclass(frozen=True)
class Prepared:
    """Codes and factors of the same rows, the constants, and the words a result begins with."""

    codes: Columns
    factors: Columns
    settings: Any
    said: dict[str, Any]


def prepare(
    score: str,
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete,
    discrete_factors: Discrete,
    seed: int | None,
    protocol: Any,
) -> Prepared:
    """Read, check and cut to the rows the protocol takes."""
    chosen = settings(score, protocol)
    read_codes, read_factors = read_pair(codes, factors, discrete, discrete_factors)
    kept = at_most(read_codes, read_factors, chosen.points, seed)
    return Prepared(*kept, chosen, {"score": score, "protocol": protocol_name(score, protocol)})
