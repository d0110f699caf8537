"""Random states: one seed for a run, states that can be saved, and the order of an epoch from its number."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.errors import RunError


def seed_all(seed: int) -> None:
    """Seed torch on all devices, numpy's global generator and Python's."""
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 (a model may draw from the global generator)
    random.seed(seed)


def capture() -> tuple[dict[str, Tensor], dict[str, Any]]:
    """All random states: torch's as tensors, numpy's and Python's as JSON values."""
    tensors = capture_torch()
    algorithm, keys, *rest = np.random.get_state()  # noqa: NPY002
    version, numbers, gauss = random.getstate()
    return tensors, {
        "numpy": [
            algorithm,
            np.asarray(keys).tolist(),
            *[float(v) if i == 2 else int(v) for i, v in enumerate(rest)],
        ],
        "python": [version, list(numbers), gauss],
    }


def capture_torch() -> dict[str, Tensor]:
    """Torch's random states, CPU and every CUDA device in use. Cheap: a step can keep its own."""
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_initialized():
        states |= {f"cuda:{i}": state for i, state in enumerate(torch.cuda.get_rng_state_all())}
    return states


def restore_torch(tensors: dict[str, Tensor]) -> None:
    """Put back what :func:`capture_torch` took."""
    for device, state in tensors.items():
        if device == "cpu":
            torch.set_rng_state(state)
        elif torch.cuda.is_available() and int(device[5:]) < torch.cuda.device_count():
            torch.cuda.set_rng_state(state, device)


def restore(tensors: dict[str, Tensor], scalars: dict[str, Any]) -> None:
    """Put back what :func:`capture` took."""
    try:
        restore_torch(tensors)
        algorithm, keys, *rest = scalars["numpy"]
        np.random.set_state((algorithm, np.array(keys, dtype=np.uint32), *rest))  # noqa: NPY002
        version, numbers, gauss = scalars["python"]
        random.setstate((version, tuple(numbers), gauss))
    except (LookupError, ValueError, TypeError, RuntimeError) as error:
        raise RunError(f"the checkpoint's random states cannot be used ({error}).") from error


@contextmanager
def kept() -> Iterator[None]:
    """Whatever is drawn inside, the random states afterwards are those of before."""
    tensors, scalars = capture()
    try:
        yield
    finally:
        restore(tensors, scalars)


def epoch_generator(seed: int, epoch: int) -> torch.Generator:
    """The generator of one epoch's order: a function of seed and epoch, so no state needs to be kept."""
    mixed = np.random.SeedSequence(seed, spawn_key=(epoch,)).generate_state(1)[
        0
    ]  # torch keeps 32 bits of a seed
    return torch.Generator().manual_seed(int(mixed))
