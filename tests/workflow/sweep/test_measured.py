"""What is kept of a finished run comes back from its file; a damaged one is said, one of another format ignored."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from unknot.errors import RunError
from unknot.metrics import mig
from unknot.workflow.codes import Codes, write_codes
from unknot.workflow.evaluation import Score
from unknot.workflow.sweep.measured import (
    CODES,
    MEASURED,
    Measured,
    read_measured,
    with_scores,
    write_measured,
)

FOUND = Measured((Score("digit", "error", 0.25, 40, (0.1, 0.4)),), "abc", "test", 3.5)
FACTORS = np.random.default_rng(0).integers(0, 3, 300)
STYLE = np.stack([FACTORS, np.arange(300) % 7], 1) + 0.1 * np.random.default_rng(1).normal(size=(300, 2))


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_measured(tmp_path) is None
    write_measured(tmp_path, FOUND)
    assert read_measured(tmp_path) is None  # the codes are not there
    write_codes(tmp_path / CODES, Codes({"style": STYLE}))
    assert read_measured(tmp_path) == FOUND


def test_scores_are_those_of_the_codes_and_asked_for_once(tmp_path: Path) -> None:
    write_codes(tmp_path / CODES, Codes({"style": STYLE}, {"shape": FACTORS}))
    scored = with_scores(FOUND, tmp_path, ["mig", "dcimig", "class_gap"])
    assert scored.scores["mig"] == mig(STYLE, FACTORS).value
    assert list(scored.without) == ["class_gap"]  # no code has classes
    assert scored.has(["mig", "class_gap"])
    assert not scored.has(["sap"])
    assert with_scores(scored, tmp_path, ["mig"]) == scored


def test_without_factors_it_is_said_why_there_is_no_score(tmp_path: Path) -> None:
    write_codes(tmp_path / CODES, Codes({"style": STYLE}))
    assert with_scores(FOUND, tmp_path, ["mig"]).without == {"mig": "no factor is known of all test items"}


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    write_codes(tmp_path / CODES, Codes({"style": STYLE}))
    (tmp_path / MEASURED).write_text(json.dumps({"format": 99}))
    assert read_measured(tmp_path) is None
    for damage in ("{", json.dumps({"format": 1}), "[]"):
        (tmp_path / MEASURED).write_text(damage)
        with pytest.raises(RunError, match="is damaged"):
            read_measured(tmp_path)
