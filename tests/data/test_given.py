"""What is given is taken out of the labels; of new data it has the categories of the training data."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.data.given import given_like, with_given
from unknot.data.readers.user_files import read_new_data, read_user_data
from unknot.errors import DataError, UnknotWarning


def test_given_is_no_label() -> None:
    data = with_given(from_arrays([[0.5], [1.5]], {"a": ["u", "v"], "b": ["x", "y"]}), ["b"])
    assert (list(data.factors), list(data.given)) == (["a"], ["b"])
    assert data.batch([1]).values["b"].tolist() == [1]
    with pytest.raises(DataError, match="'c' is given, but the data have no such values; they have a"):
        with_given(data, ["c"])


def test_new_categories_are_unknown() -> None:
    known = with_given(from_arrays([[0.5], [1.5]], {"b": ["x", "y"]}), ["b"])
    new = from_arrays([[0.5], [1.5], [2.5]], {"b": ["y", "z", None]})
    with pytest.warns(UnknotWarning, match=r"1 items have a 'b' that the training data do not have \(z\)"):
        made = given_like(new, known)
    assert made.given["b"].values.tolist() == [1, -1, -1]
    with pytest.warns(UnknotWarning, match="there are no values of b"):
        assert given_like(from_arrays([[0.5]]), known).given["b"].values.tolist() == [-1]


def test_a_column_of_a_table_is_given(tmp_path: Path) -> None:
    rows = "".join(f"{i}.5,{'ab'[i % 2]},{'uv'[i % 2]}\n" for i in range(6))
    (tmp_path / "t.csv").write_text("size,donor,kind\n" + rows)
    data = read_user_data(tmp_path / "t.csv", factors=["kind"], given="donor")
    assert (list(data.factors), list(data.given), data.columns) == (["kind"], ["donor"], ("size",))
    (tmp_path / "n.csv").write_text("donor,size\nb,1.5\na,2.5\n")
    new, _ = read_new_data(tmp_path / "n.csv", data)
    assert torch.equal(new.given["donor"].values, torch.tensor([1, 0]))
