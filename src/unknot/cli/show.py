"""Tables that several commands print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unknot.workflow.evaluation import Score


def show_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; plain enough for a file, pretty in a terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def show_scores(found: Iterable[Score], where: str) -> None:
    """Print the recogniser's scores."""
    show_table(
        f"Recogniser on the {where}",
        ("factor", "measure", "value", "items"),
        [(s.factor, s.measure, score_text(s), str(s.items)) for s in found],
    )


def score_text(score: Score) -> str:
    """A score as people read it: error rates in per cent, with their standard error."""
    if score.measure == "error":
        return f"{100 * score.value:.2f} ± {100 * (score.standard_error or 0):.2f} %"
    return f"{score.value:.4g}"
