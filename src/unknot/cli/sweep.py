"""`unknot sweep`: train many settings and seeds, and rank them on one page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unknot.cli.ray_option import RAY_HELP
from unknot.errors import RunError

if TYPE_CHECKING:
    from unknot.workflow.sweep.ranking import Ranking
    from unknot.workflow.sweep.sweep import Sweep

_SHOWN = 10  # runs of the printed table


def command(
    spec: Annotated[
        Path, typer.Argument(help="A spec file (YAML), or your data at once, as for `unknot fit`.")
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
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting that all runs share.")
    ] = None,
    scores: Annotated[
        str, typer.Option("--scores", help="Scores of `unknot metrics` against known factors, with commas.")
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
        int | None, typer.Option("--workers", min=1, help="Processes; one a core by default.")
    ] = None,
    ray: Annotated[str | None, typer.Option("--ray", metavar="[ADDRESS]", help=RAY_HELP)] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where data sets lie.")] = None,
) -> None:
    """Train every combination of settings with several seeds, rank the runs, and write one page that compares them.

    Each run is a run folder of its own, which `unknot report` and `unknot predict` take. What is finished is kept:
    after an interrupt, or with more seeds or values, the same command does what is missing and nothing twice; a run
    that was stopped goes on from its last step.

    Runs are ranked by their error on labeled test data; where the model takes no labels, by a score against the
    factors that the test data know; where nothing is known, by UDR: how well the restarts of a setting agree.

    With --ray every run is a task on a cluster and its folder comes back. All machines must find the data under the
    same path or name; runs under way when it is interrupted begin anew.

    **Examples**

        unknot sweep spec.yaml mine.npz --grid train.objective.beta=1,4,12 --seeds 5

        unknot sweep wine.csv --label kind --grid model.ensemble.members=4,16     without a spec

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
    recipe = make_recipe(spec, data, label or []).with_settings(parse_settings(settings or []))
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
    """Do what is missing; reasons of failures by the title of a run."""
    from unknot.cli.run_bar import RunBar
    from unknot.workflow.sweep.measured import read_measured

    total, left = len(sweep.members), len(sweep.tasks())
    if left < total:
        typer.echo(f"{total - left} of {total} runs are done already.")
    if sweep.others():
        typer.echo(
            f"{sweep.others()} more runs in {sweep.path} have other settings, data or seeds: they are left alone, and "
            "not compared."
        )
    failures: dict[str, str] = {}
    try:
        with RunBar(total, total - left) as bar:
            for member, error in sweep.run(workers, ray):
                found = read_measured(sweep.folder(member))
                if error is not None or found is None:
                    failures[member.title] = f"{type(error).__name__}: {' '.join(str(error).split())}"
                    bar.end(f"{member.title}: failed, {error}")
                    continue
                numbers = [f"{one.measure} of {one.factor} {one.number}" for one in found.errors]
                numbers += [f"{name} {value:.3f}" for name, value in found.scores.items()]
                bar.end(f"{member.title}: {', '.join(numbers) or 'done'} ({found.seconds:.0f} s)")
    except KeyboardInterrupt:
        done = len(sweep.members) - len(sweep.tasks())
        typer.echo(f"Stopped: {done} of {total} runs are done and kept; the same command goes on.", err=True)
        raise typer.Exit(130) from None
    return failures


def _show(sweep: Sweep, ranking: Ranking, failures: dict[str, str]) -> None:
    """The first runs as a table, all of them on a page and as JSON."""
    from unknot.cli.show import show_table
    from unknot.files import write_file
    from unknot.report.comparison import Comparison, simpler, verdict, write_comparison

    rows = [
        (str(place + 1), run.member.title, *(column.text(column.values[place]) for column in ranking.columns))
        for place, run in enumerate(ranking.runs[:_SHOWN])
    ]
    show_table("Runs, best first", ("", "run", *(column.title for column in ranking.columns)), rows)
    for line in verdict(ranking):
        typer.echo(line)
    first = ranking.runs[0].folder
    page = sweep.path / "comparison.html"
    beside = simpler(ranking.runs[0], sweep.data_dir)
    for factor, line in beside.items():
        typer.echo(f"Beside it, for {factor}: {line}")
    config = (first / "config.yaml").read_text()
    name, asked = sweep.path.resolve().name, len(sweep.members)
    write_comparison(Comparison(name, ranking, asked, failures, beside, config), page)
    write_file(sweep.path / "ranking.json", (json.dumps(ranking.to_dict(), indent=1) + "\n").encode())
    typer.echo(f"Wrote {page}. Next: `unknot report {first}`.")
