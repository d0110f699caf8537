"""Train in forked processes that are killed at random moments, until one finishes.

``python -m tests.train.kill_and_resume RUN STEPS KILLS`` prints how many times training was killed. Forking after
the imports makes a new process cheap, so that many kills fit in a test.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import sys
import time

from tests.train.programs import digits
from tests.train.train_in_pieces import main

# What training imports lazily, so that the children find it loaded.
for name in ("lightning_fabric", "torch.utils.tensorboard", "safetensors.torch", "filelock", "yaml"):
    importlib.import_module(name)
digits()


def piece(folder: str, steps: int, delay: float | None) -> bool:
    """Train in a child; true if it was killed ``delay`` seconds after its first step, false if it finished."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            main(folder, steps, {}, writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    os.read(reading, 1)  # returns at the first step, or when the child has ended
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    while os.read(reading, 4096):  # until the child has ended; a full pipe would hold it up
        pass
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise SystemExit(f"training failed with code {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status)


if __name__ == "__main__":
    folder, steps, kills = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    moments = random.Random(kills)
    killed = sum(piece(folder, steps, moments.uniform(0.0, 0.3)) for _ in range(kills))
    piece(folder, steps, None)
    print(killed)
