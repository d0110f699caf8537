"""Labels of the user as a Factor: unknown labels are found, the kind is inferred, values are checked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.factor import KINDS, UNKNOWN, DeclaredKind, Factor, Kind
from unknot.data.float32_precision import loses_precision, numpy_of, precision_warning
from unknot.data.hierarchy import Hierarchy
from unknot.data.label_evidence import Votes, has_evidence, read_evidence, read_intervals, read_votes
from unknot.errors import DataError, UnknotWarning
from unknot.missing import missing_entries

Classes = Sequence[Any] | Hierarchy | Mapping[str, Any]  # as they may be declared

MANY_CLASSES = 50  # whole numbers with more different values are taken as numbers
FEW_CLASSES = 10  # with at most so many different values they never are
_FULL = 0.8  # of the whole numbers from the smallest to the largest, as the codes of classes have

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
    kind: DeclaredKind | None = None,
    classes: Classes | None = None,
    training: np.ndarray | None = None,
) -> Factor:
    """Read the labels of one factor.

    Labels that are not one value each (several classes, nodes of a tree, weights, votes, intervals) are read by
    :mod:`unknot.data.label_evidence`.

    Parameters
    ----------
    name : str
        The factor.
    given : list, array, masked array, Tensor or Votes
        One label per item.
    size : int
        The number of items.
    kind : str, optional
        Default: inferred from the type. "interval" is a continuous factor with cells such as ``3-5`` or ``>10``.
    classes : sequence, Hierarchy or mapping, optional
        The classes, or the tree whose leaves they are, which may be nested mappings. Default: the values that occur in
        training rows.
    training : ndarray of bool, shape (N,), optional
        The items to train on; default: all. A label of a class that none of them has becomes unknown, with a warning.

    Returns
    -------
    Factor
    """
    if isinstance(classes, Mapping):
        classes = Hierarchy.from_mapping(classes)
    if isinstance(given, Votes):
        return read_votes(name, given, size, classes)
    if kind == "interval":
        return read_intervals(name, given, size)
    if isinstance(classes, Hierarchy) or (kind in (None, "categorical") and has_evidence(given, kind)):
        return read_evidence(name, given, size, classes)
    values, unknown = label_array(name, given)
    if values.ndim == 0 or len(values) != size:
        count = len(values) if values.ndim else "one"
        raise DataError(f"factor '{name}': {count} labels for {size} items; give one label per item.")
    if kind is None and classes is not None:
        kind = "categorical"
    elif kind is None:
        kind = (
            None
            if (unknown if training is None else unknown[training]).all()
            else INFERRED.get(values.dtype.kind)
        )
        if kind == "categorical" and _are_numbers(name, values[~unknown]):
            kind = "continuous"
    if kind is None:
        why = "no label is known, so that its kind" if unknown.all() else "its kind"
        raise DataError(f"factor '{name}': {why} cannot be inferred; declare it in `kinds`, or leave it out.")
    if kind not in KINDS:
        raise DataError(f"factor '{name}': kind is one of {', '.join(KINDS)}, got {kind!r}.")
    if kind == "continuous":
        factor = Factor(name, kind, _numbers(name, values, unknown))
    elif values.ndim != 1:
        raise DataError(f"factor '{name}': {kind} labels are one per item, got shape {values.shape}.")
    elif kind == "categorical":
        if classes is None and training is not None:
            unknown = unknown | _unseen(name, values, unknown, training)
        factor = _categorical(name, values, unknown, classes)
    else:
        factor = Factor(name, kind, _whole(name, values, unknown, kind))
    factor.refuse_wrong_values()
    return factor


def refuse_whole_floats(factor: Factor) -> None:
    """Refuse floats that are whole numbers beside NaN: they are often classes."""
    known = factor.values[factor.known]
    if factor.kind != "continuous" or known.ndim != 1 or not 0 < len(known) < len(factor):
        return
    if _vary_like_numbers(known.numpy()):
        return
    if bool((known == known.round()).all() and (known >= UNKNOWN).all()):
        raise DataError(
            f"factor '{factor.name}': whole numbers beside NaN may be classes or numbers; say which, "
            f"kinds={{'{factor.name}': 'categorical'}} or 'continuous', for a file --set "
            f'"data.kinds={{{factor.name}: categorical}}" (classes may also mark the unknown by -1).'
        )


def class_values(names: Sequence[str]) -> list[Any]:
    """Return the labels from which names of classes were made: whole numbers if all of them are, else words.

    >>> class_values(["10", "20"]), class_values(["1", "one"])
    ([10, 20], ['1', 'one'])
    """
    whole = all(name.isdecimal() and str(int(name)) == name for name in names)
    return [int(name) for name in names] if whole else list(names)


def label_array(name: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as an array of bools, whole numbers, floats or strings, and a mask of the missing ones.

    Missing are masked entries, None, NaN, pandas' NA and empty words; the array holds arbitrary values there.
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
    """Return an object array as an array of the type of its known entries; words among numbers are refused."""
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
    """Return class labels as a factor: looked up among the classes, or used as indices of named classes."""
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


def _unseen(name: str, values: np.ndarray, unknown: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Return which labels are of classes that no training item has, bool ``(N,)``, with a warning."""
    marked = unknown if values.dtype.kind == "U" else unknown | (values == UNKNOWN)
    others = ~training & ~marked
    unseen = others & ~np.isin(values, np.unique(values[training & ~marked]))
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
    """Refuse -1 beside +1, where it is probably a class, and other negative numbers."""
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
    """Refuse classes that differ only by spaces around the word."""
    bare: dict[str, str] = {}
    for word in classes:
        if isinstance(word, str) and bare.setdefault(word.strip(), word) != word:
            one = bare[word.strip()]
            raise DataError(
                f"factor '{name}': the classes {one!r} and {word!r} differ by spaces only; strip them."
            )


def _vary_like_numbers(values: np.ndarray) -> bool:
    """Return whether whole numbers are measured or counted rather than codes of classes.

    They have more than 50 different values; or, of few labels, more than 10 that come less than twice on average and
    have gaps between them.
    """
    distinct = np.unique(values)
    if len(distinct) <= FEW_CLASSES:
        return False
    are_rare = 2 * len(distinct) > len(values) and len(distinct) < _FULL * (distinct[-1] - distinct[0] + 1)
    return len(distinct) > MANY_CLASSES or bool(are_rare)


def _are_numbers(name: str, values: np.ndarray) -> bool:
    """Return whether labels are whole numbers with too many different values to be classes, with a warning.

    Where -1 is the only negative number, it may mark unknown classes: these stay classes.
    """
    if values.dtype.kind not in "iu":
        return False
    distinct = np.unique(values)
    if not _vary_like_numbers(values[values != UNKNOWN] if distinct[0] == UNKNOWN else values):
        return False
    are_classes = UNKNOWN in distinct and distinct[0] == UNKNOWN
    what, other = (
        (f"{len(distinct) - 1} classes", "continuous") if are_classes else ("numbers", "categorical")
    )
    beside = (
        " beside -1, which marks an unknown one," if are_classes else f" of {len(distinct)} different values"
    )
    warnings.warn(
        f"factor '{name}': its whole numbers{beside} are taken as {what}; otherwise declare "
        f"kinds={{'{name}': '{other}'}}, or for a file --set \"data.kinds={{{name}: {other}}}\".",
        UnknotWarning,
        stacklevel=2,
    )
    return not are_classes


def _look_up(name: str, values: np.ndarray, unknown: np.ndarray, names: tuple[str, ...]) -> Tensor:
    """Return the index of each label among the classes, -1 where unknown."""
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
    """Return labels as int64, -1 where unknown; words and fractions are refused."""
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
    """Return labels as float32, NaN where unknown."""
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
