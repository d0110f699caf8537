"""run_all: one function over many items, each result as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from unknot.parallel.ray_tasks import run_on_ray
from unknot.parallel.worker_pool import run_in_processes

Item = TypeVar("Item")
Made = TypeVar("Made")


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
