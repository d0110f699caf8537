"""`unknot sweep`: train many settings and seeds, and rank them on one page."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unknot.cli import RAY_HELP
from unknot.errors import RunError

if TYPE_CHECKING:
    from unknot.workflow.sweep.ranking import Ranking
    from unknot.workflow.sweep.sweep import Sweep

_SHOWN = 10  # runs of the printed table


def command(
    spec: Annotated[
        Path, typer.Argument(help="A spec file (YAML), or your data alone, as for `unknot fit`.")
    ],
    data: Annotated[Path | None, typer.Argument(help="Your data, if the spec does not name it.")] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid", metavar="KEY=V1,V2,...", help="A setting and its values; several give all combinations."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Restarts of every setting.")] = 3,
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="COLUMN", help="A column of labels; repeatable.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of all runs.")
    ] = None,
    scores: Annotated[
        str,
        typer.Option(
            "--scores", help="Scores of `unknot metrics` against known factors, separated by commas."
        ),
    ] = "mig",
    rank_by: Annotated[
        str | None,
        typer.Option(
            "--rank-by", help="error, a score, udr or model_centrality; the last two need no labels."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder of the sweep; by default sweeps/NAME.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; by default one per core.")
    ] = None,
    ray: Annotated[str | None, typer.Option("--ray", metavar="[ADDRESS]", help=RAY_HELP)] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="The folder of the data sets.")] = None,
) -> None:
    """Train every combination of settings with several seeds, rank the runs, and write one page that compares them.

    Each run is a run folder, for `unknot report` and `unknot predict`. Finished runs are kept: after an interrupt, or
    with more seeds or values, the same command trains only what is missing; a run that was stopped continues from its
    last checkpoint.

    Runs are ranked by their error on labeled test data; where the model takes no labels, by a score against the known
    factors of the test data; without any labels by UDR, the agreement of the restarts of a setting.

    With --ray every run is a task on a cluster, and its folder is copied back. All machines must find the data under
    the same path or name; runs that are interrupted start again.

    **Examples**

        unknot sweep spec.yaml mine.npz --grid train.objective.beta=1,4,12 --seeds 5

        unknot sweep wine.csv --label kind --grid model.kind=ensemble,class_style  without a spec

        unknot sweep spec.yaml --grid model.style=2,5,10 --rank-by udr             chosen without labels

        unknot sweep spec.yaml --grid model.style=2,5 --ray 10.0.0.1:6379
    """
    from unknot.cli.fit import make_recipe, parse_settings
    from unknot.metrics.table import wanted_scores
    from unknot.workflow.sweep.member import members, read_grid
    from unknot.workflow.sweep.ranking import rank, refuse_unknown_number
    from unknot.workflow.sweep.sweep import Sweep

    asked = wanted_scores([name.strip() for name in scores.split(",") if name.strip()])
    refuse_unknown_number(rank_by)
    recipe = make_recipe(spec, data, {"factors": label} if label else {}).with_settings(
        parse_settings(settings or [])
    )
    found = members(recipe, read_grid(grid or []), seeds, data_dir)
    sweep = Sweep(found, output or Path("sweeps", spec.stem or "sweep"), asked, data_dir)
    failures = _train(sweep, workers or os.cpu_count() or 1, ray)
    finished = sweep.finished()
    if finished:
        _show(sweep, rank(finished, rank_by), failures)
    if failures:
        title, reason = next(iter(failures.items()))
        raise RunError(
            f"{len(failures)} of {len(found)} trainings failed, the first of them ({title}) with {reason} "
            "The others are kept; call again to do the rest."
        )


def _train(sweep: Sweep, workers: int, ray: str | None) -> dict[str, str]:
    """Train what is missing; the reasons of failures by the title of a run."""
    from unknot.workflow.sweep.measured import read_measured

    total, left = len(sweep.members), len(sweep.tasks())
    if left < total:
        typer.echo(f"{total - left} of {total} runs are done already.")
    if sweep.others():
        typer.echo(
            f"{sweep.others()} more runs in {sweep.path} have other settings, data or seeds and are not "
            "compared."
        )
    failures: dict[str, str] = {}
    try:
        with run_progress(total, total - left) as end:
            for member, error in sweep.run(workers, ray):
                found = read_measured(sweep.folder(member))
                if error is not None or found is None:
                    failures[member.title] = f"{type(error).__name__}: {' '.join(str(error).split())}"
                    end(f"{member.title}: failed, {error}")
                    continue
                numbers = [f"{one.measure} of {one.factor} {one.number}" for one in found.errors]
                numbers += [f"{name} {value:.3f}" for name, value in found.scores.items()]
                end(f"{member.title}: {', '.join(numbers) or 'done'} ({found.seconds:.0f} s)")
    except KeyboardInterrupt:
        done = len(sweep.members) - len(sweep.tasks())
        typer.echo(
            f"Stopped: {done} of {total} runs are done and kept; the same command continues.", err=True
        )
        raise typer.Exit(130) from None
    return failures


def _show(sweep: Sweep, ranking: Ranking, failures: dict[str, str]) -> None:
    """The first runs as a table, all of them on a page and as JSON."""
    from unknot.cli.shared import show_table
    from unknot.files import write_file
    from unknot.report.sweep_page import SweepPage, first_baselines, ranking_summary, write_sweep_page

    rows = [
        (str(place + 1), run.member.title, *(column.text(column.values[place]) for column in ranking.columns))
        for place, run in enumerate(ranking.runs[:_SHOWN])
    ]
    show_table("Runs, best first", ("", "run", *(column.title for column in ranking.columns)), rows)
    for line in ranking_summary(ranking):
        typer.echo(line)
    first = ranking.runs[0].folder
    page = sweep.path / "comparison.html"
    beside = first_baselines(ranking.runs[0], sweep.data_dir)
    for factor, line in beside.items():
        typer.echo(f"Baselines for {factor}: {line}")
    config = (first / "config.yaml").read_text()
    content = SweepPage(sweep.path.resolve().name, ranking, len(sweep.members), failures, beside, config)
    write_sweep_page(content, page)
    write_file(sweep.path / "ranking.json", (json.dumps(ranking.to_dict(), indent=1) + "\n").encode())
    typer.echo(f"Wrote {page}. Next: `unknot report {first}`.")


@contextmanager
def run_progress(runs: int, done: int) -> Iterator[Callable[[str], None]]:
    """A progress bar over runs, in a terminal, and a line for each run that ends.

    Parameters
    ----------
    runs, done : int
        How many runs there are, and how many of them are finished.

    Yields
    ------
    callable
        To be called with a line when a run has ended.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    ended = done
    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeRemainingColumn())
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=2, disable=not shown) as bar:
        task = bar.add_task("runs", total=runs, completed=done)

        def end(line: str) -> None:
            nonlocal ended
            ended += 1
            bar.update(task, completed=ended)
            if shown:
                bar.console.print(line, highlight=False, markup=False)
            else:
                typer.echo(f"{ended} of {runs}: {line}")

        yield end
