"""The ledger: every result with its seeds, settings, revision and time, in ``results/NAME.json``.

A reproduction runs its (case, seed) pairs side by side, one process a core, and writes each as soon as it is done:
interrupted, it goes on where it was. A pair is done again when its settings or the tier have changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from unknot.errors import RunError
from unknot.experiments.experiment import Case, Experiment, Tier
from unknot.train.atomic import write_file

FORMAT = 1


@dataclass(frozen=True)
class Job:
    """One training: a case with a seed."""

    experiment: str
    case: Case
    seed: int

    @property
    def key(self) -> str:
        """Changes with the settings, so that a stale result is never taken for this job's."""
        text = json.dumps({"case": dict(self.case), "seed": self.seed}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def reproduce(
    experiment: Experiment, tier: Tier, seeds: int, folder: Path, workers: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Run what is missing and write ``folder/NAME.json`` (a smoke run: NAME-smoke.json); returns its content."""
    jobs = [Job(experiment.name, case, seed) for case in experiment.cases(tier) for seed in range(seeds)]
    partial = folder / f".{experiment.name}-{tier}"
    partial.mkdir(parents=True, exist_ok=True)
    left = [job for job in jobs if not (partial / f"{job.key}.json").exists()]
    if len(left) < len(jobs):
        tell(f"{len(jobs) - len(left)} of {len(jobs)} trainings are done already")
    for job, record in _run_all(left, workers):
        write_file(partial / f"{job.key}.json", json.dumps(record, indent=1).encode())
        shown = ", ".join(f"{k} {v:.4g}" for k, v in record["numbers"].items())
        tell(f"{_title(job.case)}, seed {job.seed}: {shown} ({record['seconds']:.0f} s)")
    runs = [json.loads((partial / f"{job.key}.json").read_text()) for job in jobs]
    content = {
        "format": FORMAT,
        "experiment": experiment.name,
        "tier": tier,
        "seeds": seeds,
        "runs": runs,
        "summary": summarise(runs),
    }
    # a smoke run proves that the experiment runs; it must not take the place of a result
    name = f"{experiment.name}-smoke" if tier == "smoke" else experiment.name
    write_file(folder / f"{name}.json", (json.dumps(content, indent=1) + "\n").encode())
    for job in jobs:
        (partial / f"{job.key}.json").unlink()
    if not any(partial.iterdir()):
        partial.rmdir()
    return content


def run_job(job: Job) -> dict[str, Any]:
    """Train and measure, in a process of its own with one thread."""
    import torch

    from unknot.experiments.registry import experiment

    torch.set_num_threads(1)
    start = time.perf_counter()
    numbers = experiment(job.experiment).run(job.case, job.seed)
    return {
        "case": dict(job.case),
        "seed": job.seed,
        "numbers": numbers,
        "seconds": round(time.perf_counter() - start, 1),
        "revision": _revision(),
        "torch": torch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def summarise(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds of every number of every case."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault(json.dumps(run["case"], sort_keys=True), []).append(run)
    rows = []
    for group in groups.values():
        numbers = {}
        for name in group[0]["numbers"]:
            values = [run["numbers"][name] for run in group]
            spread = stdev(values) if len(values) > 1 else None
            numbers[name] = {"mean": mean(values), "sd": spread, "values": values}
        seconds = mean(run["seconds"] for run in group)
        rows.append({"case": group[0]["case"], "seeds": len(group), "numbers": numbers, "seconds": seconds})
    return rows


def read_result(folder: Path, name: str) -> dict[str, Any] | None:
    """The last result of an experiment, or None."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text())
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}.") from None
    return content if content.get("format") == FORMAT else None


def _run_all(jobs: list[Job], workers: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    if workers == 1 or len(jobs) <= 1:
        for job in jobs:
            yield job, run_job(job)
        return
    # Fresh processes: threads of a forked torch do not work.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_job, job): job for job in jobs}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _title(case: Case) -> str:
    rest = ", ".join(f"{k}={v}" for k, v in case.items() if k != "row" and not isinstance(v, dict | list))
    return f"{case.get('row', '')} {rest}".strip()


def _revision() -> str:
    """The git revision of the code, with a mark if it has uncommitted changes; "installed" outside a checkout."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=here, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "installed"
    return found.stdout.strip()
