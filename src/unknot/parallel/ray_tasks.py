"""Plain remote tasks on a Ray cluster: what comes back is the value, and a lost worker's item goes to another."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from unknot.errors import SpecError

Item = TypeVar("Item")
Made = TypeVar("Made")

RETRIES = 3  # how often an item begins anew whose worker or machine was lost


def run_on_ray(
    work: Callable[[Item], Made], items: Sequence[Item], address: str
) -> Iterator[tuple[Item, Made | Exception]]:
    """As :func:`unknot.parallel.processes.run_all`, one task and one processor an item.

    ``address`` is a cluster's, or "auto": the one that this machine belongs to, else one is started here for as long as
    it lasts. This package's own code goes along, so that every machine runs the same; data do not.
    """
    ray = _ray()
    if not items:
        return
    ours = not ray.is_initialized()
    if ours:
        connect(ray, address)
    try:
        task = ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(_in_one_thread)
        waiting = {task.remote(work, item): item for item in items}
        while waiting:
            (done,), _ = ray.wait(list(waiting), num_returns=1)
            yield waiting.pop(done), _outcome(ray, done)
    finally:
        if ours:
            ray.shutdown()


def _outcome(ray: Any, done: Any) -> Any:
    """What a task made, or why it failed."""
    try:
        return ray.get(done)
    except ray.exceptions.RayTaskError as error:
        return error.cause if isinstance(error.cause, Exception) else error
    except ray.exceptions.RayError as error:
        return error


def _in_one_thread(work: Callable[[Item], Made], item: Item) -> Made:
    import torch

    torch.set_num_threads(1)
    return work(item)


def connect(ray: Any, address: str, **options: Any) -> None:
    """Ray at an address, with this package's code and the places of its data; further options are ``ray.init``'s."""
    told = {name: value for name, value in os.environ.items() if name.startswith("UNKNOT_")}  # where data lie
    package = str(Path(__file__).parents[1])
    try:
        ray.init(
            address=None if address == "auto" else address,
            runtime_env={"py_modules": [package], "excludes": ["**/__pycache__"], "env_vars": told},
            logging_level=logging.ERROR,
            log_to_driver=False,
            **options,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SpecError(
            f"--ray {address}: there is no Ray cluster to be had ({reason}); start one with `ray start --head`, or say "
            "--ray alone for one on this machine."
        ) from error


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise SpecError("--ray needs Ray, which is not installed: pip install 'unknot[sweep]'.") from None
    return ray
