"""Missing cells filled in the user's own frame, array or mappings."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest

from tests.estimator.small import small

pandas = pytest.importorskip("pandas")
KIND = np.arange(60) % 3


def frame() -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    made = pandas.DataFrame(
        {
            "patient": [f"p{i}" for i in range(60)],
            "age": 40.1 + 10 * KIND + rng.normal(0, 2, 60),  # more digits than float32 has
            "visits": pandas.array(KIND * 3, dtype="Int64"),
            "smokes": KIND == 1,
            "blood": np.array(["A", "B", "O"])[KIND],
            "when": pandas.date_range("2024-02-28", periods=60, freq="36h"),
            "albumin": [f"{i / 10} g/dl" for i in range(60)],
        }
    )
    made["ward"] = pandas.Categorical(np.array(["north", "south", "north"])[KIND])
    made["smokes"] = made["smokes"].astype("boolean")
    return made


def test_frames_keep_their_cells_ids_and_types() -> None:
    whole = frame()
    gaps = whole.copy()
    for i, name in enumerate(gaps.columns[1:]):
        gaps.loc[gaps.index[i::11], name] = None
    vae = small(columns={"patient": "leave out"}).fit(gaps, outcome=KIND)
    filled = vae.impute(gaps)
    assert list(filled.columns) == list(gaps.columns)
    assert filled.dtypes.to_dict() == gaps.dtypes.to_dict()
    assert not filled.isna().any().any()
    pandas.testing.assert_frame_equal(filled.where(gaps.notna()), gaps.where(gaps.notna()), check_exact=True)
    assert set(filled["blood"]) == {"A", "B", "O"}
    assert set(filled["ward"]) == {"north", "south"}
    assert filled["albumin"].str.endswith(" g/dl").all()
    assert filled["when"].between(datetime(2023, 1, 1), datetime(2026, 1, 1)).all()
    pandas.testing.assert_frame_equal(vae.impute(whole), whole)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_keep_their_numbers_bit_for_bit(dtype: type) -> None:
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(dtype)
    x[::5, 1] = np.nan
    filled = small().fit(x, outcome=KIND).impute(x)
    assert filled.dtype == dtype
    known = ~np.isnan(x)
    assert filled[known].tobytes() == x[known].tobytes()
    assert np.isfinite(filled).all()


def test_rows_of_objects_and_mappings() -> None:
    whole = frame()[["patient", "age", "blood"]]
    vae = small(columns={"patient": "leave out"}).fit(whole, outcome=KIND)
    records = whole.to_dict("records")
    records[3]["blood"], records[4]["age"] = None, float("nan")
    filled = vae.impute(records)
    assert [row for row in range(60) if filled[row] != records[row]] == [3, 4]
    assert filled[3] == {**records[3], "blood": filled[3]["blood"]}
    assert filled[3]["blood"] in ("A", "B", "O")
    assert vae.impute(records[0]) == records[0]
    x = whole.to_numpy()[:, 1:].copy()
    x[3, 1], x[4, 0] = "", None
    by_position = small().fit(x, outcome=KIND)
    found = by_position.impute(x)
    assert np.argwhere(found != x).tolist() == [[3, 1], [4, 0]]
    assert found[3, 1] in ("A", "B", "O")
    assert isinstance(found[4, 0], float)
