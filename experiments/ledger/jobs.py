"""Jobs: runs of an experiment, one for each case and seed, each with one thread."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.ledger.experiment import Case, case_title, settings_of

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
    import torch

    from experiments.ledger.registry import experiment

    torch.set_num_threads(1)
    start, start_cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        pictures = Path(folder) if job.seed == PICTURED_SEED else None
        numbers = experiment(job.experiment).run(settings_of(job.case), job.seed, pictures)
        drawn = {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.png"))}
    record = {
        "case": dict(job.case),
        "seed": job.seed,
        "numbers": {name: float(value) for name, value in numbers.items()},
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(time.process_time() - start_cpu, 1),
        "revision": revision,
        "torch": torch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
    return Done(record, drawn)


def revision_of(*packages: Path) -> str:
    """Return the git revision of packages of one checkout, with a mark for uncommitted changes.

    Outside a checkout it is "installed".
    """
    try:
        changed = ""
        for package in packages:
            # fails for a package that only lies within another project's checkout
            _git(package, "ls-files", "--error-unmatch", "__init__.py")
            changed += _git(package, "status", "--porcelain", "--", ".")  # new results do not change the code
        return _git(packages[0], "rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "installed"


def _git(folder: Path, *arguments: str) -> str:
    result = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True
    )
    return result.stdout.strip()
