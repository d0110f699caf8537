"""`unknot reproduce`: make a paper's result, and write it to the ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unknot.cli.ray_option import RAY_HELP
from unknot.errors import SpecError

if TYPE_CHECKING:
    from experiments.ledger.experiment import Experiment


def command(
    name: Annotated[str | None, typer.Argument(help="An experiment; --list shows them.")] = None,
    tier: Annotated[str, typer.Option("--tier", help="smoke, quick or paper.")] = "quick",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.")] = 3,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only the cases of this row or column, or a part of it; repeatable."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also what is done already.")] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; one a core by default.")
    ] = None,
    ray: Annotated[str | None, typer.Option("--ray", metavar="[ADDRESS]", help=RAY_HELP)] = None,
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

    Interrupted, it goes on where it was when called again; what is done with the same settings is not done twice.

    **Examples**

        unknot reproduce --list

        unknot reproduce mnist-demo --seeds 5 --page docs/results.md --summary README.md

        unknot reproduce mnist-supervision-rate --only "M = 100"

        unknot reproduce mnist-hfvae --seeds 5 --ray 10.0.0.1:6379
    """
    from unknot.files import write_file
    from experiments.ledger.experiment import TIERS
    from experiments.ledger.ledger import reproduce
    from experiments.ledger.registry import EXPERIMENTS, experiment
    from experiments.ledger.results_page import results_page, results_summary, with_summary

    if tier not in TIERS:
        raise SpecError(f"--tier is one of {', '.join(TIERS)}, not '{tier}'.")
    if list_them:
        _list(list(EXPERIMENTS.values()), results)
        return
    if name is not None:
        found = experiment(name)
        count = workers or os.cpu_count() or 1
        reproduce(found, tier, seeds, results, count, typer.echo, only or (), again, ray)
    elif page is None and summary is None:
        raise SpecError(
            "say which experiment (`unknot reproduce --list` shows them), or --page to write the page."
        )
    if page is not None:
        figures = Path(os.path.relpath(results / "figures", page.parent)).as_posix()
        write_file(page, results_page(EXPERIMENTS.values(), results, figures).encode())
        typer.echo(f"Wrote {page}.")
    if summary is not None:
        renewed = with_summary(summary.read_text(), results_summary(EXPERIMENTS.values(), results))
        write_file(summary, renewed.encode())
        typer.echo(f"Renewed the results in {summary}.")
    if name is not None and page is None and tier != "smoke":
        text = results_page([experiment(name)], results, (results / "figures").as_posix())
        typer.echo(text[text.index(f"## {name}") :])


def _list(experiments: list[Experiment], results: Path) -> None:
    """Name, place, cost of every tier, and the first row of the last result."""
    from unknot.cli.show import show_table
    from experiments.ledger.ledger import read_result
    from experiments.ledger.result_tables import seeds_text
    from experiments.ledger.results_page import headline_rows

    rows = []
    for one in experiments:
        measure, shown = one.measures[0], []
        for row in headline_rows(one, read_result(results, one.name)):
            number = row["numbers"][measure.key]
            text = f"{seeds_text(number, measure)} {measure.unit}".strip()
            shown.append(f"{row['case'].get('column') or measure.title}: {text}")
        budgets = "\n".join(f"{tier}: {cost}" for tier, cost in one.budgets.items())
        rows.append((one.name, one.place, budgets, "\n".join(shown) or "not run yet"))
    show_table("Experiments", ("name", "place", "cost", "last result"), rows)
