"""Work that a pool can be given: functions of a module."""

from __future__ import annotations


def half(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2
