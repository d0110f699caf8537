"""Arrays as torch takes them, with the values they have: byte order, long floats, unsigned numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.errors import DataError


def numpy_of(tensor: Tensor) -> np.ndarray:
    """A tensor's values, also of one with gradients, a sparse one, or one of a type that numpy has not."""
    plain = tensor.detach().cpu().to_dense()
    return np.asarray((plain.float() if plain.dtype == torch.bfloat16 else plain).numpy())


def plain_array(given: Any, where: str) -> np.ndarray:
    """The numbers of anything that is an array, in one block of memory, as bools, uint8, int64 or floats.

    Floats beyond float32's precision lose digits, as all floats of data do; one that would become infinite, and whole
    numbers that would become others, are refused. ``where`` begins the error.
    """
    try:
        array = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise DataError(f"{where}: x does not form an array ({error}).") from None
    if array.dtype.kind not in "buif":
        raise DataError(f"{where}: x holds {array.dtype} values, expected numbers.")
    if array.dtype.kind == "f" and array.dtype.itemsize > 4:
        _refuse_overflow(array, where)
        array = array.astype(np.float32)
    elif array.dtype.kind in "iu" and array.dtype != np.uint8:
        if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise DataError(
                f"{where}: x holds {int(array.max())}, which is too large for a whole number of data."
            )
        array = array.astype(np.int64)
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))


def _refuse_overflow(array: np.ndarray, where: str) -> None:
    with np.errstate(invalid="ignore"):
        large = np.isfinite(array) & (np.abs(array) > np.finfo(np.float32).max)
    if large.any():
        row = int(np.argwhere(large)[0][0]) if array.ndim else 0
        raise DataError(f"{where}, row {row}: x holds a number beyond 3e38; rescale it.")
