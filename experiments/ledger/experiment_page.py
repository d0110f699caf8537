"""The page of one experiment: tables, one figure for each kind, notes, settings, and where the runs come from."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from experiments.ledger.experiment import Experiment, Measure, case_title, settings_of
from experiments.ledger.provenance import LEGEND, marks, provenance_lines
from experiments.ledger.result_tables import Cells, result_tables

LONGEST = 40  # rows of a table on a page; longer ones are in the CSV file only
_NO_RESULT = "Not run at this revision: `python -m experiments run {name} --seeds 3`.\n"


def experiment_page(
    one: Experiment,
    content: Mapping[str, Any] | None,
    notes: str = "",
    code: str | None = None,
    pictured: Collection[str] = (),
    figures: str = "../../results/figures",
) -> str:
    """Return the text of a page.

    ``code``: the digest of the present code. ``pictured``: rows whose pictures are shown here beside those of the
    first row that has them; the others are in the gallery.
    """
    parts = [f"# {one.name}\n\n{one.about} {one.place}.\n"]
    if content is None:
        return "\n".join([*parts, _NO_RESULT.format(name=one.name), notes])
    parts.append("\n".join(_tables(one, content, code)))
    shown, _ = split_pictures(one, content, pictured)
    parts += [_figure(one, f"{figures}/{one.name}/{name}", title, name) for name, title in shown]
    if notes:
        parts.append(f"## Notes\n\n{notes}")
    parts.append("\n".join(_settings(one, content, pictured)))
    parts.append("\n".join(_origin(one, content, code)))
    return "\n".join(parts)


def split_pictures(
    one: Experiment, content: Mapping[str, Any], pictured: Collection[str] = ()
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pictures of the page and those of the gallery: file names and titles.

    The page has those of the whole result and, of every kind of picture, the first one and those of ``pictured`` rows.
    """
    page = [(name, "") for name in content["plots"]]
    others: list[tuple[str, str]] = []
    kinds: set[str] = set()
    for run in content["runs"]:
        for name in run.get("figures", []):
            kind, entry = _kind(one, name), (name, case_title(run["case"]))
            wanted = kind not in kinds or run["case"]["row"] in pictured
            kinds.add(kind)
            (page if wanted else others).append(entry)
    return page, others


def gallery(
    experiments: Sequence[tuple[Experiment, Mapping[str, Any] | None]], pictured: Collection[str]
) -> str:
    """Return the page of all pictures that the other pages leave out, with each caption once."""
    lines = ["# Gallery\n", "Pictures of ablations and of further rows, by experiment. First seed.\n"]
    for one, content in experiments:
        left = [] if content is None else split_pictures(one, content, pictured)[1]
        if not left:
            continue
        lines.append(f"## [{one.name}]({one.name}.md)\n")
        for kind in dict.fromkeys(_kind(one, name) for name, _ in left):
            lines.append(f"*{one.captions.get(kind, kind)}*\n")
            for name, title in left:
                if _kind(one, name) == kind:
                    lines.append(f"{title}:\n\n![{title}](../../results/figures/{one.name}/{name})\n")
    return "\n".join(lines)


def cells_csv(one: Experiment, content: Mapping[str, Any], code: str | None = None) -> str:
    """Return all numbers of a result: a line for each cell and measure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("row", "column", "measure", "unit", "mean", "sd", "seeds", "revision", "marks"))
    cells = Cells(one, content, code)
    for (row, column), found in cells.found.items():
        runs = cells.runs(row, column)
        revision = runs[0].get("revision", "") if runs else ""
        for key, number in found["numbers"].items():
            unit = next((m.unit for m in one.measures if m.key == key), "")
            spread = "" if number["sd"] is None else f"{number['sd']:.6g}"
            place = (row, column, key, unit, f"{number['mean']:.6g}", spread)
            writer.writerow((*place, len(number["values"]), revision, marks(runs, code)))
    return text.getvalue()


def _tables(one: Experiment, content: Mapping[str, Any], code: str | None) -> list[str]:
    lines = one.overview(content) if one.overview is not None else []
    if len({case["row"] for case in one.cases(content["tier"])}) <= LONGEST:
        lines = [*lines, *result_tables(one, content, code)]
    what = "Numbers are means over seeds ± standard deviations"
    if any(measure.over_seeds == "median" for measure in one.measures):
        what += f", of {_medians(one.measures)} medians and the worst seed"
    found = marks(content["runs"], code)
    return [
        *lines,
        f"{what}. [P]: printed in a paper, [D]: digitized, [goal]: our goal. {LEGEND if found else ''}".rstrip(),
        "",
        f"Every cell: [{one.name}.csv]({one.name}.csv).",
        "",
    ]


def _medians(measures: Sequence[Measure]) -> str:
    return " and ".join(measure.title for measure in measures if measure.over_seeds == "median")


def _kind(one: Experiment, name: str) -> str:
    """Return the name of the caption of a picture; its file name may have that of the case as a prefix."""
    stem = Path(name).stem
    known = [kind for kind in one.captions if stem == kind or stem.endswith(f"-{kind}")]
    return max(known, key=len) if known else stem


def _figure(one: Experiment, link: str, title: str, name: str) -> str:
    kind = _kind(one, name)
    caption = one.captions.get(kind, kind.replace("-", " ").replace("_", " "))
    words = f"{title}. {caption}" if title else caption
    return f"![{title or kind}]({link})\n\n*{words}*\n"


def _settings(one: Experiment, content: Mapping[str, Any], pictured: Collection[str]) -> list[str]:
    """Return the settings of the first row and of the rows of a paper's own model."""
    chosen: dict[str, Mapping[str, Any]] = {}
    for case in one.cases(content["tier"]):
        if not chosen or case["row"] in pictured:
            chosen.setdefault(str(case["row"]), case)
    lines = [f"Settings of all rows are in [results/{one.name}.json](../../results/{one.name}.json).", ""]
    if len({case["row"] for case in one.cases(content["tier"])}) > LONGEST:
        return ["## Settings\n", *lines]
    for row, case in chosen.items():
        text = yaml.safe_dump(
            settings_of(case), sort_keys=False, allow_unicode=True, width=110, default_flow_style=None
        )
        lines += [f"<details><summary>{row}</summary>", "", "```yaml", text.rstrip(), "```", "</details>", ""]
    return ["## Settings\n", *lines]


def _origin(one: Experiment, content: Mapping[str, Any], code: str | None) -> list[str]:
    missing = [case_title(case) for case in content["not_run"]]
    lines = [
        "## Runs",
        "",
        f"`python -m experiments run {one.name} --seeds {max(content['seeds'], 1)}`.",
        "",
        *provenance_lines(content, code),
        "",
    ]
    waiting = content.get("waiting", [])
    if waiting:
        lines += [
            f"{len(waiting)} runs of newer code wait until they are as many as those that are shown.",
            "",
        ]
    if missing and len(missing) <= LONGEST:
        lines += ["Not run at this revision:", "", *(f"- {title}" for title in missing), ""]
    return lines
