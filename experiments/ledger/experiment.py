"""Experiment: cases to run, measures to report, and published numbers to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any, Literal

from unknot.errors import SpecError

Tier = Literal["smoke", "quick"]
TIERS: tuple[Tier, ...] = ("smoke", "quick")
Case = Mapping[str, Any]  # plain settings; "row" and (if it has one) "column" name its place in the tables
Settings = Mapping[str, Any]  # a case without its names: everything that a run depends on
Numbers = dict[str, float]
NAMES = ("row", "column")


@dataclass(frozen=True)
class Measure:
    """A number that runs report under ``key``, and its format in tables.

    ``better``: "match" is a number that should equal the published one. ``over_seeds``: mean and standard deviation, or
    median and worst.
    """

    key: str
    title: str
    unit: str = ""
    better: Literal["lower", "higher", "match"] = "lower"
    decimals: int = 2
    over_seeds: Literal["mean", "median"] = "mean"

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def typical(self, values: Sequence[float]) -> float:
        """Return the mean or median over seeds."""
        return mean(values) if self.over_seeds == "mean" else median(values)

    def worst(self, values: Sequence[float]) -> float:
        return max(values) if self.better == "lower" else min(values)

    def as_good(self, ours: float, theirs: float, spread: float = 0.0) -> bool:
        """Return whether a number is at least as good as the worse end of another ± its spread.

        >>> Measure("error", "error").as_good(5.0, 4.0, 1.0), Measure("n", "n", better="match").as_good(7.0, 11.0)
        (True, False)
        """
        if self.better == "match":
            return abs(ours - theirs) <= max(spread, 0.5)
        return ours <= theirs + spread if self.better == "lower" else ours >= theirs - spread


@dataclass(frozen=True)
class Yardstick:
    """A row to compare with: per column a number, or a number and its standard deviation; "" without columns.

    ``tag``: P (printed in a paper), D (digitized from a figure) or goal. ``measure``: the key of a measure, by default
    the first.
    """

    source: str
    values: Mapping[str, float | tuple[float, float]]
    tag: Literal["P", "D", "goal"] = "P"
    measure: str = ""

    @property
    def title(self) -> str:
        return f"{self.source} [{self.tag}]"

    def value(self, column: str) -> tuple[float, float | None] | None:
        """Return the number and its standard deviation in a column."""
        found = self.values.get(column)
        if found is None:
            return None
        return (found[0], found[1]) if isinstance(found, tuple) else (found, None)


@dataclass(frozen=True)
class Experiment:
    """A table of results and how it is computed.

    Attributes
    ----------
    cases : callable
        The cases of a tier.
    run : callable
        ``run(settings, seed, pictures)`` trains and returns measures. It may write PNG files to the folder
        ``pictures``, if this is not None. It does not get the names of the case, so that rows can be renamed.
    measures : sequence of Measure
        The first is the headline.
    budgets : mapping
        The cost of each tier.
    yardsticks, judged
        Published numbers and goals, and the source of the one that a row is compared with.
    plot : callable, optional
        ``plot(content, folder)`` draws PNG files from the result.
    captions : mapping
        Captions of pictures, by name without ``.png``.
    overview : callable, optional
        ``overview(content)`` returns a summary of a long table in Markdown.
    short : callable, optional
        ``short(content)`` returns our number, that of a baseline and the number of seeds for the README, where
        these are not single cells; None if there is no result.
    """

    name: str
    place: str  # where the paper has it
    about: str  # one sentence
    cases: Callable[[Tier], Sequence[Case]]
    run: Callable[[Settings, int, Path | None], Numbers]
    measures: Sequence[Measure]
    budgets: Mapping[str, str]  # tier -> what it costs
    yardsticks: Sequence[Yardstick] = ()
    judged: Mapping[str, str] = field(default_factory=dict)  # row -> source of a yardstick
    plot: Callable[[Mapping[str, Any], Path], None] | None = None
    captions: Mapping[str, str] = field(default_factory=dict)
    overview: Callable[[Mapping[str, Any]], list[str]] | None = None
    short: Callable[[Mapping[str, Any]], tuple[str, str, int] | None] | None = None

    def yardsticks_of(self, measure: Measure) -> list[Yardstick]:
        """Return the yardsticks of a measure."""
        return [y for y in self.yardsticks if (y.measure or self.measures[0].key) == measure.key]

    def yardstick(self, row: str, measure: Measure) -> Yardstick | None:
        """Return the yardstick of a row in a measure."""
        source = self.judged.get(row)
        return next((y for y in self.yardsticks_of(measure) if y.source == source), None)


def settings_of(case: Case) -> dict[str, Any]:
    """Return the settings of a case."""
    return {key: value for key, value in case.items() if key not in NAMES}


def case_title(case: Case) -> str:
    """Return row and column of a case."""
    return ", ".join(str(case[name]) for name in NAMES if case.get(name))


def chosen_cases(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """Return the cases whose row, column or both equal one of the words, or else contain it.

    >>> cases = [{"row": "ours", "column": "M = 100"}, {"row": "ours", "column": "M = 1000"}]
    >>> [case["column"] for case in chosen_cases(cases, ["M = 100"])]
    ['M = 100']
    >>> [case["column"] for case in chosen_cases(cases, ["ours"])]
    ['M = 100', 'M = 1000']
    """
    if not only:
        return list(cases)
    chosen: list[Case] = []
    for word in only:
        exact = [c for c in cases if word in (c.get("row"), c.get("column"), case_title(c))]
        found = exact or [c for c in cases if word in case_title(c)]
        if not found:
            there = "; ".join(case_title(c) for c in cases)
            raise SpecError(f"--only {word!r}: expected a part of a row or column; there are: {there}.")
        chosen += [c for c in found if c not in chosen]
    return [c for c in cases if c in chosen]
