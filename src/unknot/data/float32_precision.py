"""Arrays in the types that models compute with, and numbers that float32 cannot distinguish."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.errors import DataError

_LEAST_RANGE = 1e-5  # relative to the largest number; float32 has about 150 values in such a range


def numpy_of(tensor: Tensor) -> np.ndarray:
    """Return a tensor's values, also if it has gradients, is sparse, or is of a type that numpy lacks."""
    plain = tensor.detach().cpu().to_dense()
    return np.asarray((plain.float() if plain.dtype == torch.bfloat16 else plain).numpy())


def plain_array(given: Any, where: str) -> np.ndarray:
    """Return an array as torch takes it: contiguous, in native byte order, as bools, uint8, int64 or float32.

    Parameters
    ----------
    given : array-like
        Numbers.
    where : str
        The beginning of messages.

    Raises
    ------
    DataError
        If it is not an array of numbers, or holds a number that becomes infinite in float32, or a whole number that
        does not fit into int64.
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


def loses_precision(numbers: np.ndarray) -> np.ndarray:
    """Return for each column whether its numbers differ so little that float32 can hardly distinguish them.

    Parameters
    ----------
    numbers : ndarray of shape (N, C) or (N,)
        NaN entries are ignored.

    Returns
    -------
    ndarray of bool, shape (C,) or ()

    Examples
    --------
    >>> loses_precision(np.array([[1e12, 2008.0, 5.0], [1e12 + 1, 2009.0, 5.0]])).tolist()
    [True, False, False]
    """
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = np.fmin.reduce(numbers, 0, initial=np.inf), np.fmax.reduce(numbers, 0, initial=-np.inf)
        is_close = high - low < _LEAST_RANGE * np.maximum(np.abs(low), np.abs(high))
        return np.asarray((low < high) & is_close)


def precision_warning(where: str) -> str:
    """Return the warning about numbers that lose their precision."""
    return (
        f"{where}: its numbers differ only beyond the fifth digit, most of which float32 does not keep; subtract what "
        "they have in common, the smallest for instance."
    )
