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
    """Print the encoder's scores."""
    show_table(
        f"Encoder on the {where}",
        ("factor", "measure", "value", "items"),
        [(s.factor, s.measure, s.text, str(s.items)) for s in found],
    )
