"""A saved estimator answers as before, and what cannot be read is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import unknot
from tests.estimator.small import IMAGES, small
from unknot import StructuredVAE
from unknot.errors import RunError, SpecError


def test_a_saved_model_answers_as_before(fitted: StructuredVAE, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(IMAGES[:9]), fitted.predict_proba(IMAGES[:9]))
    np.testing.assert_array_equal(again.predict(IMAGES[:9]), fitted.predict(IMAGES[:9]))
    assert again.get_params() == fitted.get_params()
    assert {p.name for p in (tmp_path / "model").iterdir()} == {
        "model.json",
        "model.safetensors",
        "predictors",
    }


def test_what_cannot_be_loaded_is_said(fitted: StructuredVAE, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no model"):
        StructuredVAE.load(tmp_path)
    fitted.save(tmp_path)
    weights, settings = tmp_path / "model.safetensors", tmp_path / "model.json"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(RunError, match="damaged"):
        StructuredVAE.load(tmp_path)
    weights.write_bytes(whole)
    settings.write_text(json.dumps({"format": 99}))
    with pytest.raises(RunError, match="another version"):
        StructuredVAE.load(tmp_path)
    with pytest.raises(SpecError, match="cannot be saved"):
        small(objective=lambda q, p: unknot.objectives.elbo(q, p)).fit(IMAGES[:64]).save(tmp_path)
