"""Tables of one result in Markdown, at most eight columns wide: our rows, then published numbers and goals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.ledger.experiment import Experiment, Measure
from experiments.ledger.jobs import job_key
from experiments.ledger.provenance import marks

NOTHING, NOT_RUN = "–", "not run"
WIDEST = 8


def result_tables(one: Experiment, content: Mapping[str, Any], code: str | None = None) -> list[str]:
    """Return the lines of all tables: one for each measure, or, without columns, measures as columns.

    ``code`` is the digest of the present code: rows of other code are marked.
    """
    cells = Cells(one, content, code)
    if cells.columns == [""]:
        return _measures_as_columns(cells)
    lines: list[str] = []
    for i, measure in enumerate(one.measures):
        ours = {row: [cells.ours(row, column, measure) for column in cells.columns] for row in cells.rows}
        if i > 0:  # only rows with this measure
            ours = {row: line for row, line in ours.items() if set(line) - {NOTHING, NOT_RUN}}
        if ours:
            theirs = {
                y.title: [cells.theirs(y.title, column, measure) for column in cells.columns]
                for y in one.yardsticks_of(measure)
            }
            lines += _table(cells, [measure], measure.heading, cells.columns, ours, theirs, with_cost=i == 0)
    return lines


def _measures_as_columns(cells: Cells) -> list[str]:
    lines: list[str] = []
    parts = list(_chunks(cells.one.measures, WIDEST - 3))
    for i, measures in enumerate(parts):
        ours = {row: [cells.ours(row, "", m) for m in measures] for row in cells.rows}
        if i > 0:
            ours = {row: line for row, line in ours.items() if set(line) - {NOTHING, NOT_RUN}}
        theirs = {
            y.title: [cells.theirs(y.title, "", m) for m in measures]
            for m in measures
            for y in cells.one.yardsticks_of(m)
        }
        lines += _table(cells, measures, "", [m.heading for m in measures], ours, theirs, with_cost=i == 0)
    return lines


class Cells:
    """The text of the cells of a result."""

    def __init__(self, one: Experiment, content: Mapping[str, Any], code: str | None = None) -> None:
        self.one, self.code = one, code
        self.found = {_place(row["case"]): row for row in content["summary"]}
        cases = one.cases(content["tier"])
        self.places = [_place(case) for case in cases]
        self.rows = list(dict.fromkeys(row for row, _ in self.places))
        self.columns = list(dict.fromkeys(column for _, column in self.places))
        self._keys = {_place(case): job_key(case, 0) for case in cases}
        self._runs: dict[str, list[Mapping[str, Any]]] = {}
        for run in content.get("runs", []):
            self._runs.setdefault(job_key(run["case"], 0), []).append(run)

    def ours(self, row: str, column: str, measure: Measure) -> str:
        """Return mean and standard deviation over seeds, and whether the goal of the row is missed."""
        if (row, column) not in self.found:
            return NOT_RUN if (row, column) in self.places else NOTHING
        number = self.found[row, column]["numbers"].get(measure.key)
        if number is None:
            return NOTHING
        text = seeds_text(number, measure)
        typical = measure.typical(number["values"])
        return text if reaches(self.one, row, column, measure, typical) is not False else f"{text} (miss)"

    def theirs(self, title: str, column: str, measure: Measure) -> str:
        """Return the number of a yardstick."""
        for yardstick in self.one.yardsticks_of(measure):
            found = yardstick.value(column)
            if yardstick.title == title and found is not None:
                return number_text(*found, measure)
        return NOTHING

    def judged_by(self, row: str, measures: Sequence[Measure]) -> str:
        """Return the titles of the yardsticks of a row."""
        found = [self.one.yardstick(row, measure) for measure in measures]
        return ", ".join(dict.fromkeys(y.title for y in found if y is not None))

    def runs(self, row: str, column: str) -> list[Mapping[str, Any]]:
        """Return the runs of a cell."""
        return self._runs.get(self._keys.get((row, column), ""), [])

    def label(self, row: str) -> str:
        """Return the name of a row with the marks of its runs."""
        runs = [run for column in self.columns for run in self.runs(row, column)]
        found = marks(runs, self.code)
        return f"{row} {found}" if found else row

    def cost(self, row: str) -> tuple[str, str]:
        """Return the number of seeds and CPU minutes per seed of a row."""
        rows = [found for (name, _), found in self.found.items() if name == row]
        if not rows:
            return "", ""
        seeds = sorted({found["seeds"] for found in rows})
        minutes = [found["cpu_seconds"] / 60 for found in rows]
        return "–".join(
            str(n) for n in dict.fromkeys((seeds[0], seeds[-1]))
        ), f"{sum(minutes) / len(minutes):.1f}"


def reaches(one: Experiment, row: str, column: str, measure: Measure, ours: float) -> bool | None:
    """Return whether a number is at least as good as the yardstick of its row; None without one."""
    yardstick = one.yardstick(row, measure)
    asked = None if yardstick is None else yardstick.value(column)
    if asked is None:
        return None
    return measure.as_good(ours, asked[0])


def seeds_text(number: Mapping[str, Any], measure: Measure) -> str:
    """Return a number over seeds: mean ± sd, or median and worst."""
    if measure.over_seeds == "mean" or len(number["values"]) == 1:
        return number_text(number["mean"], number["sd"], measure)
    worst = number_text(measure.worst(number["values"]), None, measure)
    return f"{number_text(measure.typical(number['values']), None, measure)}, worst {worst}"


def number_text(value: float, spread: float | None, measure: Measure) -> str:
    """Return the text of a number."""
    text = f"{value:.{measure.decimals}f}"
    return text if spread is None else f"{text} ± {spread:.{measure.decimals}f}"


def _table(
    cells: Cells,
    measures: Sequence[Measure],
    corner: str,
    columns: Sequence[str],
    ours: Mapping[str, Sequence[str]],
    theirs: Mapping[str, Sequence[str]],
    with_cost: bool,
) -> list[str]:
    """Return one table, or several where there are too many columns; seeds and cost are shown where they fit."""
    lines: list[str] = []
    for first in range(0, len(columns), WIDEST - 1):
        part = slice(first, first + WIDEST - 1)
        room = WIDEST - 1 - len(columns[part])
        judges = {row: cells.judged_by(row, measures) for row in ours}
        extra = ["seeds", "CPU minutes per seed"][:room] if with_cost and first == 0 else []
        judged = any(judges.values()) and len(extra) < room
        head = [corner, *columns[part], *extra, *(["compared with"] if judged else [])]
        shown = [
            [
                cells.label(row),
                *texts[part],
                *cells.cost(row)[: len(extra)],
                *([judges[row]] if judged else []),
            ]
            for row, texts in ours.items()
        ]
        blank = [""] * (len(head) - 1 - len(columns[part]))
        shown += [[title, *texts[part], *blank] for title, texts in theirs.items()]
        lines += table_lines(head, shown)
    return lines


def table_lines(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """Return a table in Markdown, and an empty line."""
    return [_line(head), "|" + "---|" * len(head), *(_line(line) for line in lines), ""]


def _line(cells: Sequence[str]) -> str:
    """Return a row of a table, with escaped bars."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _chunks(measures: Sequence[Measure], size: int) -> Iterable[Sequence[Measure]]:
    return (measures[i : i + size] for i in range(0, len(measures), size))


def _place(case: Mapping[str, Any]) -> tuple[str, str]:
    return str(case["row"]), str(case.get("column", ""))
