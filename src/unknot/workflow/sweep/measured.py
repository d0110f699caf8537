"""Results of a finished run of a sweep, beside its codes: errors, scores, time. Their file marks the run as done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from unknot.errors import DataError, RunError
from unknot.files import write_file
from unknot.metrics.table import table
from unknot.train.metrics_log import read_records
from unknot.workflow.codes import codes_of, read_codes, write_codes
from unknot.workflow.evaluation import Score, evaluate
from unknot.workflow.run import TrainedRun

MEASURED, CODES = "measured.json", "codes.npz"
FORMAT = 1


@dataclass(frozen=True)
class Measured:
    """The results of a run.

    Attributes
    ----------
    errors : tuple of Score
        Errors on the labeled test data.
    items : str
        Fingerprint of the items of the codes.
    where : str
        Where these items come from, "test" or "training".
    seconds : float
        The time of training.
    scores : dict from str to float
        Scores by name, for example ``mig`` or ``dci.completeness``.
    without : dict from str to str
        For each score that could not be computed the reason.
    """

    errors: tuple[Score, ...]
    items: str
    where: str
    seconds: float
    scores: dict[str, float] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)

    def has(self, asked: Sequence[str]) -> bool:
        """Whether every score in ``asked`` was computed or could not be."""
        tried = {name.partition(".")[0] for name in (*self.scores, *self.without)}
        return set(asked) <= tried


def measure(trained: TrainedRun) -> Measured:
    """Measure a run: errors on the labeled test data, if there are any, and a file of codes in the run folder."""
    items = trained.test if trained.test is not None else trained.train
    write_codes(trained.run.path / CODES, codes_of(trained.model, items))
    errors = () if trained.test is None else tuple(evaluate(trained.model, trained.test))
    records = read_records(trained.run)
    seconds = float(records[-1].get("time", 0.0)) if records else 0.0
    return Measured(errors, items.fingerprint(), "training" if trained.test is None else "test", seconds)


def with_scores(found: Measured, folder: Path, asked: Sequence[str]) -> Measured:
    """Add scores of :mod:`unknot.metrics.table`, computed from the run's codes."""
    codes = read_codes(folder / CODES)
    scores, without = dict(found.scores), dict(found.without)
    for name in asked:
        if found.has([name]):
            continue
        if not codes.factors:
            without[name] = f"no factor is known of all {found.where} items"
            continue
        try:
            made = table(codes.codes, codes.factors, only=[name], resamples=0)
        except DataError as error:
            without[name] = str(error)
            continue
        without |= made.skipped
        scores |= {name if row.number == "value" else f"{name}.{row.number}": row.value for row in made.rows}
    return replace(found, scores=scores, without=without)


def write_measured(folder: Path, found: Measured) -> None:
    write_file(folder / MEASURED, (json.dumps({"format": FORMAT, **asdict(found)}, indent=1) + "\n").encode())


def read_measured(folder: Path) -> Measured | None:
    """Read the results of a run, or None if it is not finished."""
    path = folder / MEASURED
    if not path.exists() or not (folder / CODES).exists():
        return None
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        if content.pop("format") != FORMAT:
            return None
        errors = tuple(Score(**{**one, "interval": _pair(one["interval"])}) for one in content.pop("errors"))
        return Measured(errors, **content)
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} is damaged ({error}): remove it, and the run is measured again.") from error


def _pair(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (interval[0], interval[1])
