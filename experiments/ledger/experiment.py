"""Experiment: one result of a paper, as cases to run, numbers to report and the paper's own beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any, Literal

from unknot.errors import SpecError

Tier = Literal["smoke", "quick", "paper"]
TIERS: tuple[Tier, ...] = ("smoke", "quick", "paper")
Case = Mapping[str, Any]  # plain settings; "row" and (if it has one) "column" name its place in the tables
Settings = Mapping[str, Any]  # a case without its names: all that a run may depend on
Numbers = dict[str, float]
NAMES = ("row", "column")
RESULTS = "results"  # the setting under which a run that reads the ledger finds its folder


@dataclass(frozen=True)
class Measure:
    """A number that runs report under ``key``, and how tables show it.

    ``over_seeds``: mean and standard deviation, or, where a few seeds may fail altogether, median and worst.
    """

    key: str
    title: str
    unit: str = ""
    better: Literal["lower", "higher"] = "lower"
    decimals: int = 2
    over_seeds: Literal["mean", "median"] = "mean"

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def typical(self, values: Sequence[float]) -> float:
        """The number that stands for all seeds."""
        return mean(values) if self.over_seeds == "mean" else median(values)

    def worst(self, values: Sequence[float]) -> float:
        return max(values) if self.better == "lower" else min(values)


@dataclass(frozen=True)
class Yardstick:
    """A line to stand beside ours: per column a number, or a number and its spread; without columns under "".

    ``tag``: P printed in a paper, D digitized from a figure, or goal. ``measure`` is the key of the measure that
    it speaks of; left out, the experiment's first.
    """

    source: str
    values: Mapping[str, float | tuple[float, float]]
    tag: Literal["P", "D", "goal"] = "P"
    measure: str = ""

    @property
    def title(self) -> str:
        return f"{self.source} [{self.tag}]"

    def value(self, column: str) -> tuple[float, float | None] | None:
        """The number and its spread in a column."""
        found = self.values.get(column)
        if found is None:
            return None
        return (found[0], found[1]) if isinstance(found, tuple) else (found, None)


@dataclass(frozen=True)
class Experiment:
    """``run(settings, seed, pictures)`` trains and measures; everything else says what to run and how to show it.

    ``run`` gets the settings of a case without its names, so that a table can be renamed without training again.
    ``pictures`` is a folder that it may write PNG files to, or None. ``plot(content, folder)`` draws PNG files
    from the finished result. ``captions`` say what a picture shows, by its name without ``.png``. ``overview(content)``
    are lines in Markdown that say a long table in short. ``short(content)`` is the line of a newcomer's table where no
    single cell can say it: our number, that of the simple thing to do instead, and how many seeds; None: not yet there.

    ``reads_results``: nothing is trained; a run reads other results from the folder ``settings["results"]``, without
    seeds, and anew each time.

    The first measure is the headline, and the first row is what short tables show. ``judged`` says for a row
    which yardstick (by its source) it has to reach.
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
    reads_results: bool = False

    def yardsticks_of(self, measure: Measure) -> list[Yardstick]:
        """The lines that speak of a measure."""
        return [y for y in self.yardsticks if (y.measure or self.measures[0].key) == measure.key]

    def yardstick(self, row: str, measure: Measure) -> Yardstick | None:
        """What a row has to reach in a measure."""
        source = self.judged.get(row)
        return next((y for y in self.yardsticks_of(measure) if y.source == source), None)


def settings_of(case: Case) -> dict[str, Any]:
    """What a case's run depends on."""
    return {key: value for key, value in case.items() if key not in NAMES}


def case_title(case: Case) -> str:
    """Row and column of a case in words."""
    return ", ".join(str(case[name]) for name in NAMES if case.get(name))


def chosen_cases(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """The cases that any of the words names: exactly, as row, column or both, or else as a part of these.

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
            raise SpecError(f"--only {word!r}: no case is called so; there are: {there}.")
        chosen += [c for c in found if c not in chosen]
    return [c for c in cases if c in chosen]
