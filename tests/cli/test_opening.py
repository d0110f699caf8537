"""What commands open, and what they say when there is nothing to open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.cli.opening import data_to_test, is_run
from unknot.errors import DataError
from unknot.workflow.trained_model import TrainedModel


def test_a_run_brings_its_test_data_and_a_model_needs_some(trained_run: Path, tmp_path: Path) -> None:
    assert is_run(trained_run)
    model, data, train = data_to_test(trained_run, None, None)
    assert len(data) == 360
    assert train is not None
    assert int(train.factors["digit"].known.sum()) == 100  # those that the run may see
    model.save(tmp_path / "model")
    assert not is_run(tmp_path / "model")
    with pytest.raises(DataError, match="a model without data: name some, `unknot evaluate"):
        data_to_test(tmp_path / "model", None, None)
    np.savez(tmp_path / "new.npz", x=np.zeros((3, 8, 8), np.uint8), digit=[1, 2, 3])
    same, few, none = data_to_test(tmp_path / "model", tmp_path / "new.npz", None)
    assert isinstance(same, TrainedModel)
    assert none is None
    assert len(few) == 3
