"""The page of a sweep: which run is best, the effect of the settings, and the variation over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from unknot.files import write_file
from unknot.plots.curves import seeds_by_setting
from unknot.report.page import drawn, fill
from unknot.report.section import Section, TextTable
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.run import open_run
from unknot.workflow.sweep.member import point_text, short_names
from unknot.workflow.sweep.ranking import Column, Finished, Ranking, what_choosing_gains
from unknot.workflow.verdict.comparison import Comparison, compare
from unknot.workflow.verdict.predictions import same_labels

_CHOSEN_BY_LABELS = (
    "These test labels chose the first run, so its number on them is slightly too good: report its error on data that "
    "no choice has used."
)


@dataclass(frozen=True)
class SweepPage:
    """Everything on the page.

    Parameters
    ----------
    title : str
        The headline.
    ranking : Ranking
        The finished runs, best first.
    runs : int
        How many runs there should be.
    failures : mapping from str to str
        Reasons by the title of a run.
    beside : mapping from str to str
        By factor the scores of the baselines on the first run's labels.
    config : str
        The settings of the first run.
    """

    title: str
    ranking: Ranking
    runs: int
    failures: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    config: str = ""


def write_sweep_page(content: SweepPage, path: Path) -> None:
    """Draw and write the page, whole or not at all."""
    write_file(path, render_sweep_page(content).encode())


def render_sweep_page(content: SweepPage) -> str:
    """The HTML text."""
    ranking = content.ranking
    settings = by_setting(ranking)
    done = len(ranking.runs)
    items = ranking.runs[0].measured.where
    summary = f"{done} of {content.runs} runs, {len(settings)} settings, evaluated on the {items} data."
    return fill(
        "sweep.html.jinja",
        title=content.title,
        summary=summary,
        ranking=ranking,
        first=ranking.runs[0],
        summary_lines=ranking_summary(ranking),
        sections=[drawn(section) for section in _sections(content, settings)],
        beside=content.beside,
        config=content.config,
    )


def ranking_summary(ranking: Ranking) -> list[str]:
    """Which run is first by which number, and how far to trust that."""
    first = ranking.runs[0]
    if not ranking.deciding:
        return [f"{first.member.title} is the only run, so there is no ranking."]
    numbers = ", ".join(f"{column.title} {column.text(column.values[0])}" for column in ranking.deciding)
    lines = [f"First: {first.member.title} ({numbers})."]
    labels = any(column.needs_labels for column in ranking.deciding)
    return (
        [*lines, _CHOSEN_BY_LABELS]
        if labels
        else [*lines, "Chosen without labels, by the agreement of restarts."]
    )


def first_baselines(first: Finished, data_dir: Path | None = None) -> dict[str, str]:
    """The scores of a linear model on the first run's labels, by factor; none without labeled test data."""
    if not first.measured.errors:
        return {}
    trained = open_run(first.folder, data_dir)
    assert trained.test is not None
    comparisons = compare(trained.model, trained.train, trained.test)
    return {one.factor: _baselines(one) for one in comparisons if one.of == "held-out"}


def _baselines(comparison: Comparison) -> str:
    """The scores of a linear model on the same labels and of a constant prediction, in words."""
    text, total = comparison.measure.text, comparison.measure.total
    constant = "the most frequent class" if comparison.measure.share else "the mean"
    return (
        f"A linear model on {same_labels(comparison)}: {text(total(comparison.linear))}. "
        f"Always {constant}: {text(total(comparison.constant))}."
    )


def by_setting(ranking: Ranking) -> dict[str, list[int]]:
    """The places in the ranking of each setting's runs, the best setting over its seeds first.

    The best setting has the best mean of the number that decides, or of several numbers the best mean place.
    """
    found: dict[str, list[int]] = {}
    for place, run in enumerate(ranking.runs):
        found.setdefault(point_text(run.member.point), []).append(place)

    def order(places: list[int]) -> float:
        if len(ranking.deciding) != 1:
            return mean(places)
        column = ranking.deciding[0]
        values = [value for place in places if (value := column.values[place]) is not None]
        return inf if not values else mean(values) if column.lower_is_better else -mean(values)

    return dict(sorted(found.items(), key=lambda pair: order(pair[1])))


def _sections(content: SweepPage, settings: Mapping[str, list[int]]) -> list[Section]:
    ranking = content.ranking
    found = _numbers(ranking, settings) if ranking.columns else []
    found.append(Section("Ranking", _RANKING, table=_ranked(ranking), wide=True))
    if content.failures:
        rows = tuple(content.failures.items())
        caption = "The same command tries them again."
        found.append(Section("Failed", caption, table=TextTable(("run", "why"), rows), wide=True))
    return found


def _numbers(ranking: Ranking, settings: Mapping[str, list[int]]) -> list[Section]:
    """The effect of the settings, the variation over seeds, and the gain of the choice."""
    titles = (column.title for column in ranking.columns)
    gains = tuple(tuple(row.values()) for row in what_choosing_gains(ranking))
    return [
        Section(
            "Settings",
            "Mean ± standard deviation over seeds, the best setting first.",
            table=TextTable(("setting", "seeds", *titles), _setting_rows(ranking, settings)),
            wide=True,
        ),
        Section(
            "Every run",
            "A dot is one seed, a tick the median. A difference between settings means something if it is larger than "
            "the spread of the dots on a line.",
            figure=seeds_by_setting(list(settings), _panels(ranking, settings)),
            wide=True,
        ),
        Section(
            "Gain of the choice",
            "The first run, beside a random run (the mean of all) and the best run by each number.",
            table=TextTable(("number", "the first run", "at random", "the best"), gains),
            wide=True,
        ),
    ]


_RANKING = (
    "Every run, best first; each is a run folder for unknot report, predict and sample. UDR and ModelCentrality "
    "measure the agreement of a run with the other seeds of its setting, without labels."
)


def _setting_rows(ranking: Ranking, settings: Mapping[str, list[int]]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (text, str(len(places)), *(_over_seeds(column, places) for column in ranking.columns))
        for text, places in settings.items()
    )


def _over_seeds(column: Column, places: Sequence[int]) -> str:
    values = [value for place in places if (value := column.values[place]) is not None]
    if not values:
        return "-"
    spread = f" ± {column.text(stdev(values))}" if len(values) > 1 else ""
    return column.text(mean(values)) + spread


def _panels(ranking: Ranking, settings: Mapping[str, list[int]]) -> dict[str, list[list[float]]]:
    """By the title of a number the values of every setting's seeds; shares in per cent."""
    panels = {}
    for column in ranking.columns:
        share = bool(column.measure) and MEASURES[column.measure].share
        scale, unit = (100.0, " (%)") if share else (1.0, "")
        panels[f"{column.title}{unit}"] = [
            [scale * value for place in places if (value := column.values[place]) is not None]
            for places in settings.values()
        ]
    return panels


def _ranked(ranking: Ranking) -> TextTable:
    keys = list(ranking.runs[0].member.point)
    names = short_names(keys)
    rows: list[tuple[str, ...]] = []
    for place, run in enumerate(ranking.runs):
        point: Mapping[str, Any] = run.member.point
        numbers = (column.text(column.values[place]) for column in ranking.columns)
        settings = (str(point[key]) for key in keys)
        seconds = f"{run.measured.seconds:.0f}"
        rows.append((str(place + 1), *settings, str(run.member.seed), *numbers, seconds, run.folder.name))
    titles = (column.title for column in ranking.columns)
    return TextTable(
        ("place", *(names[key] for key in keys), "seed", *titles, "seconds", "folder"), tuple(rows)
    )
