"""Which code made the runs of a result, compared with the code when the pages were written.

A run that has no digest of its code was made before digests were recorded: its revision is known, the code is not
compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.ledger.experiment import Experiment, case_title
from experiments.ledger.jobs import code_of
from experiments.ledger.source_closure import closure_digest
from unknot.files import write_file

CHANGED, UNRECORDED = "°", "†"
LEGEND = (
    f"{UNRECORDED}: made before the digest of the code was recorded; the revision is known. "
    f"{CHANGED}: the code of the experiment has changed since."
)
_FILE = "code.json"


def present_code(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return the digest of the code of each experiment."""
    return {one.name: closure_digest(code_of(one)) for one in experiments}


def write_present_code(experiments: Iterable[Experiment], folder: Path) -> dict[str, str]:
    """Keep the digests beside the results, so that the pages can be made again from the same files."""
    found = present_code(experiments)
    write_file(folder / _FILE, (json.dumps(found, indent=1) + "\n").encode())
    return found


def read_present_code(folder: Path) -> dict[str, str]:
    """Return the digests of the last pages; none if there are no pages."""
    path = folder / _FILE
    found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return found


def mark(run: Mapping[str, Any], code: str | None) -> str:
    """Return the mark of a run: nothing if the present ``code`` made it.

    >>> mark({"revision": "abc"}, "123"), mark({"code": "122"}, "123"), mark({"code": "123"}, "123")
    ('†', '°', '')
    """
    if "code" not in run:
        return UNRECORDED
    return CHANGED if run["code"] != code else ""


def marks(runs: Iterable[Mapping[str, Any]], code: str | None) -> str:
    """Return the marks that any of the runs has."""
    return "".join(sorted({mark(run, code) for run in runs}))


def provenance_lines(content: Mapping[str, Any], code: str | None) -> list[str]:
    """Return one line for each environment that runs were made in: revision, code, data, versions and cells."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for run in content["runs"]:
        groups.setdefault(_environment(run, code), []).append(run)
    return [f"- {text}: {_cells(runs)}." for text, runs in groups.items()]


def _environment(run: Mapping[str, Any], code: str | None) -> str:
    parts = [f"revision {run.get('revision', 'unknown')}{mark(run, code)}"]
    if "code" in run:
        parts.append(f"code {run['code']}")
        parts += [f"{name} {digest}" for name, digest in run["data"].items()]
    parts += [f"torch {run['torch']}"] if "torch" in run else []
    parts += [run[key] for key in ("versions", "machine") if key in run]
    return ", ".join(parts)


def _cells(runs: Sequence[Mapping[str, Any]]) -> str:
    cells = len({case_title(run["case"]) for run in runs})
    return (
        f"{len(runs)} runs of {cells} cells" if len(runs) > 1 else f"one run: {case_title(runs[0]['case'])}"
    )
