"""``python -m benchmarks [name ...]``: run the benchmarks and print one table.

A benchmark is a module of this folder with ``run()``, which returns rows of name, value, unit, goal and ok. Misses
are shown, not hidden, and do not fail: on a busy machine they say little.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any

import benchmarks


def names() -> list[str]:
    """All benchmarks, by module name."""
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__")
    return [name for name in found if hasattr(importlib.import_module(f"benchmarks.{name}"), "run")]


def line(row: dict[str, Any]) -> str:
    goal, verdict = "", ""
    if row["goal"] is not None:
        at_most = (row["value"] <= row["goal"]) == row["ok"]  # a row says whether it is met, and so which way
        goal = f"{'<=' if at_most else '>='} {row['goal']:g}"
        verdict = "ok" if row["ok"] else "MISS"
    return f"{row['name']:<64} {row['value']:>10.4g} {row['unit']:<9} {goal:>9} {verdict:>5}"


def main(chosen: list[str]) -> None:
    known = names()
    unknown = set(chosen) - set(known)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    print(f"{'':<64} {'value':>10} {'unit':<9} {'goal':>9} {'':>5}")
    for name in chosen or known:
        for row in importlib.import_module(f"benchmarks.{name}").run():
            print(line(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
