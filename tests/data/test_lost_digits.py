"""Numbers that single precision cannot tell apart are said, wherever they come in."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from unknot.data.from_arrays import from_arrays
from unknot.data.label_column import read_factor
from unknot.data.lost_digits import lost_digits
from unknot.data.user.user_files import read_user_data
from unknot.errors import UnknotWarning

NEAR = 1e12 + np.arange(30.0)


def test_gaps_and_constants_lose_nothing() -> None:
    assert (
        lost_digits(np.array([[np.nan, 1.0, 1e12], [np.nan, np.nan, np.nan], [np.nan, 2.0, 1e12]])).tolist()
        == [False] * 3
    )
    assert bool(lost_digits(NEAR))


def test_it_is_said_of_arrays_tables_and_labels(tmp_path: Path) -> None:
    with pytest.warns(UnknotWarning, match="column 1: its numbers differ in digits beyond the fifth"):
        from_arrays(np.stack([np.arange(30.0), NEAR], 1))
    with pytest.warns(UnknotWarning, match="factor 'time': its numbers differ"):
        read_factor("time", NEAR, 30)
    for count in (30, 1500):  # words, and numbers at once
        rows = "\n".join(f"{i % 7}.5,{10**12 + i}" for i in range(count))
        (tmp_path / "t.csv").write_text(f"a,time\n{rows}\n")
        with pytest.warns(UnknotWarning, match="column 'time': its numbers differ"):
            read_user_data(tmp_path / "t.csv")


def test_years_and_seconds_are_not_mentioned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_arrays(np.stack([np.arange(1990.0, 2020.0), 1.7e9 + 86400 * np.arange(30.0)], 1))
