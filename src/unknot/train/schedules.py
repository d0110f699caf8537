"""Schedules: a number that changes with the step, for the learning rate and the temperature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from unknot.errors import SpecError
from unknot.suggest import did_you_mean

Spec = float | Mapping[str, Any]
Schedule = Callable[[int], float]

_KEYS = ("name", "start", "end", "warmup")


def _constant(start: float, end: float, part: float) -> float:
    return start


def _linear(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) * 0.5 * (1 + math.cos(math.pi * part))


def _exponential(start: float, end: float, part: float) -> float:
    return start * (end / start) ** part


CURVES = {"constant": _constant, "linear": _linear, "cosine": _cosine, "exponential": _exponential}


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
    _check(given, what)
    curve = CURVES[given["name"]]
    start = float(given["start"])
    end, warmup = float(given.get("end", 0.0)), int(given.get("warmup", 0))

    def value(step: int) -> float:
        if step < warmup:
            return start * (step + 1) / warmup
        return curve(start, end, min(1.0, (step - warmup) / max(1, steps - warmup)))

    return value


def _check(given: dict[str, Any], what: str) -> None:
    for key in given:
        if key not in _KEYS:
            raise SpecError(f"{what}: a schedule has no key '{key}'; {did_you_mean(key, _KEYS)}")
    name = given.get("name")
    if name not in CURVES:
        raise SpecError(f"{what}: there is no schedule '{name}'; {did_you_mean(name, CURVES)}")
    for key in ("start", "end", "warmup"):
        number = given.get(key, 0.0)
        if isinstance(number, bool) or not isinstance(number, int | float) or not number >= 0:
            raise SpecError(f"{what}: '{key}' of a schedule is a number of at least 0, but got {number!r}.")
    if "start" not in given:
        raise SpecError(f"{what}: a schedule needs 'start', the value it begins with.")
    if name == "exponential" and not (given["start"] > 0 and given.get("end", 0.0) > 0):
        raise SpecError(f"{what}: an exponential schedule needs 'start' and 'end' above 0.")
