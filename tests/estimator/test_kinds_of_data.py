"""Data of every kind trains and comes back in its shape; what is no data is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.estimator.small import CLASSES, COUNT, DIGITS, IMAGES, half_known, small
from unknot import StructuredVAE
from unknot.errors import DataError


@pytest.mark.parametrize(
    ("x", "family"),
    [
        (IMAGES[:COUNT, None], "bernoulli"),
        (DIGITS.data[:COUNT] / 16, "bernoulli"),
        (DIGITS.data[:COUNT] - 8, "normal"),
        (DIGITS.data[:COUNT].astype(int), "multinomial"),
        (IMAGES[:COUNT] > 100, "bernoulli"),
        (np.repeat(IMAGES[:COUNT, None], 3, 1), "bernoulli"),
    ],
    ids=["images", "shares", "real", "counts", "bools", "colors"],
)
def test_every_kind_of_data_trains_and_comes_back_in_its_shape(x: np.ndarray, family: str) -> None:
    vae = small().fit(x, digit=half_known(CLASSES))
    assert vae.trained_.nodes[-1].family.name == family
    assert vae.sample(3, {"digit": 1}).shape[1:] == vae.trained_.shape
    assert vae.predict(x[:4]).shape == (4,)


def mixed_table(count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, count)
    rows = np.stack(
        [
            kind * 100 + rng.normal(0, 20, count),
            rng.random(count) < 0.2 + 0.3 * kind,
            kind,
            rng.poisson(1 + 3 * kind),
        ],
        axis=1,
    ).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows, kind


KINDS = ["real", "binary", "category", "count"]


def test_tables_with_gaps() -> None:
    rows, kind = mixed_table()
    vae = small(columns=KINDS, steps=60).fit(rows, kind=half_known(kind))
    assert vae.score(rows, kind=kind) > 0.6
    assert vae.sample(5, {"kind": 1}).shape == (5, 4)
    assert np.isfinite(vae.transform(rows)).all()
    with pytest.raises(DataError, match="category column cannot be 9"):
        vae.predict(np.array([[0.0, 1.0, 9.0, 1.0]]))


def test_tables_of_words(tmp_path: Path) -> None:
    rows, kind = mixed_table()
    spoken = rows.astype(object)
    spoken[:, 2] = [None if np.isnan(v) else ("red", "green", "blue")[int(v)] for v in rows[:, 2]]
    columns = dict(zip(["age", "smokes", "color", "visits"], KINDS, strict=True))
    vae = small(columns=columns).fit(spoken, kind=half_known(kind))
    sampled = vae.sample(6, {"kind": 2})
    assert set(sampled[:, 2]) <= {"red", "green", "blue"}
    vae.save(tmp_path)
    again = StructuredVAE.load(tmp_path)
    np.testing.assert_array_equal(again.transform(spoken[:9]), vae.transform(spoken[:9]))
    with pytest.raises(DataError, match="column 'color', row 0: got 'pink'"):
        vae.predict([[50.0, 1.0, "pink", 2.0]], errors="raise")


@pytest.mark.parametrize(
    ("x", "labels", "message"),
    [
        (IMAGES[:0], {}, "no rows"),
        (IMAGES[:9], {"digit": CLASSES[:8]}, "8 labels for 9 items"),
        (IMAGES[:9], {"digit": np.zeros(9, int)}, "one class only"),
        ([np.zeros((2, 2)).tolist(), [[1.0]]], {}, "one size"),
        (IMAGES[:9].astype(int), {}, "make images uint8"),
        (np.full((9, 4), np.nan), {}, "every entry is missing"),
        (np.full((9, 4), np.inf), {}, "infinity in row 0"),
        (np.arange(9.0), {}, "Reshape your data"),
        (np.ones((9, 4)) * 1j, {}, "Complex data not supported"),
    ],
)
def test_bad_data_is_refused(x: Any, labels: dict[str, Any], message: str) -> None:
    x = np.array(x, dtype=object) if isinstance(x, list) else x
    vae = small()
    with pytest.raises(DataError, match=message):
        vae.fit(x, **labels)
    assert not hasattr(vae, "trained_")


def test_other_shapes_are_refused_after_fitting(fitted: StructuredVAE) -> None:
    with pytest.raises(
        DataError, match=r"items of shape \(1, 4, 4\), but the model was fitted on \(1, 8, 8\)"
    ):
        fitted.predict(IMAGES[:3, :4, :4])
    with pytest.raises(DataError, match="no rows"):
        fitted.predict(IMAGES[:0])
    with pytest.raises(DataError, match="some of them known"):
        fitted.score(IMAGES[:3], digit=np.full(3, -1))
