"""Experiment: one result of a paper, as cases to run, numbers to report and the paper's own beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Tier = Literal["smoke", "quick", "paper"]
TIERS: tuple[Tier, ...] = ("smoke", "quick", "paper")
Case = Mapping[str, Any]  # plain settings; "row" names the line of the table it belongs to
Numbers = dict[str, float]


@dataclass(frozen=True)
class Published:
    """A number from the literature. ``tag``: [P] printed, [D] digitised from a figure."""

    source: str
    value: float
    spread: float | None = None
    tag: str = "P"


@dataclass(frozen=True)
class Experiment:
    """``run(case, seed)`` trains and measures; everything else says what to run and how to show it."""

    name: str
    place: str  # where the paper has it
    about: str  # one sentence
    cases: Callable[[Tier], Sequence[Case]]
    run: Callable[[Case, int], Numbers]
    measure: str  # the number the table shows
    unit: str
    better: Literal["lower", "higher"]
    budgets: Mapping[str, str]  # tier -> what it costs
    published: Mapping[str, Sequence[Published]] = field(
        default_factory=dict
    )  # row -> numbers to stand beside
    notes: str = ""
