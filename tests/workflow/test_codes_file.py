"""Codes come back from their file as they were; what is missing is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.errors import DataError
from unknot.metrics import Probabilities
from unknot.workflow.codes_file import Codes, read_codes, read_codes_and_factors, write_codes

SOFT = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
MADE = Codes(
    {"kind": Probabilities(SOFT), "style": np.arange(6.0).reshape(3, 2)},
    {"digit": np.array([1, 2, 1])},
    {"kind": np.array([0.5]), "style": np.array([0.1, 0.2])},
)


def test_they_come_back_as_they_were(tmp_path: Path) -> None:
    write_codes(tmp_path / "codes.npz", MADE)
    found = read_codes_and_factors(tmp_path / "codes.npz")
    assert isinstance(found.codes["kind"], Probabilities)
    assert np.array_equal(found.codes["kind"].values, SOFT)
    assert np.array_equal(found.codes["style"], MADE.codes["style"])
    assert np.array_equal(found.factors["digit"], MADE.factors["digit"])
    names = list(found.codes)
    expected = np.concatenate([MADE.divergences[name] for name in names])
    assert np.array_equal(found.columns_of_divergences(), expected)


def test_a_divergence_that_is_missing_makes_all_unknown() -> None:
    assert Codes(MADE.codes, {}, {"kind": np.array([0.5])}).columns_of_divergences() is None


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    write_codes(tmp_path / "codes.npz", Codes({"style": np.zeros((3, 1))}))
    assert read_codes(tmp_path / "codes.npz").factors == {}
    with pytest.raises(DataError, match=r"has no factors: .* and has code.style"):
        read_codes_and_factors(tmp_path / "codes.npz")
    np.savez(tmp_path / "other.npz", values=np.zeros(3))
    with pytest.raises(DataError, match="has no codes"):
        read_codes(tmp_path / "other.npz")
    with pytest.raises(DataError, match="There is no file"):
        read_codes(tmp_path / "none.npz")
