"""What ``import unknot`` costs on top of ``import torch``, in fresh processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
from typing import Any

from benchmarks.row import row

GOAL, ROUNDS = 0.35, 9
PROGRAM = """
import torch
import time
start = time.perf_counter()
import unknot
print(time.perf_counter() - start)
"""


def seconds() -> float:
    """Wall time of the import in a process of its own that has torch already."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    return float(done.stdout)


def run() -> list[dict[str, Any]]:
    """Rows for ``python -m benchmarks``."""
    seconds()  # fill the file cache
    value = statistics.median(seconds() for _ in range(ROUNDS))
    name = "import unknot over import torch"
    return [row(name, value, "s", GOAL)]
