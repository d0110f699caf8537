"""The data that users pass to an estimator as data sets: arrays, images, texts, frames and tables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from unknot.data.dataset import Column, Dataset
from unknot.data.factor import DeclaredKind
from unknot.data.float32_precision import numpy_of
from unknot.data.from_arrays import from_arrays
from unknot.data.label_column import Classes, read_factor, refuse_whole_floats
from unknot.data.readers.cells import is_cells, read_cells
from unknot.data.readers.picture_size import ORIGINAL, Size
from unknot.data.readers.read_options import ReadOptions
from unknot.data.readers.resized import resized_pictures
from unknot.data.series import is_series_shape
from unknot.errors import DataError, SpecError, UnknotWarning
from unknot.estimator.frame import frame_of_records, is_frame, is_records, read_frame, read_table
from unknot.estimator.pictures import is_pictures, read_pictures
from unknot.estimator.text import is_sparse_counts, is_texts, read_sparse_counts, read_texts
from unknot.missing import is_missing

_MOST_CELLS = 2**30  # of sparse data made dense


def read_items(
    x: Any,
    columns: Any = None,
    known: Sequence[Column] = (),
    text: Mapping[str, Any] | None = None,
    like: Dataset | None = None,
    errors: str | None = None,
    size: Size = None,
    layer: str = "",
    unlabeled: Sequence[str] = (),
) -> Dataset:
    """Return items without labels.

    AnnData are cells. Strings are texts. PIL images and arrays of different sizes are pictures. A frame is a table; so
    are mappings from column to cell, and rows with words, missing values or declared columns. Everything else is an
    array of numbers, where sparse whole numbers are counts that stay sparse.

    Parameters
    ----------
    x : array-like, frame, sparse matrix or list of str
        The items.
    columns : mapping or sequence, optional
        The kinds of a table's columns.
    known : sequence of Column, optional
        The columns of the training data.
    text : mapping, optional
        How words are counted.
    like : Dataset, optional
        Data with the vocabulary to use.
    errors : {"warn", "raise"}, optional
        Of items for a fitted model: "raise" refuses unknown categories, which else are missing; "warn" notes the rows
        that cannot be read (``Dataset.odd_rows``), which else are refused.
    size : int, sequence of int or str, optional
        The size of pictures (:func:`unknot.data.readers.picture_size.choose_size`); that of ``like`` where it is given.
    layer, unlabeled
        Of AnnData, the layer with the counts and labels that stand for an unknown one; those of ``like`` where it is
        given.

    Returns
    -------
    Dataset
    """
    if is_cells(x):
        options = ReadOptions(like=like, errors=errors, layer=layer, unlabeled=unlabeled)
        return read_cells(x, (), options)
    if is_records(x):
        x = frame_of_records(x)
    if is_texts(x):
        return read_texts(x, text, like)
    if is_sparse_counts(x):
        return read_sparse_counts(x)
    if is_frame(x):
        return read_frame(
            x, None if known else columns, known, errors
        )  # the columns left out then may be absent now
    options = ReadOptions(like=like, size=size)
    if is_pictures(x):
        pixels, chosen = read_pictures(x, options)
        return replace(from_arrays(pixels), resized_from=chosen.resized_from)
    array = as_array(x)
    if array.ndim == 0 or len(array) == 0:
        raise DataError("x has no rows: there is no data (0 samples).")
    _refuse_one_axis(array)
    if errors == "warn" and not known:
        array, odd_rows = _without_odd_rows(array)
        items = from_arrays(array) if odd_rows else read_items(array, size=ORIGINAL)
        return resized_pictures(replace(items, odd_rows=odd_rows), options)
    if array.ndim == 2 and (columns is not None or known or _has_words_or_missing(array)):
        return read_table(array, columns, known, errors)
    if columns is not None:
        raise DataError(f"columns are for rows of a table, but the items of x have shape {array.shape[1:]}.")
    if array.dtype.kind not in "buif":
        raise DataError("x is not an array of numbers: images must have one size, and rows one length.")
    items = from_arrays(array.astype(np.float32) if array.dtype.kind == "b" else array)
    return resized_pictures(items, options)


def with_labels(
    items: Dataset,
    labels: Mapping[str, Any],
    kinds: Mapping[str, DeclaredKind],
    classes: Mapping[str, Classes] | None = None,
) -> Dataset:
    """Return the items with their labels, each of the kind and classes that are declared or inferred."""
    classes = classes or {}
    for option, names in (("kinds", kinds), ("classes", classes)):
        for name in names:
            if name not in labels:
                raise SpecError(f"{option} names '{name}', but no such labels were given.")
    factors = {
        name: read_factor(name, v, len(items), kinds.get(name), classes.get(name))
        for name, v in labels.items()
    }
    for name in factors.keys() - kinds.keys():
        refuse_whole_floats(factors[name])
    return replace(items, factors=factors)


def words(table: Sequence[Column], rows: np.ndarray) -> np.ndarray:
    """Return rows of a table with the words of its categories."""
    if not any(column.classes for column in table):
        return rows
    worded = rows.astype(object)  # (..., C)
    for i, column in enumerate(table):
        if column.classes:
            worded[..., i] = np.asarray(column.classes, dtype=object)[rows[..., i].astype(int)]
    return worded


def as_array(x: Any) -> np.ndarray:
    """Return the array of numpy, torch, scipy or lists."""
    if isinstance(x, Tensor):
        return numpy_of(x)
    if isinstance(x, np.ma.MaskedArray):
        x = _filled(x)
    if hasattr(x, "toarray"):  # scipy's sparse matrices
        if int(np.prod(x.shape)) > _MOST_CELLS:
            raise DataError(
                f"x is sparse and too large to be made dense, {tuple(x.shape)}; choose fewer columns."
            )
        return np.asarray(x.toarray())
    try:
        array = np.asarray(x)
        if array.dtype.kind in "US":  # numpy makes words of the numbers and the None beside a word
            array = np.array(x, dtype=object)
    except ValueError:
        raise DataError("x is not an array: images must have one size, and rows one length.") from None
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: x holds complex numbers; give their parts as columns.")
    if array.dtype.kind == "O" and not _has_words_or_missing(array):
        array = _numbers(array)
    return array


def _without_odd_rows(array: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return numbers with rows that are not finite set to zero, and these rows, with a warning."""
    numbers = _numbers(array) if array.dtype.kind == "O" else array
    if numbers.dtype.kind != "f":
        return array, ()
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    is_missing_step = np.isnan(single) & is_series_shape(single.shape)
    is_odd = ~(np.isfinite(single) | is_missing_step).reshape(len(numbers), -1).all(1)
    if not is_odd.any() or is_odd.all():
        return array, ()
    odd_rows = tuple(np.nonzero(is_odd)[0].tolist())
    listed = ", ".join(map(str, odd_rows[:6])) + (", ..." if len(odd_rows) > 6 else "")
    warnings.warn(
        f"x holds NaN or infinity in row {listed}, where the model was fitted on complete numbers; they have no "
        "prediction; to refuse such data: errors='raise'.",
        UnknotWarning,
        stacklevel=4,
    )
    return np.where(is_odd.reshape(-1, *[1] * (numbers.ndim - 1)), 0, numbers).astype(numbers.dtype), odd_rows


def _filled(x: np.ma.MaskedArray) -> np.ndarray:
    """Return a masked array with NaN or None in place of masked entries."""
    if not np.ma.is_masked(x):
        return np.asarray(x)
    if x.dtype.kind in "buif":
        return np.asarray(np.ma.filled(x.astype(np.float64), np.nan))
    return np.asarray(np.ma.filled(x.astype(object), None))


def _numbers(array: np.ndarray) -> np.ndarray:
    """Return an object array of numbers as floats; others unchanged."""
    if any(isinstance(value, list | tuple | np.ndarray | dict) for value in array.ravel()):
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return array


def _refuse_one_axis(array: np.ndarray) -> None:
    if array.ndim == 1 and any(isinstance(value, list | tuple | np.ndarray) for value in array):
        raise DataError("x is not an array of numbers: images must have one size, and rows one length.")
    if array.ndim == 1:
        raise DataError(
            "Expected 2D array, got 1D array: x has one row per item. Reshape your data, "
            "x.reshape(-1, 1) for one column or x.reshape(1, -1) for one item."
        )
    if array.ndim == 2 and array.shape[1] == 0:
        raise DataError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")


def _has_words_or_missing(array: np.ndarray) -> bool:
    if array.dtype.kind == "f":
        return bool(np.isnan(array).any())
    if array.dtype.kind != "O":
        return False
    return any(isinstance(value, str) or is_missing(value) for value in array.ravel())
