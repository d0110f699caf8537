"""Schedules: a number that changes with the step, for the learning rate and the temperature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from unknot.core.program import Program
from unknot.errors import SpecError
from unknot.schema import check, choice, number, table, whole

Spec = float | Mapping[str, Any]
Schedule = Callable[[int], float]


def _constant(start: float, end: float, part: float) -> float:
    return start


def _linear(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) * 0.5 * (1 + math.cos(math.pi * part))


def _exponential(start: float, end: float, part: float) -> float:
    return start * (end / start) ** part


CURVES = {"constant": _constant, "linear": _linear, "cosine": _cosine, "exponential": _exponential}
SCHEDULE = table(
    {"name": choice(CURVES), "start": number(0), "end": number(0), "warmup": whole(0, 10**12)},
    "a schedule, {name, start, end, warmup}",
    required=("name", "start"),
)


def schedule(spec: Spec, steps: int, what: str) -> Schedule:
    """The value at each step 0 ... steps-1: a function of the step alone, so a resumed run needs no state.

    ``spec`` is a number, or ``{"name": "cosine", "start": 1e-3, "end": 0.0, "warmup": 500}``: from ``start`` to
    ``end`` over the run, on a constant, linear, cosine or exponential curve. During the first ``warmup``
    steps the value rises linearly from start/warmup to start.

    >>> rate = schedule({"name": "linear", "start": 1.0, "end": 0.0, "warmup": 2}, 12, "learning_rate")
    >>> [rate(t) for t in (0, 1, 2, 7, 12)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    if isinstance(spec, Mapping):
        given = dict(spec)
    else:
        given = {"name": "constant", "start": spec}
    check(given, SCHEDULE, what)
    if given["name"] == "exponential" and not (given["start"] > 0 and given.get("end", 0.0) > 0):
        raise SpecError(f"{what}: an exponential schedule needs 'start' and 'end' above 0.")
    curve = CURVES[given["name"]]
    start = float(given["start"])
    end, warmup = float(given.get("end", 0.0)), int(given.get("warmup", 0))

    def value(step: int) -> float:
        if step < warmup:
            return start * (step + 1) / warmup
        return curve(start, end, min(1.0, (step - warmup) / max(1, steps - warmup)))

    return value


def temperature_schedule(program: Program, spec: Spec | None, steps: int) -> Schedule | None:
    """Return the schedule of the temperature; a program that has none is refused before the first step."""
    if spec is None:
        return None
    temperature = schedule(spec, steps, "temperature")
    program.set_temperature(temperature(0))
    return temperature
