"""What ``import unknot`` costs on top of ``import torch``, in fresh processes that take turns."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Any

GOAL, ROUNDS = 0.35, 7


def seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def run() -> list[dict[str, Any]]:
    """Rows for ``python -m benchmarks``."""
    seconds("import torch, unknot")  # fill the file cache
    extra = [seconds("import unknot") - seconds("import torch") for _ in range(ROUNDS)]
    value = statistics.median(extra)
    return [
        {
            "name": "import unknot over import torch",
            "value": value,
            "unit": "s",
            "goal": GOAL,
            "ok": value <= GOAL,
        }
    ]
