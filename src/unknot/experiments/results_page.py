"""docs/results.md: all results of the ledger as tables, ours beside the papers'."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unknot.errors import SpecError
from unknot.experiments.experiment import Experiment, Published
from unknot.experiments.ledger import read_result

_HEAD = """# Results

Made by `unknot reproduce`; no number here is typed by hand. Each table says its tier, seeds, revision and time.
Published numbers are tagged [P] (printed in the paper) or [D] (digitised from a figure). A result that does not
reach the published one is marked as a miss.
"""
_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"


def results_page(experiments: Iterable[Experiment], folder: Path) -> str:
    """The page's text from the JSON files in a folder."""
    parts = [_HEAD]
    for one in experiments:
        content = read_result(folder, one.name)
        parts.append(_section(one, content))
    return "\n".join(parts)


def results_summary(experiments: Iterable[Experiment], folder: Path) -> str:
    """A short table of the results that there are, ours beside the first published one."""
    lines = ["| | ours | published | seeds |", "|---|---|---|---|"]
    for one in experiments:
        for row in (read_result(folder, one.name) or {"summary": []})["summary"]:
            name, number = row["case"]["row"], row["numbers"][one.measure]
            beside = "; ".join(f"{p.source} {_number(p.value, p.spread)}" for p in _published(one, name))
            ours = f"**{_number(number['mean'], number['sd'])}** {one.unit}"
            lines.append(f"| {one.place}: {one.measure} | {ours} | {beside} | {row['seeds']} |")
    return "\n".join(lines)


def with_summary(text: str, summary: str) -> str:
    """A page with what stands between its two result marks replaced."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise SpecError(f"the page has no place for results: put {_BEGIN} and {_END} where the table goes.")
    return f"{before}{_BEGIN}\n{summary}\n{_END}{after}"


def _section(one: Experiment, content: dict[str, Any] | None) -> str:
    lines = [f"## {one.name}", "", f"{one.about} {one.place}.", ""]
    if content is None:
        return "\n".join([*lines, f"Not run yet: `unknot reproduce {one.name}`.", ""])
    lines += ["| | " + one.measure + f" ({one.unit}) | seeds | minutes a seed | |", "|---|---|---|---|---|"]
    for row in content["summary"]:
        name = row["case"]["row"]
        number = row["numbers"][one.measure]
        lines.append(
            f"| {name} | **{_number(number['mean'], number['sd'])}** | {row['seeds']} | {row['seconds'] / 60:.1f} "
            f"| {_verdict(one, name, number['mean'])} |"
        )
        lines += [
            f"| {p.source} [{p.tag}] | {_number(p.value, p.spread)} | | | |" for p in _published(one, name)
        ]
    revisions = sorted({run["revision"] for run in content["runs"]})
    lines += ["", f"`unknot reproduce {one.name} --tier {content['tier']} --seeds {content['seeds']}`, revision "
              f"{', '.join(revisions)}. {one.notes}", ""]  # fmt: skip
    return "\n".join(lines)


def _published(one: Experiment, row: str) -> list[Published]:
    return list(one.published.get(row, ()))


def _verdict(one: Experiment, row: str, ours: float) -> str:
    published = _published(one, row)
    if not published:
        return ""
    first = published[0]
    reached = ours <= first.value if one.better == "lower" else ours >= first.value
    return f"reaches {first.source}" if reached else f"**misses {first.source}**"


def _number(value: float, spread: float | None) -> str:
    return f"{value:.2f}" if spread is None else f"{value:.2f} ± {spread:.2f}"
