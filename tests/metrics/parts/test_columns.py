"""Columns: what is a category, names, rows and columns that go along."""

import numpy as np
import pytest
import torch

from unknot.errors import DataError
from unknot.metrics.parts.columns import Probabilities, at_most, read_columns, read_pair


def test_kinds_go_by_the_type_of_the_array() -> None:
    read = read_columns({"n": [0, 1, 1], "t": np.array(["b", "a", "b"]), "z": [0.1, 0.2, 0.3]}, None, "codes")
    assert read.discrete.tolist() == [True, True, False]
    assert read.sizes == (2, 2, 0)
    assert read.values[:, 1].tolist() == [1, 0, 1]


def test_kinds_may_be_said() -> None:
    values = np.array([[0.0, 1.0], [0.0, 2.0], [5.0, 3.0], [5.0, 1.0]])
    assert read_columns(values, [True, False], "codes").sizes == (2, 0)
    assert read_columns(values[:, 0], True, "codes").values[:, 0].tolist() == [0, 0, 1, 1]
    assert read_columns(values.astype(int), False, "codes").sizes == (0, 0)
    with pytest.raises(DataError, match="1 answers for 2 columns"):
        read_columns(values, [True], "codes")
    with pytest.raises(DataError, match="holds text"):
        read_columns(np.array(["a", "b"]), False, "codes")


def test_probabilities_are_a_category() -> None:
    q = np.array([[0.2, 0.8, 0.0], [0.5, 0.4, 0.1]])
    read = read_columns({"z": [1.0, 2.0], "c": Probabilities(q)}, None, "codes")
    assert read.sizes == (0, 3)
    assert read.values[:, 1].tolist() == [1, 0]
    assert read.rows(np.array([1])).soft[1].tolist() == [[0.5, 0.4, 0.1]]
    assert read.only(np.array([False, True])).soft[0].shape == (2, 3)


def test_names() -> None:
    assert read_columns(np.zeros((2, 2)), None, "codes").names == ("code[0]", "code[1]")
    assert read_columns(np.zeros(2), None, "factors").names == ("factor",)
    assert read_columns({"a": np.zeros((2, 1)), "b": np.zeros((2, 2))}, None, "codes").names == (
        "a",
        "b[0]",
        "b[1]",
    )


def test_at_most_keeps_rows_together() -> None:
    codes, factors = read_pair(np.arange(100.0), np.arange(100) % 7, None, None)
    few = at_most(codes, factors, 20, 0)
    assert len(few[0]) == len(few[1]) == 20
    assert (few[0].values[:, 0] % 7 == few[1].values[:, 0]).all()
    assert at_most(codes, factors, None, 0) == (codes, factors)


def test_columns_pass_unread() -> None:
    read = read_columns(np.zeros((3, 1)), None, "codes")
    assert read_columns(read, None, "codes") is read


def test_different_lengths_in_a_mapping() -> None:
    with pytest.raises(DataError, match="different lengths, 2, 3"):
        read_columns({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]}, None, "codes")


def test_a_frame_s_columns_keep_their_names_and_types() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"shape": ["a", "b", "a", "b"], "size": [0.1, 0.2, 0.3, 0.4], 3: [1, 2, 1, 2]})
    read = read_columns(frame, None, "factors")
    assert read.names == ("shape", "size", "3")
    assert read.sizes == (2, 0, 2)
    with pytest.raises(DataError, match="two columns of the same name"):
        read_columns(pandas.concat([frame, frame], axis=1), None, "factors")


def test_tensors_of_any_kind() -> None:
    z = torch.tensor([[0.5], [1.0], [2.0]])
    for given in (z.clone().requires_grad_(), z.bfloat16()):
        assert read_columns(given, None, "codes").values[:, 0].tolist() == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array(["a", None, "a"], dtype=object), "factor has 1 values that are missing"),
        (np.array(["a", 1, "a"], dtype=object), "words and numbers"),
        (np.ma.MaskedArray([1.0, 2.0, 3.0], [False, True, False]), "masked out"),
    ],
)
def test_what_is_missing_or_mixed_is_refused(values: object, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_columns(values, None, "factors")


@pytest.mark.parametrize("values", [[["a", "b"]], [[1.0], [0.5, 0.5]], [0.5, 0.5], [[np.nan, 1.0]]])
def test_what_is_no_probability_is_refused(values: object) -> None:
    with pytest.raises(DataError, match="Probabilities are rows"):
        Probabilities(values)
