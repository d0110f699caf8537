"""Large data stay in a file, unless somebody says otherwise."""

from __future__ import annotations

from unknot.data.user.in_a_file import LARGE, stays_in_file


def test_size_decides_unless_asked() -> None:
    assert not stays_in_file(LARGE, None)
    assert stays_in_file(LARGE + 1, None)
    assert stays_in_file(1, True)
    assert not stays_in_file(LARGE + 1, False)
