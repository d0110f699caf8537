"""Labels as users have them: every way to say unknown, every kind, every mistake."""

import numpy as np
import pytest
import torch

from unknot.data.label_column import class_values, read_factor, refuse_whole_floats
from unknot.errors import DataError, UnknotWarning

NAN = float("nan")
MASKED = np.ma.array([2, 0, 1], mask=[False, True, False])


@pytest.mark.parametrize(
    "given",
    [
        [2, -1, 1],
        [2, None, 1],
        [2.0, NAN, 1.0],
        np.array([2, -1, 1], dtype=np.int8),
        np.array([2.0, NAN, 1.0]),
        np.array([2, None, 1], dtype=object),
        MASKED,
        MASKED.astype(np.uint8),
        MASKED.astype(np.float32),
        torch.tensor([2, -1, 1]),
        torch.tensor([2.0, NAN, 1.0]),
        torch.tensor([2.0, NAN, 1.0], dtype=torch.bfloat16, requires_grad=True),
    ],
)
@pytest.mark.parametrize("classes", [range(3), ("a", "b", "c")])
def test_every_way_to_say_unknown(given, classes):
    factor = read_factor("f", given, 3, "categorical", classes)
    assert factor.values.tolist() == [2, -1, 1]
    assert factor.num_classes == 3


@pytest.mark.parametrize(
    ("given", "kind"),
    [(["b", None, "a"], "string"), ([2, None, 1], "Int64"), ([True, None, False], "boolean")],
)
def test_pandas_own_kinds_of_missing(given, kind):
    pandas = pytest.importorskip("pandas")
    said = None if kind != "Int64" else "categorical"
    assert read_factor("f", pandas.Series(given, dtype=kind), 3, said).values.tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        ([True, None, False], "binary", [1, -1, 0]),
        (np.array([True, False, True]), "binary", [1, 0, 1]),
        ([3, 0, -1], "categorical", [1, 0, -1]),
        (np.array([0, 250, 7], dtype=np.uint8), "categorical", [0, 2, 1]),
        (["cat", None, "ant"], "categorical", [1, -1, 0]),
        (["cat", NAN, "ant"], "categorical", [1, -1, 0]),
        (["cat", " ", "ant"], "categorical", [1, -1, 0]),
        (np.array(["cat", "", "ant"]), "categorical", [1, -1, 0]),
        (np.array(["cat", "ant", "cat"]), "categorical", [1, 0, 1]),
        (np.array([b"cat", b"ant", b"cat"]), "categorical", [1, 0, 1]),
        (np.ma.array(["cat", "?", "ant"], mask=[0, 1, 0]), "categorical", [1, -1, 0]),
        ([0.5, -1.0, 2], "continuous", [0.5, -1.0, 2.0]),
    ],
)
def test_kinds_are_inferred(given, kind, values):
    factor = read_factor("f", given, 3)
    assert factor.kind == kind
    assert factor.values.tolist() == values


@pytest.mark.parametrize(
    ("given", "classes"), [([10, 20, 30, -1], ("10", "20", "30")), ([1, 2, 3, 2], ("1", "2", "3"))]
)
def test_labels_10_20_30_are_three_classes(given, classes):
    factor = read_factor("f", given, 4)
    assert factor.classes == classes
    assert int(factor.values.max()) == 2


def test_minus_one_beside_plus_one_is_refused_with_a_hint():
    with pytest.raises(DataError, match="call the two 0 and 1, or use words"):
        read_factor("f", [-1, 1, 1, -1], 4)
    with pytest.raises(ValueError, match="-1 marks an unknown label"):  # scikit-learn's habit
        read_factor("f", [-2, 0, 1, 2], 4)


def test_whole_numbers_of_few_labels_are_numbers_if_they_seldom_repeat_and_have_gaps():
    days = np.arange(30) * 3 + 7
    with pytest.warns(UnknotWarning, match="of 30 different values are taken as numbers"):
        assert read_factor("days", days, 30).kind == "continuous"
    assert read_factor("days", [*days, *days, *days], 90).num_classes == 30  # each comes often
    assert read_factor("person", np.arange(30), 30).num_classes == 30  # codes without gaps
    assert read_factor("room", np.arange(10) * 100, 10).num_classes == 10  # few
    refuse_whole_floats(read_factor("days", [*map(float, days), NAN], 31))


def test_whole_numbers_of_many_values_are_numbers():
    with pytest.warns(UnknotWarning, match="of 347 different values are taken as numbers; otherwise declare"):
        factor = read_factor("price", np.arange(347) - 9, 347)
    assert factor.kind == "continuous"
    assert factor.values.tolist() == [float(i - 9) for i in range(347)]
    assert read_factor("price", np.arange(347), 347, "categorical").num_classes == 347
    with pytest.warns(UnknotWarning, match="beside -1, which marks an unknown one, are taken as 347 classes"):
        assert read_factor("person", np.arange(348) - 1, 348).num_classes == 347
    assert read_factor("name", [f"n{i}" for i in range(99)], 99).num_classes == 99  # words are classes
    gaps = read_factor("price", [*range(60), NAN], 61)
    refuse_whole_floats(gaps)  # numbers, in Python as in a file
    assert gaps.kind == "continuous"


def test_continuous_labels():
    assert read_factor("f", [1, -1, 2], 3, "continuous").values.tolist() == [1.0, -1.0, 2.0]
    for given in ([0.5, None, 2.5], np.ma.array([0.5, 9, 2.5], mask=[0, 1, 0]), [0.5, NAN, 2.5]):
        factor = read_factor("f", given, 3)
        assert factor.kind == "continuous"
        assert factor.known.tolist() == [True, False, True]
        assert factor.values[[0, 2]].tolist() == [0.5, 2.5]
    assert read_factor("f", np.zeros((3, 2)), 3).values.shape == (3, 2)


@pytest.mark.parametrize("kind", ["continuous", "binary", "count"])
def test_empty_words_are_unknown_numbers_too(kind):
    assert not read_factor("f", ["", " "], 2, kind).known.any()


def test_whole_numbers_beside_gaps_are_to_be_declared():
    with pytest.raises(DataError, match="whole numbers beside NaN may be classes or numbers; say which"):
        refuse_whole_floats(read_factor("f", [1.0, NAN, 2.0], 3))
    for given in ([1.5, NAN, 2.0], [1.0, 3.0, 2.0], [NAN, NAN, NAN], [-2.0, NAN, 1.0]):
        refuse_whole_floats(read_factor("f", given, 3, "continuous"))


def test_classes_by_value_and_by_name():
    assert read_factor("f", [3, 1, -1], 3, classes=[1, 3]).values.tolist() == [1, 0, -1]
    assert read_factor("f", [3, 1, -1], 3, classes=[1, 3]).classes == ("1", "3")
    assert read_factor("f", ["b", "a", None], 3, classes=["b", "a"]).values.tolist() == [0, 1, -1]
    assert read_factor("f", [None, -1, NAN], 3, classes=["b", "a"]).values.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("given", "kind", "classes", "message"),
    [
        ([0, 1, 12], None, range(10), "factor 'f', row 2: got 12, expected one of the classes 0, 1"),
        ([0, 1, 12], None, ["a", "b"], "factor 'f', row 2: got 12, expected a class from 0 to 1"),
        ([0, -3, 1], "categorical", None, "factor 'f', row 1: got -3, but classes are whole numbers from 0"),
        (
            [0, 1.5, 1],
            "categorical",
            range(3),
            "factor 'f', row 1: got 1.5, but a categorical label is a whole",
        ),
        ([0, float("inf"), 1], "count", None, "factor 'f', row 1: got inf"),
        ([0, 1, 2], "binary", None, "factor 'f', row 2: got 2, expected a class from 0 to 1"),
        ([0, -2, 2], "count", None, "factor 'f', row 1: got -2"),
        (["a", "b", "z"], None, ["a", "b"], "factor 'f', row 2: got z, expected one of the classes a, b"),
        (["a", "b", 3], None, None, "factor 'f', row 2: got 3"),
        ([1, None, "b"], None, None, "factor 'f', row 2: got 'b'"),
        ([None, "b", "c"], "continuous", None, "factor 'f', row 1: got 'b', expected a number"),
        (["x", "b", "c"], "count", None, "factor 'f', row 0: got 'x', expected a number"),
        ([0.0, float("inf"), 1.0], None, None, "factor 'f', row 1: got inf"),
        ([[1.0, 2.0], [1.0, NAN], [0.0, 0.0]], None, None, "factor 'f', row 1"),
        ([0, 1], None, None, "factor 'f': 2 labels for 3 items"),
        (5, None, None, "factor 'f': one labels for 3 items"),
        ([[0, 1], [1, 2], [2, 3]], None, None, "one per item, got shape"),
        (
            [None, None, None],
            None,
            None,
            "no label is known, so that its kind cannot be inferred; declare it in `kinds`",
        ),
        ([1j, 2j, 3j], None, None, "factor 'f': the labels are of type complex128"),
        ([-1, -1, -1], None, None, "factor 'f': no label is known"),
        (["yes", "yes ", "no"], None, None, "'yes' and 'yes ' differ by spaces only"),
        ([0, 1, 2], "ordinal", None, "kind is one of"),
        ([0, 1, 1], None, [-1, 1], "-1 means unknown"),
        ([0, 1, 1], None, ["a", "a"], "two classes have the same name"),
    ],
)
def test_mistakes_name_the_factor_the_row_and_the_value(given, kind, classes, message):
    with pytest.raises(DataError, match=message):
        read_factor("f", given, 3, kind, classes)


def test_names_of_classes_are_the_labels_that_they_came_from() -> None:
    for labels in ([10, 20, 30], ["a", "b"], ["1", "one"]):
        factor = read_factor("kind", labels, len(labels))
        assert class_values(factor.classes or ()) == labels
    assert class_values(("01", "2")) == ["01", "2"]  # no number is written so
