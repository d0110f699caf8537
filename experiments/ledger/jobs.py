"""Jobs: runs of an experiment, one for each case and seed, each with one thread."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments.ledger.data_identity import recorded_data
from experiments.ledger.experiment import Case, Experiment, case_title, settings_of
from experiments.ledger.source_closure import PACKAGES, closure_digest, source_files

PICTURED_SEED = 0  # the seed whose run draws pictures


@dataclass(frozen=True)
class Job:
    """One run: a case with a seed."""

    experiment: str
    case: Case
    seed: int

    @property
    def key(self) -> str:
        """A digest of settings and seed."""
        return job_key(self.case, self.seed)

    @property
    def title(self) -> str:
        return f"{case_title(self.case)}, seed {self.seed}"


@dataclass(frozen=True)
class Done:
    """The result of a job: its record, and its pictures by file name."""

    record: dict[str, Any]
    pictures: dict[str, bytes]


def job_key(case: Case, seed: int) -> str:
    """Return a digest of settings and seed, without the names of row and column."""
    text = json.dumps({"case": settings_of(case), "seed": seed}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def run_job(job: Job, revision: str) -> Done:
    """Train and measure with one thread; ``revision`` is that of the calling code."""
    import numpy
    import sklearn
    import torch

    from experiments.ledger.registry import experiment

    torch.set_num_threads(1)
    one = experiment(job.experiment)
    start, start_cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder, recorded_data() as data:
        pictures = Path(folder) if job.seed == PICTURED_SEED else None
        numbers = one.run(settings_of(job.case), job.seed, pictures)
        drawn = {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.png"))}
    record = {
        "case": dict(job.case),
        "seed": job.seed,
        "numbers": {name: float(value) for name, value in numbers.items()},
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(time.process_time() - start_cpu, 1),
        "revision": revision,
        "code": closure_digest(code_of(one)),
        "data": dict(sorted(data.items())),
        "torch": torch.__version__,
        "versions": f"numpy {numpy.__version__}, scikit-learn {sklearn.__version__}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, 1 thread",
    }
    return Done(record, drawn)


def code_of(one: Experiment) -> str:
    """Return the module whose source closure a result depends on: that of the function that runs a case."""
    run = one.run.func if isinstance(one.run, partial) else one.run
    return run.__module__


def origin(run: Mapping[str, Any]) -> str:
    """Return what the runs of one cell have in common: code and data, or the revision of records without these.

    >>> origin({"revision": "abc", "code": "123", "data": {"mnist": "456"}})
    'code 123, mnist 456'
    >>> origin({"revision": "abc"})
    'revision abc'
    """
    if "code" not in run:
        return f"revision {run.get('revision', 'unknown')}"
    return ", ".join([f"code {run['code']}", *(f"{name} {digest}" for name, digest in run["data"].items())])


def revision_of(module: str) -> str:
    """Return the git revision of the source closure of a module, with "-dirty" if a file of it is not committed.

    Outside a checkout it is "installed".
    """
    files = [str(path) for path in source_files(module)]
    roots = [Path(found).parent for package in PACKAGES if (found := import_module(package).__file__)]
    try:
        for root in roots:
            # fails for a package that only lies within another project's checkout
            _git(root, "ls-files", "--error-unmatch", "__init__.py")
        changed = _git(roots[0], "status", "--porcelain", "--", *files)
        return _git(roots[0], "rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "installed"


def _git(folder: Path, *arguments: str) -> str:
    result = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True
    )
    return result.stdout.strip()
