"""docs/results.md: all results of the ledger as tables and figures, ours beside the papers'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.ledger.experiment import Experiment, Measure, Tier, case_title
from experiments.ledger.headlines import HEADLINES, Headline
from experiments.ledger.ledger import read_result, result_name
from experiments.ledger.result_tables import number_text, result_tables, seeds_text
from unknot.errors import SpecError

_HEAD = """# Results

Made by `python -m experiments run`; no number here is typed by hand. A number is the mean over seeds ± their standard
deviation. Lines with a tag stand beside ours: [P] printed in a paper, [D] digitized from a figure, [goal] what we set
out to reach. A row that is judged by one of them and does not reach it says **miss**. Settings, every seed, revisions
and times are in `results/`.
"""
_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"
_MOST_LINES = 10
_SHOWN: tuple[Tier, ...] = ("quick", "paper")


def results_page(experiments: Iterable[Experiment], folder: Path, figures: str = "../results/figures") -> str:
    """The page's text from the JSON files in a folder; ``figures`` is where the page finds pictures."""
    experiments = list(experiments)
    parts = [_HEAD, f"## In short\n\n{results_summary(experiments, folder)}\n"]
    for one in experiments:
        parts.append(f"## {one.name}\n\n{one.about} {one.place}.\n")
        found = [(tier, read_result(folder, one.name, tier)) for tier in _SHOWN]
        there = [(tier, content) for tier, content in found if content is not None]
        if not there:
            parts.append(f"Not run yet: `python -m experiments run {one.name}`.\n")
        for tier, content in there:
            if one.overview is not None:
                parts.append("\n".join(one.overview(content)))
            section = _section(one, content, f"{figures}/{result_name(one.name, tier)}", _notes(folder, one))
            parts.append(
                f"<details><summary>Tables and figures, {tier} tier</summary>\n\n{section}\n</details>\n"
            )
    return "\n".join(parts)


def results_summary(
    experiments: Iterable[Experiment], folder: Path, headlines: Sequence[Headline] = HEADLINES
) -> str:
    """At most ten lines for a newcomer: a number in plain words, what the simple thing gives, what is published.

    Published are the paper's own number, and the best one if that is another.
    """
    lines = ["| | ours | instead | published | seeds |", "|---|---|---|---|---|"]
    known = {one.name: one for one in experiments}
    for line in headlines:
        one = known.get(line.experiment)
        content = None if one is None else read_result(folder, one.name)
        if one is None or content is None:
            continue
        if one.short is not None:
            said = one.short(content)
            if said is not None:
                lines.append(
                    f"| {line.words} | **{said[0]}** | {said[1]}, {line.simple_words} |  | {said[2]} |"
                )
            continue
        measure, published = one.measures[0], _published(one, one.measures[0], line.column)
        for row in headline_rows(one, content):
            if str(row["case"].get("column", "")) == line.column:
                ours, instead = _cell(row, measure), _instead(line, content, measure)
                lines.append(f"| {line.words} | **{ours}** | {instead} | {published} | {row['seeds']} |")
    return "\n".join(lines[: 2 + _MOST_LINES])


def _instead(line: Headline, content: Mapping[str, Any], measure: Measure) -> str:
    """The number of the simple thing, if it has been run."""
    for row in content["summary"]:
        if (row["case"]["row"], row["case"].get("column", "")) == (line.simple, line.column):
            return f"{_cell(row, measure)}, {line.simple_words}"
    return ""


def _cell(row: Mapping[str, Any], measure: Measure) -> str:
    return f"{seeds_text(row['numbers'][measure.key], measure)} {measure.unit}".strip()


def _published(one: Experiment, measure: Measure, column: str) -> str:
    """The first published number, and the best one."""
    found = [(y.source, *v) for y in one.yardsticks_of(measure) if y.tag != "goal" and (v := y.value(column))]
    if not found:
        return ""
    best = (min if measure.better == "lower" else max)(found, key=lambda line: line[1])
    shown = dict.fromkeys((found[0], best))
    return "; ".join(f"{source} {number_text(value, spread, measure)}" for source, value, spread in shown)


def headline_rows(one: Experiment, content: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The first row of a result, where it has the first measure: one entry for each column."""
    if content is None:
        return []
    first = next(iter(one.cases(content["tier"])))["row"]
    rows = [row for row in content["summary"] if row["case"]["row"] == first]
    return [row for row in rows if one.measures[0].key in row["numbers"]]


def with_summary(text: str, summary: str) -> str:
    """A page with what stands between its two result marks replaced."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise SpecError(f"the page has no place for results: put {_BEGIN} and {_END} where the table goes.")
    return f"{before}{_BEGIN}\n{summary}\n{_END}{after}"


def _notes(folder: Path, one: Experiment) -> str:
    """The notes on an experiment, which stand beside its results."""
    path = folder / f"{one.name}.md"
    return path.read_text() if path.exists() else ""


def _section(one: Experiment, content: Mapping[str, Any], figures: str, notes: str) -> str:
    lines = result_tables(one, content)
    for name in content["plots"]:
        lines += _figure(one, f"{figures}/{name}", Path(name).stem, "")
    for run in content["runs"]:
        for name in run.get("figures", []):
            lines += _figure(one, f"{figures}/{name}", Path(name).stem, case_title(run["case"]))
    revisions = sorted({run["revision"] for run in content["runs"]})
    command = f"python -m experiments run {one.name} --tier {content['tier']} --seeds {content['seeds']}"
    return "\n".join([*lines, f"`{command}`, revision {', '.join(revisions)}.", "", notes])


def _figure(one: Experiment, link: str, stem: str, title: str) -> list[str]:
    """A picture with its caption; the picture of one of several cases carries the case's name before its own."""
    known = [name for name in one.captions if stem == name or stem.endswith(f"-{name}")]
    caption = one.captions[max(known, key=len)] if known else stem.replace("-", " ").replace("_", " ")
    alt = f"{title}: {caption}" if title and stem not in one.captions else caption
    return [f"![{alt}]({link})", "", f"*{alt}*", ""]
