"""What columns hold, as the deciding rows tell (see test_csv_table for whole files)."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.data.column import Column
from unknot.data.user.table_cells import cells_of
from unknot.data.user.table_kinds import read_columns
from unknot.errors import DataError, UnknotWarning


def test_kinds_of_the_deciding_rows() -> None:
    cells = cells_of({"a": ["0", "1", "1"], "b": ["x", "y", "z"], "c": ["1.5", None, "2"]})
    with pytest.warns(UnknotWarning, match="'z', which no training row has"):
        table, rows = read_columns("t", cells, {}, deciding=np.array([True, True, False]))
    assert table == (Column("a", "binary"), Column("b", "category", ("x", "y")), Column("c", "real"))
    np.testing.assert_array_equal(rows.array(), [[0, 0, 1.5], [1, 1, np.nan], [1, np.nan, 2]])


def test_known_columns_refuse_other_words() -> None:
    with pytest.raises(DataError, match="t, column 'b', row 3: got 'z', expected one of x, y"):
        read_columns("t", cells_of({"b": ["x", "z"]}), {}, (Column("b", "category", ("x", "y")),))
