"""A row of the benchmarks' table."""

from __future__ import annotations

from typing import Any


def row(
    name: str, value: float, unit: str, goal: float | None = None, at_most: bool = True
) -> dict[str, Any]:
    """One number, with the ``goal`` it is to stay below, or with ``at_most=False`` to reach; None: none was set."""
    met = goal is None or (value <= goal if at_most else value >= goal)
    return {"name": name, "value": value, "unit": unit, "goal": goal, "ok": met}
