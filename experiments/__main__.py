"""``python -m experiments list|run|page``: run experiments, and write their results to the ledger."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from experiments.ledger.experiment import TIERS
from experiments.ledger.jobs import code_of, revision_of
from experiments.ledger.ledger import read_result, reproduce
from experiments.ledger.provenance import write_present_code
from experiments.ledger.registry import EXPERIMENTS, experiment
from experiments.ledger.result_tables import result_tables, seeds_text
from experiments.ledger.results_page import (
    headline_rows,
    readme_lines,
    readme_table,
    results_pages,
    with_summary,
)
from experiments.ledger.source_closure import closure_digest
from experiments.papers import ITEMS, PAPERS, README_ITEMS
from unknot.cli import RAY_HELP, run_app
from unknot.cli.shared import show_table
from unknot.errors import SpecError
from unknot.files import write_file

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run experiments (`run`) and write the page of their results (`page`).",
)
Results = Annotated[Path, typer.Option("--results", help="Folder of the ledger.")]


@app.command("list")
def list_experiments(results: Results = Path("results")) -> None:
    """List the experiments: place, cost of each tier, and the first row of the last result."""
    rows = []
    for one in EXPERIMENTS.values():
        measure, shown = one.measures[0], []
        for row in headline_rows(one, read_result(results, one.name)):
            number = row["numbers"][measure.key]
            text = f"{seeds_text(number, measure)} {measure.unit}".strip()
            shown.append(f"{row['case'].get('column') or measure.title}: {text}")
        budgets = "\n".join(f"{tier}: {cost}" for tier, cost in one.budgets.items())
        rows.append((one.name, one.place, budgets, "\n".join(shown) or "not run yet"))
    show_table("Experiments", ("name", "place", "cost", "last result"), rows)


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="An experiment; `list` shows them.")],
    tier: Annotated[str, typer.Option("--tier", help="smoke or quick.")] = "quick",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.")] = 3,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only the cases of this row or column, or a part of it; repeatable."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also what is done already.")] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; by default one per core.")
    ] = None,
    ray: Annotated[str | None, typer.Option("--ray", metavar="[ADDRESS]", help=RAY_HELP)] = None,
    allow_dirty: Annotated[
        bool,
        typer.Option("--allow-dirty", help="Run uncommitted code; results go to a folder `uncommitted`."),
    ] = False,
    results: Results = Path("results"),
) -> None:
    """Run an experiment with several seeds; write results/NAME.json and print its tables.

    An interrupted run continues when it is called again: what is done with the same settings and the same code is not
    done twice.

    **Examples**

        python -m experiments run mnist-demo --seeds 5

        python -m experiments run mnist-supervision-rate --only "M = 100"

        python -m experiments run mnist-hfvae --seeds 5 --ray 10.0.0.1:6379
    """
    if tier not in TIERS:
        raise SpecError(f"--tier is one of {', '.join(TIERS)}, not '{tier}'.")
    found = experiment(name)
    if tier != "smoke" and revision_of(code_of(found)).endswith("-dirty"):
        if not allow_dirty:
            raise SpecError(
                f"{name}: code that it depends on is not committed; commit it first, or choose --allow-dirty, which "
                "writes to another folder."
            )
        results = results / "uncommitted"
    jobs = workers or os.cpu_count() or 1
    content = reproduce(found, tier, seeds, results, jobs, typer.echo, only or (), again, ray)
    if tier != "smoke":
        typer.echo("\n".join(result_tables(found, content, closure_digest(code_of(found)))))


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="The folder of the pages.")] = Path("docs/results"),
    summary: Annotated[
        Path, typer.Option("--summary", help="The page whose table of results is renewed.")
    ] = Path("README.md"),
    results: Results = Path("results"),
) -> None:
    """Write the scoreboard and the pages of all experiments, and renew the table of results in the README."""
    code = write_present_code(EXPERIMENTS.values(), results)
    pages = results_pages(EXPERIMENTS.values(), ITEMS, PAPERS, results, code)
    for name, text in pages.items():
        write_file(folder / name, text.encode())
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    write_file(summary, with_summary(summary.read_text(), readme_text(results, code)).encode())
    typer.echo(f"Wrote {len(pages)} files in {folder} and the table of results in {summary}.")


def readme_text(results: Path, code: Mapping[str, str]) -> str:
    """Return the results of the README."""
    found = list(EXPERIMENTS.values())
    lines = readme_lines(found, results)
    return "\n".join(
        [readme_table(found, ITEMS, PAPERS, README_ITEMS, results, code), *([""] if lines else []), *lines]
    )


def main(arguments: list[str]) -> None:
    """Run the command line."""
    run_app(arguments, lambda words: app, "python -m experiments")


if __name__ == "__main__":
    main(sys.argv[1:])
