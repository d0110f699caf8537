"""The file of a result: every case once, followed by its runs, one per line.

    {"format": 3, "experiment": ..., "tier": ..., "plots": [...],
     "made": {"0206f90e194d": {"revision": "0206f90e194d", "code": ..., "data": {...}, "torch": ...}, ...},
     "rows": [{"case": {...}, "runs": [{"seed": 0, "numbers": {...}, ..., "made": "0206f90e194d"}, ...]}, ...]}

``made`` has revision, digest of the code, data, versions and machine of the runs. Files of format 2, in which every run
repeats its case and machine, are read too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.ledger.experiment import Case
from experiments.ledger.jobs import job_key

FORMAT = 3
_MADE = ("revision", "code", "data", "torch", "versions", "machine")


def packed(content: Mapping[str, Any], cases: Sequence[Case]) -> str:
    """Return the text of the file; every run of ``content`` belongs to the first of the ``cases`` with its settings.

    Runs that wait follow those that are shown.

    >>> run = {"case": {"row": "ours", "labels": 100}, "seed": 0, "numbers": {"error": 1.0}, "revision": "abc"}
    >>> print(packed({"experiment": "toy", "runs": [run]}, [run["case"]]))
    {
     "format": 3,
     "experiment": "toy",
     "made": {
      "abc": {"revision": "abc"}
     },
     "rows": [
      {"case": {"row": "ours", "labels": 100}, "runs": [
       {"seed": 0, "numbers": {"error": 1.0}, "made": "abc"}
      ]}
     ]
    }
    <BLANKLINE>
    """
    made: dict[str, dict[str, Any]] = {}
    by_case: dict[str, list[str]] = {}
    for run in [*content["runs"], *content.get("waiting", [])]:
        name = _name({name: run[name] for name in _MADE if name in run}, made)
        rest = {key: value for key, value in run.items() if key not in ("case", *_MADE)}
        by_case.setdefault(job_key(run["case"], 0), []).append(json.dumps({**rest, "made": name}))
    rows = []
    for case in cases:
        runs = by_case.pop(job_key(case, 0), [])
        rows.append(f'{{"case": {json.dumps(dict(case))}, "runs": {_lines(runs, 2)}}}')
    head = {name: content[name] for name in ("experiment", "tier", "plots") if name in content}
    parts = [f'"{name}": {json.dumps(value)}' for name, value in {"format": FORMAT, **head}.items()]
    places = [f"{json.dumps(name)}: {json.dumps(where)}" for name, where in made.items()]
    parts += [f'"made": {_lines(places, 1, "{}")}', f'"rows": {_lines(rows, 1)}']
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def unpacked(file: Mapping[str, Any]) -> tuple[dict[str, Any], list[Case]]:
    """Return the arguments of :func:`packed`."""
    runs = []
    for row in file["rows"]:
        for run in row["runs"]:
            rest = {name: value for name, value in run.items() if name != "made"}
            runs.append({"case": row["case"], **rest, **file["made"][run["made"]]})
    content = {name: value for name, value in file.items() if name not in ("made", "rows")}
    return {**content, "runs": runs}, [row["case"] for row in file["rows"]]


def _name(where: dict[str, Any], made: dict[str, dict[str, Any]]) -> str:
    """Add an environment to ``made`` and return its name: the revision, with a number if it has several."""
    name = first = str(where.get("revision", "unknown"))
    number = 1
    while made.setdefault(name, where) != where:
        number += 1
        name = f"{first} ({number})"
    return name


def _lines(texts: Sequence[str], depth: int, brackets: str = "[]") -> str:
    """Return a list or an object in JSON with one element per line."""
    if not texts:
        return brackets
    inside = ",\n".join(" " * (depth + 1) + text for text in texts)
    return f"{brackets[0]}\n{inside}\n{' ' * depth}{brackets[1]}"
