"""`unknot reproduce`: make a paper's result, and write it to the ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from unknot.errors import SpecError


def command(
    name: Annotated[str | None, typer.Argument(help="An experiment; --list shows them.")] = None,
    tier: Annotated[str, typer.Option("--tier", help="smoke, quick or paper.")] = "quick",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.")] = 3,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; one a core by default.")
    ] = None,
    results: Annotated[Path, typer.Option("--results", help="Folder of the ledger.")] = Path("results"),
    page: Annotated[Path | None, typer.Option("--page", help="Also write this page of all results.")] = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", help="Also renew the table of results in this page.")
    ] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the experiments with their last results.")
    ] = False,
) -> None:
    """Make a paper's result with several seeds; write results/NAME.json and the table beside the paper's numbers.

    Interrupted, it goes on where it was when called again.

    **Examples**

        unknot reproduce --list

        unknot reproduce mnist-demo --seeds 5 --page docs/results.md --summary README.md
    """
    from unknot.cli.show import show_table
    from unknot.experiments.experiment import TIERS
    from unknot.experiments.ledger import read_result, reproduce
    from unknot.experiments.registry import EXPERIMENTS, experiment
    from unknot.experiments.results_page import results_page, results_summary, with_summary
    from unknot.train.atomic import write_file

    if tier not in TIERS:
        raise SpecError(f"--tier is one of {', '.join(TIERS)}, not '{tier}'.")
    if list_them:
        rows = []
        for one in EXPERIMENTS.values():
            last = read_result(results, one.name)
            shown = "; ".join(
                f"{row['case']['row']}: {row['numbers'][one.measure]['mean']:.2f} {one.unit}"
                for row in (last or {"summary": []})["summary"]
            )
            rows.append((one.name, one.place, one.budgets.get(tier, ""), shown or "not run yet"))
        show_table("Experiments", ("name", "place", f"{tier} tier", "last result"), rows)
        return
    if name is not None:
        found = experiment(name)
        reproduce(found, tier, seeds, results, workers or os.cpu_count() or 1, typer.echo)
    elif page is None and summary is None:
        raise SpecError(
            "say which experiment (`unknot reproduce --list` shows them), or --page to write the page."
        )
    text = results_page(EXPERIMENTS.values(), results)
    if page is not None:
        write_file(page, text.encode())
        typer.echo(f"Wrote {page}.")
    if summary is not None:
        renewed = with_summary(summary.read_text(), results_summary(EXPERIMENTS.values(), results))
        write_file(summary, renewed.encode())
        typer.echo(f"Renewed the results in {summary}.")
    if name is not None and page is None:
        typer.echo(text[text.index(f"## {name}") :].split("\n## ")[0])
