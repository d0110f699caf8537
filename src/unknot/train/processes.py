"""Devices and processes: Lightning Fabric, set up from the environment that ``torchrun`` makes.

On one machine::

    torchrun --nproc-per-node 2 -m unknot fit spec.yaml data.npz

On two machines, each with the data and the run folder on a disk that both see (every process reads the
checkpoint, the first one alone writes)::

    torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint FIRST:29500 --rdzv-id 1 \\
        -m unknot fit spec.yaml data.npz

``batch_size`` is that of all processes together, so the trained model does not depend on their number.
"""

from __future__ import annotations

import atexit
import logging
import os
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unknot.errors import SpecError

if TYPE_CHECKING:
    from lightning_fabric import Fabric

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

# ---- Ctrl-C and a polite kill: finish the step, then stop ------------------------------------------------


class Interrupts:
    """Inside, SIGINT and SIGTERM set ``requested``. A second Ctrl-C interrupts at once, as always; a second SIGTERM
    does not, since who ends a group of processes may send several.

    Only the main thread may take over signals; elsewhere nothing changes.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for which in (signal.SIGINT, signal.SIGTERM):
                self._before[which] = signal.signal(which, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for which, handler in self._before.items():
            signal.signal(which, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = True


def connect(device: str, precision: str) -> Fabric:
    """Fabric for this process. Under ``torchrun`` the processes join; otherwise there is one."""
    from lightning_fabric import Fabric
    from lightning_fabric.strategies import DDPStrategy

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    world, local = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    try:
        if world == 1:
            fabric = Fabric(accelerator=device, devices=1, precision=precision)  # type: ignore[arg-type]
        else:
            # A program need not use every parameter in every batch, so unused ones must not be an error.
            strategy = DDPStrategy(find_unused_parameters=True)
            fabric = Fabric(
                accelerator=device,
                devices=local,
                num_nodes=world // local,
                strategy=strategy,
                precision=precision,  # type: ignore[arg-type]
            )
    except (RuntimeError, ValueError) as error:
        raise SpecError(
            f"train: device '{device}' with precision '{precision}' cannot be used: {error}"
        ) from error
    fabric.launch()
    if world > 1:
        # threads of the process group that still run while the interpreter shuts down abort the process now and then
        atexit.register(part)
    return fabric


def part() -> None:
    """Leave the other processes: what comes after training is each one's own work, and must not wait for them."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def first_process() -> bool:
    """Whether this is the process that speaks for all."""
    return int(os.environ.get("RANK", 0)) == 0


def share_of(batch_size: int, world: int) -> int:
    """Items of a global batch that fall to each process."""
    if batch_size % world:
        raise SpecError(
            f"train: batch_size {batch_size} is the batch of all processes together and must divide by their "
            f"number, {world}; for instance {max(1, batch_size // world) * world}."
        )
    return batch_size // world


def mean_over_processes(values: Tensor, world: int) -> Tensor:
    """The mean of what each process has; the same tensor where there is one process."""
    if world == 1:
        return values
    values = values.clone()
    torch.distributed.all_reduce(values)
    return values / world


def any_process(flag: bool, world: int, device: torch.device) -> bool:
    """Whether the flag is set in any process."""
    if world == 1:
        return flag
    return bool(mean_over_processes(torch.tensor(float(flag), device=device), world) > 0)
