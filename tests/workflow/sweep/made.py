"""Finished runs of a sweep that nobody trained, for tests of rankings and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unknot.workflow.codes import Codes, write_codes
from unknot.workflow.evaluation import Score
from unknot.workflow.recipe import Recipe
from unknot.workflow.sweep.measured import CODES, Measured
from unknot.workflow.sweep.member import Member
from unknot.workflow.sweep.ranking import Finished

ROWS = 400


def finished(
    folder: Path,
    point: dict[str, Any],
    seed: int,
    errors: dict[str, float] | None = None,
    scores: dict[str, float] | None = None,
    codes: np.ndarray | None = None,
) -> Finished:
    """A run with these numbers, and codes that are noise of its seed unless given."""
    member = Member(Recipe.from_dict({}), point, seed, f"{seed}" * 16)
    noise = np.random.default_rng(seed + 10 * len(str(point))).normal(size=(ROWS, 2))
    place = folder / member.folder
    write_codes(place / CODES, Codes({"style": noise if codes is None else codes}))
    told = tuple(
        Score(name, "error", value, 100, (value / 2, 2 * value)) for name, value in (errors or {}).items()
    )
    return Finished(member, Measured(told, "items", "test", 2.0, scores or {}), place)
