"""A pool of processes: no worker outlives who started it, and an interrupt lets a training save what it has."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

from unknot.parallel.ray_tasks import run_on_ray

Item = TypeVar("Item")
Made = TypeVar("Made")

_INTERRUPTED = 130  # the exit code of a process that was told to end


def run_in_processes(
    work: Callable[[Item], Made], items: Sequence[Item], workers: int
) -> Iterator[tuple[Item, Made | Exception]]:
    """As :func:`unknot.parallel.processes.run_all`, in ``workers`` processes."""
    others = active_children()
    # Fresh processes: threads of a forked torch do not work.
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin_worker) as pool:
        waiting = {pool.submit(partial(_until_interrupted, work), item): item for item in items}
        try:
            for done in as_completed(waiting):
                failure = done.exception()
                if failure is not None and not isinstance(failure, Exception):
                    raise failure
                yield waiting[done], failure or done.result()
        except BaseException:
            _end(pool, [child for child in active_children() if child not in others])
            raise


def begin_worker() -> None:
    """In a worker: leave Ctrl-C to the process that started it, and end when that one ends, even killed."""
    os.setpgrp()
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _until_interrupted(work: Callable[[Item], Made], item: Item) -> Made:
    try:
        return work(item)
    except KeyboardInterrupt:  # a pool that is being ended listens no more
        os._exit(_INTERRUPTED)


def _end(pool: ProcessPoolExecutor, workers: Sequence[BaseProcess]) -> None:
    """Start nothing more and tell the workers to end: a training finishes its step and saves. A second Ctrl-C kills."""
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    try:
        pool.shutdown(wait=True)
    except KeyboardInterrupt:
        for worker in workers:
            worker.kill()
        raise


# ---- run_all: one function over many items, each result as soon as it is there ---------------------------


def run_all(
    work: Callable[[Item], Made], items: Sequence[Item], workers: int = 1, ray: str | None = None
) -> Iterator[tuple[Item, Made | Exception]]:
    """Every item with what ``work`` made of it, or with its failure, in the order in which they end.

    A failure is one item's own affair: the others go on. An interrupt ends all. ``work`` and the items travel to other
    processes, so they are a function of a module and plain data. With ``ray``, an address or "auto", they go to a Ray
    cluster; else ``workers`` processes do them, and a single one is this process.
    """
    if ray is not None:
        yield from run_on_ray(work, items, ray)
    elif workers > 1 and len(items) > 1:
        yield from run_in_processes(work, items, workers)
    else:
        for item in items:
            try:
                yield item, work(item)
            except Exception as error:
                yield item, error
