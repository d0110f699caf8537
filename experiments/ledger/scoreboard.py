"""The scoreboard: which numbers of the papers are reproduced, judged by numbers and their intervals.

An :class:`Item` is a number of a paper. It names the row of an experiment with the paper's own model, our best row and
the baseline that a user would take. A published number p with printed spread s is

- *reproduced* by the paper's own model if our mean is at least as good as the worse end of p ± s;
- obtained *better by other means* if only our best row is so, and its interval excludes p;
- *not reproduced* otherwise, if the paper's own model was run;
- *not attempted* otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from experiments.ledger.experiment import Experiment, Measure
from experiments.ledger.intervals import Number, clearly_different
from experiments.ledger.provenance import marks
from experiments.ledger.result_tables import NOTHING, Cells, table_lines

Verdict = Literal["reproduced", "better by other means", "not reproduced", "not attempted", "shown"]
Content = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """A number, curve or picture of a paper, and where our numbers for it are.

    Attributes
    ----------
    paper, name
        The paper's short name, and what the number is.
    experiment, column, measure
        Where our numbers are; the measure is by default the first.
    published
        Number and printed spread (None if there is none), or None for a picture. ``tag`` is P (printed) or D
        (digitized).
    curve
        Instead of ``published`` and ``column``: the numbers of several columns.
    model, best, baseline
        Rows; empty if there is none. A baseline may be another measure of a row, "row/measure", and ``beside`` is a
        published baseline instead.
    items
        Number of test items of a share in per cent, for intervals of a single seed.
    shown_as
        The text of the published number, where it is a bound.
    why
        Why there is no row with the paper's own model, or a remark on the verdict: a sentence without a full stop.
    """

    paper: str
    name: str
    experiment: str
    published: tuple[float, float | None] | None = None
    column: str = ""
    model: str = ""
    best: str = ""
    baseline: str = ""
    beside: str = ""
    measure: str = ""
    curve: Mapping[str, float] | None = None
    spread: float = 0.0
    items: int = 0
    tag: str = "P"
    shown_as: str = ""
    why: str = ""


@dataclass(frozen=True)
class Score:
    """An item with its numbers, verdict and texts of the table."""

    item: Item
    verdict: Verdict
    paper: str
    model: str
    best: str
    baseline: str
    seeds: str
    own: str = ""  # what the paper's own model alone reaches
    not_run: str = ""  # the command that runs it
    one_seed: bool = False

    @property
    def verdict_text(self) -> str:
        """Return the verdict with its reason; a verdict that rests on one seed says so."""
        if self.verdict == "not attempted":
            reason = f"run `{self.not_run}`" if self.not_run else self.item.why
            return f"not attempted: {reason}" if reason else "not attempted"
        if self.verdict == "shown":
            return "drawn, no number to compare"
        return f"{self.verdict}, one seed" if self.one_seed else self.verdict

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        link = f"[{self.item.experiment}]({self.item.experiment}.md)" if self.item.experiment else ""
        mine = (self.item.name, self.paper, self.model, self.best, self.baseline, self.seeds)
        return [*mine, self.verdict_text, link]


HEAD = ("item", "paper", "ours, the paper's model", "ours, best", "baseline", "seeds", "verdict", "page")


def score(item: Item, one: Experiment | None, content: Content | None, code: str | None = None) -> Score:
    """Judge an item by the result of its experiment, None if there is none."""
    if one is None or content is None:
        paper = _published(item)
        return Score(item, "not attempted", paper, NOTHING, NOTHING, item.beside or NOTHING, "")
    measure = next(m for m in one.measures if m.key == (item.measure or one.measures[0].key))
    cells = Cells(one, content, code)
    if item.curve is not None:
        return _curve(item, measure, cells)
    numbers = {
        name: _number(getattr(item, name), item, measure, cells) for name in ("model", "best", "baseline")
    }
    texts = {name: _text(number, measure) for name, number in numbers.items()}
    best, baseline = numbers["best"], numbers["baseline"]
    if best and baseline and clearly_different(best, baseline) and _better(best.mean, baseline.mean, measure):
        texts["best"] = f"**{texts['best']}**"
    if item.published is None:  # a picture: what its numbers mean is told on its page
        texts = {name: NOTHING if number is None else "drawn" for name, number in numbers.items()}
    labels = [_seeds(name, numbers[name], item, cells) for name in ("model", "best", "baseline")]
    model = numbers["model"]
    command = ""
    if item.model and model is None:
        command = f'python -m experiments run {one.name} --only "{item.model}" --seeds 3'
    found = judge(item, model, best, measure)
    judged = best if found == "better by other means" else model
    return Score(
        item,
        found,
        _published(item),
        texts["model"],
        texts["best"],
        item.beside or texts["baseline"],
        " / ".join(labels),
        "not run" if model is None else judge(item, model, None, measure),
        command,
        judged is not None and judged.seeds == 1,
    )


def judge(item: Item, model: Number | None, best: Number | None, measure: Measure) -> Verdict:
    """Return the verdict of an item with one published number, or a picture."""
    if item.published is None:
        return "shown" if model else "not attempted"
    published, spread = item.published
    if model is not None and measure.as_good(model.mean, published, spread or 0.0):
        return "reproduced"
    if best is not None and _better(best.mean, published, measure):
        interval = best.interval()
        if interval is not None and not interval[0] <= published <= interval[1]:
            return "better by other means"
    return "not attempted" if model is None else "not reproduced"


def _curve(item: Item, measure: Measure, cells: Cells) -> Score:
    """Judge each point of a curve; the curve is reproduced if every point is."""
    assert item.curve is not None
    right, run, seeds = 0, 0, set()
    for column, published in item.curve.items():
        number = _number(item.model, _at(item, column), measure, cells)
        if number is not None:
            run += 1
            seeds.add(number.seeds)
            right += measure.as_good(number.mean, published, item.spread)
    verdict: Verdict = "not attempted" if not run else "not reproduced"
    if right == len(item.curve):
        verdict = "reproduced"
    text = f"{right} of {run} points as good, {len(item.curve) - run} not run" if run else NOTHING
    low, high = min(item.curve.values()), max(item.curve.values())
    paper = f"{len(item.curve)} points, {low:g} to {high:g} [{item.tag}]"
    mark = cells.label(item.model).removeprefix(item.model)
    return Score(item, verdict, paper, text, NOTHING, NOTHING, "–".join(map(str, sorted({*seeds}))) + mark)


def _at(item: Item, column: str) -> Item:
    return replace(item, column=column)


def _better(ours: float, theirs: float, measure: Measure) -> bool:
    return ours != theirs and measure.better != "match" and measure.as_good(ours, theirs)


def _number(place: str, item: Item, measure: Measure, cells: Cells) -> Number | None:
    """Return the values of a row, or of another measure of it, "row/measure"."""
    row, _, key = place.partition("/")
    found = cells.found.get((row, item.column))
    number = None if found is None else found["numbers"].get(key or measure.key)
    return None if number is None else Number(number["values"], item.items)


def _text(number: Number | None, measure: Measure) -> str:
    """Return the mean (or median) with its interval."""
    if number is None:
        return NOTHING
    text = f"{measure.typical(list(number.values)):.{measure.decimals}f}"
    interval = number.interval()
    if interval is None:
        return text
    if measure.unit == "%":
        interval = max(interval[0], 0.0), min(interval[1], 100.0)
    low, high = (f"{end:.{measure.decimals}f}" for end in interval)
    return f"{text} [{low}, {high}]"


def _published(item: Item) -> str:
    if item.published is None:
        return "picture"
    if item.shown_as:
        return f"{item.shown_as} [{item.tag}]"
    value, spread = item.published
    text = f"{value:g}" if spread is None else f"{value:g} ± {spread:g}"
    return f"{text} [{item.tag}]"


def _seeds(name: str, number: Number | None, item: Item, cells: Cells) -> str:
    if number is None:
        return NOTHING
    row = getattr(item, name).partition("/")[0]
    return f"{number.seeds}{marks(cells.runs(row, item.column), cells.code)}"


def table(scores: Iterable[Score]) -> list[str]:
    """Return the table of one paper."""
    return table_lines(HEAD, [one.cells() for one in scores])


def counts(scores: Sequence[Score]) -> str:
    """Return how many items have each verdict.

    >>> counts([])
    'no item'
    """
    found: dict[str, int] = {}
    for one in scores:
        found[one.verdict] = found.get(one.verdict, 0) + 1
    order = ("reproduced", "better by other means", "not reproduced", "not attempted", "shown")
    names = {"shown": "drawn (no number)"}
    return ", ".join(f"{found[v]} {names.get(v, v)}" for v in order if v in found) or "no item"


def sentence(one: Score, unit: str) -> str:
    """Return a plain sentence on an item that is not reproduced by the paper's own model."""
    unit = f" {unit}" if unit and one.item.published is not None else ""
    if one.verdict == "not attempted" or (one.model == NOTHING):
        ours = "its own model was not run here"
    elif one.item.curve is not None:
        ours = f"its own model has {one.model} here"
    else:
        ours = f"its own model has {one.model}{unit} here"
    best = f"; our best row has {one.best.strip('*')}{unit}" if one.best != NOTHING else ""
    paper = (
        "" if one.item.published is None and one.item.curve is None else f"the paper has {one.paper}{unit}, "
    )
    why = f" {one.item.why[0].upper()}{one.item.why[1:]}." if one.item.why and not one.not_run else ""
    return f"- **{one.item.paper}, {one.item.name}** ({one.verdict}): {paper}{ours}{best}.{why}"
