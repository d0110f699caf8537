"""From a column of labels as users have it to a Factor: unknowns found, kind inferred, values checked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.factor import KINDS, UNKNOWN, Factor, Kind
from unknot.data.float32_precision import loses_precision, numpy_of, precision_warning
from unknot.errors import DataError, UnknotWarning
from unknot.missing import missing_entries

MANY_CLASSES = 50  # whole numbers with more different values are more often numbers than classes

# What the letters of numpy's dtypes say about a factor that was not declared.
INFERRED: dict[str, Kind] = {
    "b": "binary",
    "i": "categorical",
    "u": "categorical",
    "U": "categorical",
    "f": "continuous",
}


def read_factor(
    name: str,
    given: Any,
    size: int,
    kind: Kind | None = None,
    classes: Sequence[Any] | None = None,
    deciding: np.ndarray | None = None,
) -> Factor:
    """The factor ``name`` of ``size`` items from a list, an array, a masked array or a tensor.

    Classes that nobody declares are the values that occur, among the ``deciding`` rows if there are such: a mask
    ``(N,)`` of the items to train on. A label of another class becomes unknown, and is said aloud.
    """
    values, unknown = label_array(name, given)
    if values.ndim == 0 or len(values) != size:
        count = len(values) if values.ndim else "one"
        raise DataError(f"factor '{name}': {count} labels for {size} items; give one label per item.")
    if kind is None and classes is not None:
        kind = "categorical"
    elif kind is None:
        kind = (
            None
            if (unknown if deciding is None else unknown[deciding]).all()
            else INFERRED.get(values.dtype.kind)
        )
        _warn_of_numbers(name, values, kind)
    if kind is None:
        why = "no label is known, so that its kind" if unknown.all() else "its kind"
        raise DataError(f"factor '{name}': {why} cannot be told; declare it in `kinds`, or leave it out.")
    if kind not in KINDS:
        raise DataError(f"factor '{name}': kind is one of {', '.join(KINDS)}, got {kind!r}.")
    if kind == "continuous":
        factor = Factor(name, kind, _numbers(name, values, unknown))
    elif values.ndim != 1:
        raise DataError(f"factor '{name}': {kind} labels are one per item, got shape {values.shape}.")
    elif kind == "categorical":
        if classes is None and deciding is not None:
            unknown = unknown | _unseen(name, values, unknown, deciding)
        factor = _categorical(name, values, unknown, classes)
    else:
        factor = Factor(name, kind, _whole(name, values, unknown, kind))
    factor.refuse_wrong_values()
    return factor


def refuse_whole_floats(factor: Factor) -> None:
    """Refuse numbers, taken as such by their type alone, that are whole and have gaps: classes often come so."""
    known = factor.values[factor.known]
    if factor.kind != "continuous" or known.ndim != 1 or not 0 < len(known) < len(factor):
        return
    if bool((known == known.round()).all() and (known >= UNKNOWN).all()):
        raise DataError(
            f"factor '{factor.name}': whole numbers beside NaN may be classes or numbers; say which, "
            f"kinds={{'{factor.name}': 'categorical'}} or 'continuous', for a file --set "
            f'"data.kinds={{{factor.name}: categorical}}" (classes may also mark the unknown by -1).'
        )


def class_values(names: Sequence[str]) -> list[Any]:
    """Names of classes as the labels that they came from: whole numbers if all of them are, else words.

    >>> class_values(["10", "20"]), class_values(["1", "one"])
    ([10, 20], ['1', 'one'])
    """
    whole = all(name.isdecimal() and str(int(name)) == name for name in names)
    return [int(name) for name in names] if whole else list(names)


def label_array(name: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels as an array of bools, whole numbers, floats or strings, and a mask of those that are absent.

    Absent are masked entries, None, NaN, pandas' NA and empty words; their places in the array hold something harmless.
    """
    masked = np.ma.getmaskarray(given) if isinstance(given, np.ma.MaskedArray) else np.False_
    if isinstance(given, Tensor):
        given = numpy_of(given)
    try:
        values = np.asarray(given)
        if isinstance(given, (list, tuple)) and values.dtype.kind == "U":
            values = np.array(given, dtype=object)  # numpy makes the words "None" and "nan" of None and NaN
    except ValueError as error:
        raise DataError(f"factor '{name}': the labels do not form an array ({error}).") from error
    if values.dtype.kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise DataError(f"factor '{name}': the labels are bytes that are no text in UTF-8.") from None
    if values.dtype.kind in "mMc":
        raise DataError(f"factor '{name}': the labels are of type {values.dtype}, expected numbers or words.")
    absent = np.broadcast_to(masked, values.shape)
    if values.dtype == object:
        absent = absent | missing_entries(values)
        values = _same_type(name, values, absent)
    elif values.dtype.kind == "f":
        absent = absent | np.isnan(values)
    if values.dtype.kind == "U":
        absent = absent | (np.char.strip(values) == "")  # as in a table's empty cell
    return values, absent


def _same_type(name: str, values: np.ndarray, absent: np.ndarray) -> np.ndarray:
    """An object array as the plain array its known entries are, refusing words among numbers."""
    known = values[~absent]
    words = np.array([isinstance(v, str) for v in known], dtype=bool)
    if words.any() and not words.all():
        at = np.nonzero(~absent)[0][np.nonzero(words != words[0])[0][0]]
        raise DataError(
            f"factor '{name}', row {at}: got {values[at]!r} where the rows before are of another type."
        )
    plain = np.array(known.tolist())
    filled = np.zeros(values.shape, dtype=plain.dtype if len(plain) else np.float64)
    filled[~absent] = plain
    return filled


def _categorical(name: str, values: np.ndarray, unknown: np.ndarray, classes: Sequence[Any] | None) -> Factor:
    """Class labels as indices: looked up among the classes' own values, or taken as indices already."""
    words = values.dtype.kind == "U"
    if not words:
        values = _whole(name, values, unknown, "categorical").numpy()
        unknown = values == UNKNOWN
    if classes is None:
        classes = np.unique(values[~unknown]).tolist()
        if not classes:
            raise DataError(f"factor '{name}': no label is known; give some, or leave it out.")
        _refuse_signs(name, values, classes)
        _refuse_spaces(name, classes)
    names = tuple(str(c) for c in classes)
    if len(set(names)) != len(names):
        raise DataError(f"factor '{name}': two classes have the same name.")
    if not words and any(isinstance(c, str) for c in classes):
        return Factor(name, "categorical", torch.from_numpy(values), names)  # numbers index the names
    if UNKNOWN in classes:
        raise DataError(
            f"factor '{name}': -1 means unknown and cannot be a class; give the class another number."
        )
    return Factor(name, "categorical", _look_up(name, values, unknown, names), names)


def _unseen(name: str, values: np.ndarray, unknown: np.ndarray, deciding: np.ndarray) -> np.ndarray:
    """Bool ``(N,)``: the labels of classes that no item to train on has. No model can know them."""
    marked = unknown if values.dtype.kind == "U" else unknown | (values == UNKNOWN)
    others = ~deciding & ~marked
    unseen = others & ~np.isin(values, np.unique(values[deciding & ~marked]))
    if unseen.any():
        listed = ", ".join(str(value) for value in np.unique(values[unseen])[:3])
        warnings.warn(
            f"factor '{name}': {int(unseen.sum())} of {int(others.sum())} labels kept for the test are of classes that "
            f"no training item has ({listed}); they are left out of the score. Declare classes to count them.",
            UnknotWarning,
            stacklevel=2,
        )
    return unseen


def _refuse_signs(name: str, values: np.ndarray, classes: Sequence[Any]) -> None:
    """-1 beside +1 is most often a class, not the mark for unknown: half of the labels must not vanish."""
    if list(classes) == [1] and UNKNOWN in values:
        raise DataError(
            f"factor '{name}': -1 marks an unknown label, so that 1 would be the only class; if -1 is a class, "
            "call the two 0 and 1, or use words."
        )
    if any(isinstance(c, int) and c < UNKNOWN for c in classes):
        row = int(np.nonzero(values < UNKNOWN)[0][0])
        raise DataError(
            f"factor '{name}', row {row}: got {values[row]}, but classes are whole numbers from 0, or words; "
            "-1 marks an unknown label. Numbers are declared: kinds={'" + name + "': 'continuous'}."
        )


def _refuse_spaces(name: str, classes: Sequence[Any]) -> None:
    """Two words that differ by spaces around them are one class, written carelessly."""
    bare: dict[str, str] = {}
    for word in classes:
        if isinstance(word, str) and bare.setdefault(word.strip(), word) != word:
            one = bare[word.strip()]
            raise DataError(
                f"factor '{name}': the classes {one!r} and {word!r} differ by spaces only; strip them."
            )


def _warn_of_numbers(name: str, values: np.ndarray, kind: str | None) -> None:
    if kind != "categorical" or values.dtype.kind not in "iu":
        return
    count = len(np.unique(values))
    if count > MANY_CLASSES:
        warnings.warn(
            f"factor '{name}': its whole numbers are taken as {count} classes; if they are numbers, declare "
            f"kinds={{'{name}': 'continuous'}}, or for a file --set \"data.kinds={{{name}: continuous}}\".",
            UnknotWarning,
            stacklevel=2,
        )


def _look_up(name: str, values: np.ndarray, unknown: np.ndarray, names: tuple[str, ...]) -> Tensor:
    """The index of each label among the classes, -1 where unknown."""
    index = {c: i for i, c in enumerate(names)}
    distinct, which = np.unique(values, return_inverse=True)
    found = np.array([index.get(str(v), len(names)) for v in distinct.tolist()], dtype=np.int64)[which]
    strange = ~unknown & (found == len(names))
    if strange.any():
        row = int(np.nonzero(strange)[0][0])
        listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise DataError(
            f"factor '{name}', row {row}: got {values[row]}, expected one of the classes {listed}."
        )
    return torch.from_numpy(np.where(unknown, UNKNOWN, found))


def _whole(name: str, values: np.ndarray, unknown: np.ndarray, kind: str) -> Tensor:
    """Integer labels as int64, -1 where unknown; a word or a fraction is refused."""
    values = _refuse_words(name, values, unknown)
    numbers = np.where(unknown, UNKNOWN, values if values.dtype.kind == "f" else values.astype(np.int64))
    wrong = (numbers != np.round(numbers)) | np.isinf(numbers)
    if wrong.any():
        row = int(np.nonzero(wrong)[0][0])
        raise DataError(
            f"factor '{name}', row {row}: got {numbers[row]}, but a {kind} label is a whole number."
        )
    return torch.from_numpy(numbers.astype(np.int64))


def _numbers(name: str, values: np.ndarray, unknown: np.ndarray) -> Tensor:
    """Continuous labels as float32, NaN where unknown."""
    numbers = np.where(unknown, np.nan, _refuse_words(name, values, unknown))
    if loses_precision(numbers).any():
        warnings.warn(precision_warning(f"factor '{name}'"), UnknotWarning, stacklevel=2)
    return torch.from_numpy(numbers.astype(np.float32))


def _refuse_words(name: str, values: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "U":
        if unknown.all():
            return np.zeros(values.shape)
        row = int(np.nonzero(~unknown)[0][0])
        raise DataError(f"factor '{name}', row {row}: got {str(values[row])!r}, expected a number.")
    return values
