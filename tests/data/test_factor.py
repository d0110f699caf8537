"""Factors: which values are refused, what is known, and that hiding replaces."""

import pytest
import torch

from unknot.data.factor import Factor
from unknot.errors import DataError

NAN, INF = float("nan"), float("inf")


def factor(kind: str, values: list, classes: tuple[str, ...] | None = None) -> Factor:
    dtype = torch.float32 if kind == "continuous" else torch.int64
    return Factor("f", kind, torch.tensor(values, dtype=dtype), classes)


def test_known_marks_minus_one_and_nan():
    assert factor("categorical", [0, -1, 2], ("a", "b", "c")).known.tolist() == [True, False, True]
    assert factor("continuous", [-1.0, NAN]).known.tolist() == [True, False]
    assert factor("continuous", [[1.0, 2.0], [NAN, NAN]]).known.tolist() == [True, False]


@pytest.mark.parametrize(
    ("kind", "values", "classes", "row", "shown"),
    [
        ("categorical", [0, 3, -1], ("a", "b", "c"), 1, "3"),
        ("categorical", [0, 1, -2], ("a", "b"), 2, "-2"),
        ("binary", [0, 1, 2], None, 2, "2"),
        ("count", [7, -5], None, 1, "-5"),
        ("continuous", [0.0, INF], None, 1, "inf"),
        ("continuous", [[0.0, 1.0], [NAN, 1.0]], None, 1, "nan"),
    ],
)
def test_check_names_factor_row_and_value(kind, values, classes, row, shown):
    with pytest.raises(DataError, match=f"factor 'f', row {row}: got .*{shown}"):
        factor(kind, values, classes).refuse_wrong_values()


def test_check_accepts_every_legal_value():
    factor("categorical", [-1, 0, 1], ("a", "b")).refuse_wrong_values()
    factor("binary", [-1, 0, 1]).refuse_wrong_values()
    factor("count", [-1, 0, 1000]).refuse_wrong_values()
    factor("continuous", [NAN, -1.0, 1e30]).refuse_wrong_values()


def test_construction_refuses_wrong_type_shape_and_kind():
    with pytest.raises(DataError, match=r"int64, got torch\.float32"):
        Factor("f", "categorical", torch.zeros(3), ("a",))
    with pytest.raises(DataError, match="shape"):
        Factor("f", "count", torch.zeros(3, 2, dtype=torch.int64))
    with pytest.raises(DataError, match="names of its classes"):
        Factor("f", "categorical", torch.zeros(3, dtype=torch.int64))
    with pytest.raises(DataError, match="kind is one of"):
        Factor("f", "ordinal", torch.zeros(3))


def test_hide_replaces_the_values_themselves():
    keep = torch.tensor([True, False, False])
    assert factor("count", [5, 6, -1]).hide(keep).values.tolist() == [5, -1, -1]
    hidden = factor("continuous", [[1.0, 2.0], [3.0, 4.0], [NAN, NAN]]).hide(keep).values
    assert hidden[0].tolist() == [1.0, 2.0]
    assert hidden[1:].isnan().all()


def test_num_classes():
    assert factor("categorical", [0], ("a", "b", "c")).num_classes == 3
    assert factor("binary", [0]).num_classes == 2
    with pytest.raises(DataError, match="no fixed number"):
        _ = factor("count", [0]).num_classes
