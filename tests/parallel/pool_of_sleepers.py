"""A program that starts workers as sweeps and experiments do, prints their process numbers, and waits."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from unknot.parallel.processes import begin_worker


def number_after_a_rest() -> int:
    time.sleep(0.2)  # long enough that both workers get one
    return os.getpid()


def main() -> None:
    with ProcessPoolExecutor(2, get_context("spawn"), initializer=begin_worker) as pool:
        numbers = {done.result() for done in [pool.submit(number_after_a_rest) for _ in range(6)]}
        print(*numbers, flush=True)
        for _ in range(2):
            pool.submit(time.sleep, 600)


if __name__ == "__main__":
    main()
