"""The ledger: every result with its seeds, settings, code, data and time, in ``results/NAME.json``.

Jobs run in parallel, and each result is written when it is done, so that an interrupted reproduction can continue. Runs
are kept as long as a case has their settings, and are not repeated while their code stays the same. The runs of one
cell have the same code and the same data (:func:`experiments.ledger.jobs.origin`): runs of newer code wait in the file
until they are as many as those that are shown, and then replace them. Pictures are in ``results/figures/NAME``.
"""

from __future__ import annotations

import json
import re
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from experiments.ledger.experiment import NAMES, Case, Experiment, Tier, case_title, chosen_cases
from experiments.ledger.jobs import Done, Job, code_of, job_key, origin, revision_of, run_job
from experiments.ledger.result_file import FORMAT, packed, unpacked
from experiments.ledger.source_closure import closure_digest
from unknot.errors import RunError
from unknot.files import lock, write_file
from unknot.parallel.processes import run_all

_WITH_REPEATED_CASES = 2  # the format before :mod:`experiments.ledger.result_file`'s


def reproduce(
    experiment: Experiment,
    tier: Tier,
    seeds: int,
    folder: Path,
    workers: int,
    tell: Callable[[str], None],
    only: Sequence[str] = (),
    again: bool = False,
    ray: str | None = None,
) -> dict[str, Any]:
    """Run the missing jobs, or all with ``again``, of all cases or of those named in ``only``; return the content.

    They run in ``workers`` processes or on the Ray cluster at an address.
    """
    ledger = Ledger(experiment, tier, folder)
    jobs = _jobs(experiment, chosen_cases(experiment.cases(tier), only), seeds)
    before = len(_all_runs(read_result(folder, experiment.name, tier) or {"runs": []}))
    there = _all_runs(ledger.keep())
    if len(there) < before:
        tell(f"{before - len(there)} runs are removed: no case has their settings")
    code = closure_digest(code_of(experiment))
    has = {job_key(run["case"], run["seed"]) for run in there if run.get("code") == code}
    of_other_code = sum(run.get("code") != code for run in there)
    if of_other_code:
        tell(f"{of_other_code} runs are of other code; they are shown until as many new ones are there")
    if again or tier == "smoke":
        has = set()
    left = [job for job in jobs if job.key not in has]
    if len(left) < len(jobs):
        tell(f"{len(jobs) - len(left)} of {len(jobs)} trainings are done already")
    failed: list[tuple[Job, Exception]] = []
    work = partial(run_job, revision=revision_of(code_of(experiment)))
    for job, result in run_all(work, left, workers, ray):
        if isinstance(result, Exception):
            failed.append((job, result))
            tell(f"{job.title}: failed\n{''.join(traceback.format_exception(result)).rstrip()}")
            continue
        ledger.keep(result)
        shown = ", ".join(f"{k} {v:.4g}" for k, v in result.record["numbers"].items())
        tell(f"{job.title}: {shown} ({result.record['seconds']:.0f} s)")
    content = ledger.plot()
    if failed:
        job, error = failed[0]
        raise RunError(
            f"{experiment.name}: {len(failed)} of {len(left)} trainings failed, the first of them ({job.title}) with "
            f"{type(error).__name__}: {error}. The others are kept; call again to do the rest."
        ) from error
    return content


class Ledger:
    """The file of one experiment and tier: NAME.json for the quick tier, NAME-TIER.json for others.

    Several processes may write to it; each change holds a lock.
    """

    def __init__(self, experiment: Experiment, tier: Tier, folder: Path) -> None:
        self.experiment, self.tier, self.folder = experiment, tier, folder
        self.cases = list(experiment.cases(tier))
        self.name = result_name(experiment.name, tier)
        self.figures = folder / "figures" / self.name

    def keep(self, done: Done | None = None) -> dict[str, Any]:
        """Add a result and remove runs that belong to no case; return the content."""
        with self._lock():
            content = self._content()
            if done is not None:
                case, seed = done.record["case"], done.record["seed"]
                new = job_key(case, seed), origin(done.record)
                runs = [r for r in _all_runs(content) if (job_key(r["case"], r["seed"]), origin(r)) != new]
                prefix = _slug(case_title(case)) + "-" if len(self.cases) > 1 else ""
                pictures = {prefix + name: picture for name, picture in done.pictures.items()}
                self._write_pictures(pictures)
                content = self._summarized(
                    [*runs, {**done.record, "figures": list(pictures)}], content["plots"]
                )
            return self._write(content) if content["runs"] else content

    def plot(self) -> dict[str, Any]:
        """Draw the figures of the experiment from its results; return the content."""
        with self._lock():
            content = self._content()
            if self.experiment.plot is not None and content["runs"]:
                with tempfile.TemporaryDirectory() as temporary:
                    self.experiment.plot(content, Path(temporary))
                    plots = {path.name: path.read_bytes() for path in sorted(Path(temporary).glob("*.png"))}
                self._write_pictures(plots)
                content = self._write({**content, "plots": list(plots)})
            self._remove_stale_pictures(content)
            return content

    def _content(self) -> dict[str, Any]:
        """Read the file, with the present names of the cases."""
        old = read_result(self.folder, self.experiment.name, self.tier) or {"runs": [], "plots": []}
        names = {job_key(case, 0): case for case in reversed(self.cases)}
        runs = [run for run in _all_runs(old) if job_key(run["case"], 0) in names]
        runs = [{**run, "case": dict(names[job_key(run["case"], 0)])} for run in runs]
        return self._summarized(runs, old["plots"])

    def _summarized(self, runs: list[dict[str, Any]], plots: list[str]) -> dict[str, Any]:
        content = {"experiment": self.experiment.name, "tier": self.tier, "plots": plots, "runs": runs}
        return _with_summary(content, self.cases)

    def _write(self, content: dict[str, Any]) -> dict[str, Any]:
        write_file(self.folder / f"{self.name}.json", packed(content, self.cases).encode())
        return content

    def _write_pictures(self, pictures: dict[str, bytes]) -> None:
        for name, picture in pictures.items():
            write_file(self.figures / name, picture)

    def _remove_stale_pictures(self, content: dict[str, Any]) -> None:
        shown = {*content["plots"], *(name for run in content["runs"] for name in run.get("figures", []))}
        for path in self.figures.glob("*.png"):
            if path.name not in shown:
                path.unlink()

    def _lock(self) -> AbstractContextManager[bool]:
        return lock(self.folder / f".{self.name}.lock")


def summarize(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return mean and standard deviation over seeds of every number of every case."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault(json.dumps(run["case"], sort_keys=True), []).append(run)
    rows = []
    for group in groups.values():
        numbers = {}
        for name in dict.fromkeys(name for run in group for name in run["numbers"]):
            values = [run["numbers"][name] for run in group if name in run["numbers"]]
            spread = stdev(values) if len(values) > 1 else None
            numbers[name] = {"mean": mean(values), "sd": spread, "values": values}
        # CPU seconds do not depend on the load of the machine
        cost = mean(run["cpu_seconds"] for run in group)
        rows.append({"case": group[0]["case"], "seeds": len(group), "numbers": numbers, "cpu_seconds": cost})
    return rows


def result_name(experiment: str, tier: Tier) -> str:
    """Return the stem of the file of a result."""
    return experiment if tier == "quick" else f"{experiment}-{tier}"


def read_result(folder: Path, name: str, tier: Tier = "quick") -> dict[str, Any] | None:
    """Read the last result of an experiment, or None."""
    path = folder / f"{result_name(name, tier)}.json"
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text())
        written = content["format"]
        if written == FORMAT:
            content = _with_summary(*unpacked(content))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{path} is damaged ({error}): put a good copy back, or move it away.") from None
    if written not in (FORMAT, _WITH_REPEATED_CASES):
        raise RunError(
            f"{path} has format {written}, which this version does not read: use the version that wrote it, or move "
            "it away."
        )
    found: dict[str, Any] = content
    return found


def _with_summary(content: dict[str, Any], cases: Sequence[Case]) -> dict[str, Any]:
    """Return the runs in the order of cases and seeds, with their summary."""
    order = [job_key(case, 0) for case in cases]
    shown, waiting = _of_one_origin(_all_runs(content))
    runs = sorted(shown, key=lambda run: (order.index(job_key(run["case"], 0)), run["seed"]))
    has = {job_key(run["case"], 0) for run in runs}
    return {
        **content,
        "format": FORMAT,
        "seeds": max((row["seeds"] for row in summarize(runs)), default=0),
        "runs": runs,
        "waiting": waiting,
        "summary": summarize(_under_every_name(runs, cases)),
        "not_run": [_names(case) for case in cases if job_key(case, 0) not in has],
    }


def _all_runs(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs that are shown, and those of other code or data that are not."""
    return [*content["runs"], *content.get("waiting", [])]


def _of_one_origin(runs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Split runs into those that are shown and those that wait: each case shows the origin with most runs.

    Of equals those with pictures are shown, else the last. Origins before the one that is shown are dropped, they will
    never be shown again.
    """
    by_case: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for run in runs:
        by_case.setdefault(job_key(run["case"], 0), {}).setdefault(origin(run), []).append(run)
    shown, waiting = [], []
    for groups in by_case.values():
        in_order = list(groups.values())
        pictured = [any(run.get("figures") for run in group) for group in in_order]
        best = max(range(len(in_order)), key=lambda i: (len(in_order[i]), pictured[i], i))
        shown += in_order[best]
        waiting += [run for group in in_order[best + 1 :] for run in group]
    return shown, waiting


def _jobs(experiment: Experiment, cases: Sequence[Case], seeds: int) -> list[Job]:
    """Return a job for each seed and case; cases with the same settings are one job."""
    jobs = [Job(experiment.name, case, seed) for seed in range(seeds) for case in cases]
    return list({job.key: job for job in jobs}.values())


def _under_every_name(runs: list[dict[str, Any]], cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Return the runs in the order of the cases, once for each case with their settings."""
    by_key: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        by_key.setdefault(job_key(run["case"], 0), []).append(run)
    return [{**run, "case": dict(case)} for case in cases for run in by_key.get(job_key(case, 0), [])]


def _names(case: Case) -> dict[str, Any]:
    return {name: case[name] for name in NAMES if name in case}


def _slug(words: str) -> str:
    """Return words as a part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
