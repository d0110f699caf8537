"""`unknot check-estimators`: the conformance suite of the inference marginal as a table."""

from __future__ import annotations

import typer


def command() -> None:
    """Every estimator of q(z) against loops, exact mixtures and closed forms; ends with code 1 if one is off.

    Example: `unknot check-estimators`
    """
    from rich.console import Console
    from rich.table import Table

    from unknot.objectives.conformance import conformance

    rows = conformance()
    table = Table(box=None, pad_edge=False)
    for column in ("check", "estimator", "N", "B", "measured", "± s.e.", "s.d.", "expected", ""):
        table.add_column(
            column, justify="left" if column in ("check", "estimator", "expected", "") else "right"
        )
    for row in rows:
        numbers = (f"{row.measured:.2g}", f"{row.error:.1g}", f"{row.spread:.2g}")
        verdict = "ok" if row.ok else "[red]OFF[/red]"
        table.add_row(row.what, row.estimator, str(row.N), str(row.B), *numbers, row.expected, verdict)
    console = Console()
    console.print(table)
    failed = sum(not row.ok for row in rows)
    console.print(f"{len(rows) - failed} of {len(rows)} as expected", highlight=False)
    if failed:
        raise typer.Exit(1)
