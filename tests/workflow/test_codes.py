"""Codes of a model: probabilities of classes, means of the rest, factors that all items know, exact divergences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError
from unknot.metrics import Probabilities
from unknot.models import node
from unknot.workflow import codes
from unknot.workflow.codes import (
    Codes,
    codes_of,
    divergences,
    read_codes,
    read_codes_and_factors,
    write_codes,
)
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.trained_model import TrainedModel

RNG = np.random.default_rng(0)
DATA = from_arrays(
    RNG.normal(size=(60, 3)),
    {"kind": np.arange(60) % 3, "half": np.arange(60) % 3 - 1, "constant": np.zeros(60)},
)
SPEC = [
    node("kind", "concrete", 3, inferred_from=["x"]),
    node("style", "normal", 2, inferred_from=["x"]),
    node("x", "normal", parents=["kind", "style"]),
]


@pytest.fixture
def model() -> TrainedModel:
    torch.manual_seed(0)
    return like(SPEC, DATA)


def test_what_the_encoder_says_beside_what_is_known(model: TrainedModel) -> None:
    found = codes_of(model, DATA)
    said = predict_dataset(model, DATA).predictions
    assert isinstance(found.codes["kind"], Probabilities)
    assert np.allclose(found.codes["kind"].values, said["kind"])
    assert np.allclose(found.codes["style"], said["style"])
    assert list(found.factors) == ["kind"]  # half is not known of all, constant says nothing
    assert found.columns_of_divergences().shape == (3,)


def test_of_many_items_evenly_spaced_ones(model: TrainedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "MOST_ITEMS", 4)
    found = codes_of(model, DATA)
    rows = [0, 19, 39, 59]
    assert np.array_equal(found.factors["kind"], np.arange(60)[rows] % 3)
    assert np.allclose(
        found.codes["style"], predict_dataset(model, DATA.subset(rows)).predictions["style"], atol=1e-6
    )


def test_divergences_are_those_of_the_formulas(model: TrainedModel) -> None:
    """KL of a Gaussian and of a class, written out, averaged over the items."""
    q = model.mode_trace(DATA.batch(range(60)).x)
    mean, scale = q["style"].dist.loc.double(), q["style"].dist.scale.double()
    gaussian = (mean**2 + scale**2 - 1) / 2 - scale.log()
    mass = q["kind"].dist.probs.double()
    classes = (mass * (3 * mass).log()).sum(-1)
    found = divergences(model, DATA)
    assert np.allclose(found["style"], gaussian.mean(0), atol=1e-5)
    assert np.allclose(found["kind"], [classes.mean()], atol=1e-5)


# ---- Codes come back from their file as they were; what is missing is said -------------------------------

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
