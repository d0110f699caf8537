"""Frames: columns by name, kinds inferred, gaps and words; and rows of words without names."""

from __future__ import annotations

import numpy as np
import pytest

from unknot import StructuredVAE
from unknot.errors import DataError, SpecError, UnknotWarning
from unknot.estimator.frame import is_frame, numeric_rows, read_frame, read_table

pandas = pytest.importorskip("pandas")
KIND = np.arange(60) % 3


def frame() -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    made = pandas.DataFrame(
        {
            "age": 40.0 + 10 * KIND + rng.normal(0, 2, 60),
            "smokes": KIND == 1,
            "blood": np.array(["A", "B", "O"])[KIND],
            "visits": KIND + rng.integers(0, 2, 60),
        }
    )
    made.loc[::7, "age"] = np.nan
    made.loc[3, "blood"] = None
    return made


def small(**settings: object) -> StructuredVAE:
    return StructuredVAE(**{"model": "class_style", "steps": 4, "style": 2, "verbose": False, **settings})


def test_kinds_of_a_frame_are_inferred() -> None:
    data = read_frame(frame())
    assert [(c.name, c.kind) for c in data.table] == [
        ("age", "real"),
        ("smokes", "binary"),
        ("blood", "category"),
        ("visits", "real"),
    ]
    assert data.table[2].classes == ("A", "B", "O")
    assert int(data.x.isnan().sum()) == 10
    assert is_frame(frame())
    assert not is_frame(np.zeros((2, 2)))


def test_what_was_inferred_of_a_frame_is_said_before_training(capsys: pytest.CaptureFixture[str]) -> None:
    small(verbose=True).fit(frame(), outcome=np.arange(len(frame())) % 2)
    said = capsys.readouterr().err
    assert "2 real (age, visits); 1 binary (smokes); 1 category (blood)" in said
    assert f"Label outcome: 2 classes (0, 1), known for {len(frame())} of {len(frame())}" in said
    small().fit(frame())
    assert capsys.readouterr().err == ""


def test_dates_and_units_of_a_frame(capsys: pytest.CaptureFixture[str]) -> None:
    days = pandas.date_range("2024-02-28", periods=60, freq="36h")
    made = frame().assign(when=days, albumin=[f"{i / 10} g/dl" for i in range(60)])
    vae = small(verbose=True).fit(made, outcome=KIND)
    said = "Cells read as numbers: when (month, weekday, days since 2024-02-28); albumin (in g/dl)."
    assert said in capsys.readouterr().err
    words = made.assign(when=days.strftime("%Y-%m-%d %H:%M"))
    np.testing.assert_array_equal(vae.predict_proba(made), vae.predict_proba(words))
    objects = made.assign(when=pandas.Series(list(days.to_pydatetime()), dtype=object))
    np.testing.assert_array_equal(vae.predict_proba(made), vae.predict_proba(objects))


def test_pandas_own_kinds_of_missing() -> None:
    made = pandas.DataFrame(
        {
            "a": pandas.array([1, None, 3], dtype="Int64"),
            "b": pandas.Categorical(["u", None, "v"]),
            "c": pandas.array([True, None, False], dtype="boolean"),
        }
    )
    data = read_frame(made)
    assert [c.kind for c in data.table] == ["real", "category", "binary"]
    assert data.x.isnan().tolist() == [[False] * 3, [True] * 3, [False] * 3]


def test_columns_go_by_name_in_any_order() -> None:
    vae = small(columns={"visits": "count"}).fit(frame(), kind=KIND)  # one declared, the others inferred
    assert list(vae.feature_names_in_) == ["age", "smokes", "blood", "visits"]
    assert vae.trained_.data.table[3].kind == "count"
    turned = frame()[["visits", "blood", "age", "smokes"]].assign(more=1)
    np.testing.assert_array_equal(vae.predict_proba(turned), vae.predict_proba(frame()))
    with pytest.raises(DataError, match="no column 'blood', which the model was trained on"):
        vae.predict(frame().drop(columns="blood"))
    with pytest.warns(UnknotWarning, match="taken as age, smokes, blood, visits"):
        vae.predict(frame().to_numpy())


def test_columns_in_another_order_do_not_rename() -> None:
    columns = {"visits": "count", "blood": "category", "age": "real", "smokes": "binary"}
    data = read_frame(frame(), columns)
    assert [(c.name, c.kind) for c in data.table] == [(n, columns[n]) for n in frame().columns]
    with pytest.raises(SpecError, match="columns names 'weight', but x has age, smokes"):
        read_frame(frame(), {"weight": "real"})
    with pytest.raises(SpecError, match="but that of age is 'number'"):
        read_frame(frame(), {"age": "number"})


def test_a_column_that_only_tells_rows_apart_is_left_out_and_said() -> None:
    with pytest.warns(UnknotWarning, match="column 'patient' is different in every row and is left out"):
        data = read_frame(frame().assign(patient=[f"p{i}" for i in range(60)]))
    assert len(data.table) == 4
    assert len(read_frame(frame(), {"blood": "leave out"}).table) == 3


def test_samples_of_a_frame_are_a_frame() -> None:
    made = small().fit(frame(), kind=KIND).sample(5, {"kind": 1})
    assert list(made.columns) == list(frame().columns)
    assert set(made["blood"]) <= {"A", "B", "O"}
    assert set(made["smokes"]) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (pandas.DataFrame({"a": []}), "no rows"),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "two columns of the same name"),
        (
            pandas.DataFrame({"when": pandas.to_timedelta([1, 2, 3], "s")}),
            "column 'when': holds duration",
        ),
        (pandas.DataFrame({"a": ["x", [1], "y"]}), "column 'a': holds list values"),
        (pandas.DataFrame({"a": [1.0, np.inf]}), "holds infinity, or a number beyond 3e38, in row 1"),
        (pandas.DataFrame({"a": ["1"] * 30 + ["1o"]}), "column 'a', row 30: got '1o' among numbers"),
    ],
)
def test_frames_that_are_refused(made: pandas.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_frame(made)


def test_rows_of_words_without_names() -> None:
    data = read_table(np.array([[63, "A"], [41, None], [None, "B"]], dtype=object))
    assert [(c.name, c.kind) for c in data.table] == [("column 0", "real"), ("column 1", "category")]
    with pytest.raises(DataError, match=r"columns names 1 kinds, but the rows of x have shape \(2,\)"):
        read_table(np.zeros((3, 2)), ["real"])


def test_columns_that_rows_without_names_leave_out_may_come_again() -> None:
    rows = np.array([[f"p{i}", i % 3, 1.5 * i, None] for i in range(60)], dtype=object)
    with pytest.warns(UnknotWarning) as said:
        vae = small().fit(rows, kind=KIND)
    assert "left out: column 'column 3'" in str(said[0].message)
    assert "'column 0' is different in every row" in str(said[1].message)
    np.testing.assert_array_equal(vae.predict_proba(rows), vae.predict_proba(rows[:, 1:3]))
    with pytest.raises(DataError, match="X has 1 features, but expecting 2"):
        vae.predict(rows[:, :1])


@pytest.mark.parametrize(
    "columns",
    [["real", "leave out", "real"], {"a": "real", "b": "leave out", "c": "real"}],
    ids=["list", "names"],
)
def test_columns_of_rows_without_names_can_be_left_out(columns: object) -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    vae = small(columns=columns).fit(x, kind=KIND)
    other = x.copy()
    other[:, 1] = 1e6
    np.testing.assert_array_equal(vae.predict_proba(x), vae.predict_proba(other))


def test_frames_of_other_libraries_are_the_same_table() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pandas(frame(), preserve_index=False)
    from_arrow, from_pandas = read_frame(table), read_frame(frame())
    assert from_arrow.table == from_pandas.table
    np.testing.assert_array_equal(from_arrow.x, from_pandas.x)
    vae = small().fit(table, kind=table["blood"].fill_null("O"))
    np.testing.assert_array_equal(vae.predict_proba(table), vae.predict_proba(frame()))
    assert isinstance(vae.sample(2), pyarrow.Table)
    assert isinstance(small().fit(frame()).sample(2), pandas.DataFrame)


def test_numeric_frames_are_rows_of_numbers() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": [1, 2], "b": [0.5, None], "c": [True, False]}
    expected = [[1.0, 0.5, 1.0], [2.0, np.nan, 0.0]]
    for made in (pandas.DataFrame(columns), pyarrow.table(columns)):
        np.testing.assert_array_equal(numeric_rows(made), expected)
        assert numeric_rows(made) is not None
    assert numeric_rows(frame()) is None
