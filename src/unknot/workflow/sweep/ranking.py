"""Ranking of the finished runs of a sweep, by labels or by how well restarts agree, which needs none."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from unknot.errors import SpecError
from unknot.metrics import model_centrality, udr
from unknot.metrics.table import SCORES
from unknot.suggest import did_you_mean
from unknot.workflow.codes import Codes, read_codes
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.sweep.measured import CODES, Measured
from unknot.workflow.sweep.member import Member

# How well restarts agree, which needs no labels: UDR and ModelCentrality over the runs of a sweep.

AGREEMENTS = ("udr", "model_centrality")


def agreements(runs: Sequence[Codes], groups: Sequence[Hashable]) -> dict[str, list[float | None]]:
    """Return UDR and ModelCentrality of every run against the runs of its group; None for a run alone in its group.

    A group holds the restarts of one setting on the same items (Duan et al. 2020 compare within a setting too, which
    makes the scores of different settings comparable).

    Parameters
    ----------
    runs : sequence of Codes
        The codes of each run.
    groups : sequence
        The group of each run.

    Returns
    -------
    dict from score to list
    """
    found: dict[str, list[float | None]] = {name: [None] * len(runs) for name in AGREEMENTS}
    for group in dict.fromkeys(groups):
        places = [place for place, one in enumerate(groups) if one == group]
        if len(places) < 2:
            continue
        codes = [runs[place].codes for place in places]
        live = [runs[place].columns_of_divergences() for place in places]
        known = None if any(one is None for one in live) else live
        scores = {
            "udr": udr(codes, divergences=known).scores,
            "model_centrality": model_centrality(codes).scores,
        }
        for name, values in scores.items():
            for place, value in zip(places, np.asarray(values).tolist(), strict=True):
                found[name][place] = value
    return found


FORMAT = 1
_TITLES = {"udr": "UDR", "model_centrality": "ModelCentrality"}


@dataclass(frozen=True)
class Column:
    """One number of every run; None where a run does not have it. ``measure`` formats errors."""

    name: str
    title: str
    values: tuple[float | None, ...]
    lower_is_better: bool = False
    measure: str = ""

    @property
    def needs_labels(self) -> bool:
        return self.name not in AGREEMENTS

    def text(self, value: float | None) -> str:
        if value is None:
            return "-"
        return MEASURES[self.measure].text(value) if self.measure else f"{value:.3f}"

    def places(self) -> list[float]:
        """Return the rank of each run, 1 for the best; ties share ranks, and runs without a number are last."""
        worst = float("inf")
        signed = [worst if v is None else v if self.lower_is_better else -v for v in self.values]
        return [1 + sum(o < v for o in signed) + (sum(o == v for o in signed) - 1) / 2 for v in signed]


@dataclass(frozen=True)
class Finished:
    """A member with its results and its run folder."""

    member: Member
    measured: Measured
    folder: Path


@dataclass(frozen=True)
class Ranking:
    """Runs, best first, with the values of ``columns`` in the same order; ``by`` names the columns that decide."""

    runs: tuple[Finished, ...]
    columns: tuple[Column, ...]
    by: tuple[str, ...]

    @property
    def deciding(self) -> list[Column]:
        return [column for column in self.columns if column.name in self.by]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the runs in their order, with every number."""
        runs = [
            {
                "folder": str(run.folder),
                "settings": dict(run.member.point),
                "seed": run.member.seed,
                "seconds": run.measured.seconds,
                "numbers": {column.name: column.values[place] for column in self.columns},
            }
            for place, run in enumerate(self.runs)
        ]
        return {"format": FORMAT, "by": list(self.by), "runs": runs}


def refuse_unknown_number(by: str | None) -> None:
    """Refuse to rank by an unknown number, before any run is trained."""
    names = ["error", *SCORES, *AGREEMENTS]
    if by is not None and by.partition(".")[0] not in names:
        raise SpecError(f"--rank-by {by}: there is no such number; {did_you_mean(by, names)}")


def rank(runs: Sequence[Finished], by: str | None = None) -> Ranking:
    """Rank runs by their mean rank in one or several columns.

    Parameters
    ----------
    runs : sequence of Finished
        The runs.
    by : str, optional
        A column, or "error" for the columns of all errors. By default the errors where the model takes labels,
        otherwise the first score against known factors, otherwise UDR.

    Returns
    -------
    Ranking
    """
    columns = _columns(runs)
    chosen = _deciding(columns, by)
    places = [column.places() for column in columns if column.name in chosen]
    order = sorted(range(len(runs)), key=lambda run: mean(each[run] for each in places) if places else 0.0)
    sorted_columns = tuple(
        Column(c.name, c.title, tuple(c.values[i] for i in order), c.lower_is_better, c.measure)
        for c in columns
    )
    return Ranking(tuple(runs[i] for i in order), sorted_columns, chosen)


def _columns(runs: Sequence[Finished]) -> list[Column]:
    """Return the errors, scores and agreements that at least one run has."""
    found: list[Column] = []
    errors = {score.factor: score.measure for run in runs for score in run.measured.errors}
    for factor, measure in errors.items():
        said = [{score.factor: score.value for score in run.measured.errors} for run in runs]
        values = tuple(one.get(factor) for one in said)
        found.append(Column(f"error.{factor}", f"{measure} of {factor}", values, True, measure))
    for name in dict.fromkeys(name for run in runs for name in run.measured.scores):
        found.append(Column(name, name, tuple(run.measured.scores.get(name) for run in runs)))
    codes = [read_codes(run.folder / CODES) for run in runs]
    for name, agreed in agreements(codes, _groups(runs)).items():
        found.append(Column(name, _TITLES[name], tuple(agreed)))
    return [column for column in found if any(value is not None for value in column.values)]


def _groups(runs: Sequence[Finished]) -> list[tuple[str, str]]:
    """Group restarts of one setting on the same items; if no setting has two seeds, all runs on the same items."""
    settings = [json.dumps(dict(run.member.point), sort_keys=True, default=str) for run in runs]
    restarted = len(set(settings)) < len(settings)
    return [(run.measured.items, one if restarted else "") for run, one in zip(runs, settings, strict=True)]


def _deciding(columns: Sequence[Column], by: str | None) -> tuple[str, ...]:
    names = [column.name for column in columns]
    errors = tuple(name for name in names if name.startswith("error."))
    if by is None:
        return errors or tuple(names[:1])
    if by == "error" and errors:
        return errors
    if by not in names:
        there = ["error", *names] if errors else names
        raise SpecError(f"--rank-by {by}: these runs have no such number; {did_you_mean(by, there)}")
    return (by,)


def what_choosing_gains(ranking: Ranking) -> list[dict[str, str]]:
    """Return for every column the number of the first run, of a random run on average, and of the best run."""
    rows = []
    for column in ranking.columns:
        there = [value for value in column.values if value is not None]
        best = min(there) if column.lower_is_better else max(there)
        rows.append(
            {
                "number": column.title,
                "first": column.text(column.values[0]),
                "at random": column.text(mean(there)),
                "best": column.text(best),
            }
        )
    return rows
