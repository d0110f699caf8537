"""Which data stay in a file until a batch needs them: those that are asked to, and large ones."""

from __future__ import annotations

LARGE = 1 << 28  # bytes


def stays_in_file(size: int, asked: bool | None) -> bool:
    """Whether data of so many bytes, decoded, stay in a file; ``asked`` decides, where it is not None.

    >>> stays_in_file(47_000_000, None), stays_in_file(4_000_000_000, None), stays_in_file(100, True)
    (False, True, True)
    """
    return size > LARGE if asked is None else asked
