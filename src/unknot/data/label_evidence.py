"""Labels that are not one value per item, as a Factor: several classes, nodes of a tree, weights, votes, intervals."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.factor import UNKNOWN, Factor
from unknot.data.hierarchy import SEPARATOR, Hierarchy
from unknot.errors import DataError, UnknotWarning
from unknot.missing import is_missing
from unknot.suggest import did_you_mean

OR, NOT = "|", "!"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*(?:-|\.\.|–)\s*({_NUMBER})\s*")
_OPEN = re.compile(rf"\s*([<>])=?\s*({_NUMBER})\s*")


@dataclass(frozen=True)
class Votes:
    """The classes that several raters report, as the labels of one factor.

    A model learns a confusion matrix for each rater, p(reported class | class).

    Parameters
    ----------
    reported : mapping from rater to list or array
        One class per item for each rater, None (or -1) where the rater reports nothing.
    labels : list or array, optional
        Classes that are known for certain, None (or -1) for the others.

    Examples
    --------
    >>> Votes({"Ann": ["cat", "dog"], "Bob": ["cat", None]})  # doctest: +ELLIPSIS
    Votes(reported={'Ann': ...
    """

    reported: Mapping[str, Any]
    labels: Any = None


# ---- which labels are of these forms -----------------------------------------------------------------------


def has_evidence(given: Any, kind: str | None) -> bool:
    """Whether some labels of a factor with classes are not one class each.

    Such a label is a set or list of classes, a mapping from class to weight, or a word such as ``A|B``, ``!C``,
    ``immune/*``. A word is read so only if its parts are labels of other items, so that a class may contain these
    characters; a path only if another label is a longer path.
    """
    is_array = isinstance(given, np.ndarray) and given.dtype.kind in "OU"
    if not is_array and not isinstance(given, list | tuple):
        return False
    cells = list(given)
    if any(isinstance(cell, set | frozenset | Mapping) for cell in cells):
        return True
    lists = [cell for cell in cells if isinstance(cell, list | tuple)]
    if lists:
        names = [name for cell in lists for name in cell]
        same = len(lists) == len(cells) and len({len(cell) for cell in lists}) == 1
        return kind == "categorical" or not same or any(isinstance(name, str) for name in names)
    words = {cell.strip() for cell in cells if isinstance(cell, str)}
    return any(_is_expression(word, words) for word in words) or bool(_inner_paths(words))


def _is_expression(word: str, words: set[str]) -> bool:
    if OR not in word and not word.startswith(NOT):
        return False
    return all(part in words for part in _atoms(word))


def _inner_paths(words: set[str]) -> set[str]:
    """Return the paths that other words continue, as ``immune`` and ``immune/*`` beside ``immune/T cell``."""
    long = [word for word in words if SEPARATOR in word]
    starts = {
        SEPARATOR.join(path.split(SEPARATOR)[:n])
        for path in long
        for n in range(1, path.count(SEPARATOR) + 1)
    }
    inner = {word for word in words if word.removesuffix("/*") in starts}
    return inner if any(not word.endswith("/*") for word in long) else set()


# ---- factors with classes ----------------------------------------------------------------------------------


def read_evidence(
    name: str, given: Any, size: int, classes: Sequence[Any] | Hierarchy | None = None
) -> Factor:
    """Read labels of any form as log-potentials of the classes.

    Parameters
    ----------
    name : str
        The factor.
    given : list or array
        For each item a class, a node or path of the class tree, a list or set of these (one of them is right), a
        mapping from these to weights (of every class below, in proportion to p(what is known | class)), ``A|B``,
        ``!C``, or None.
    size : int
        The number of items.
    classes : sequence or Hierarchy, optional
        The classes, or the tree whose leaves they are; default: those that the labels name, and their tree if labels
        are paths.

    Returns
    -------
    Factor
        Of kind "categorical"; its evidence is left out if every label is one class or unknown.
    """
    cells = [
        None if _is_absent(cell) else cell for cell in (given.tolist() if hasattr(given, "tolist") else given)
    ]
    if len(cells) != size:
        raise DataError(f"factor '{name}': {len(cells)} labels for {size} items; give one label per item.")
    tree = classes if isinstance(classes, Hierarchy) else _tree(name, cells, classes)
    rows: dict[Hashable, Tensor] = {}
    keys = [_key(cell) for cell in cells]
    for row, (key, cell) in enumerate(zip(keys, cells, strict=True)):
        if key not in rows:
            try:
                rows[key] = _potential(cell, tree)
            except DataError as error:
                raise DataError(f"factor '{name}', row {row}: {error}") from None
    place = {key: index for index, key in enumerate(rows)}
    index = torch.tensor([place[key] for key in keys], dtype=torch.int64)
    potential = torch.stack(list(rows.values())) if rows else torch.zeros(0, len(tree.leaves))
    points = torch.where((potential > 0).sum(1) == 1, potential.argmax(1), UNKNOWN)
    simple = (points != UNKNOWN) | (potential == 1).all(1)
    return Factor(
        name,
        "categorical",
        points[index],
        tree.leaves,
        evidence=None if bool(simple.all()) else potential.log()[index],
        tree=tree if tree.depth > 1 else None,
    )


def _tree(name: str, cells: Sequence[Any], classes: Sequence[Any] | None) -> Hierarchy:
    """Return the tree of declared classes, or of those that labels name."""
    if classes is not None:
        return Hierarchy({str(one): None for one in classes})
    others = [cell for cell in cells if cell is not None and not isinstance(cell, str)]
    named = {atom for cell in others for atom in ([cell] if _is_one(cell) else cell)}
    words = {cell.strip() for cell in cells if isinstance(cell, str)}
    known = words | {atom for atom in named if isinstance(atom, str)}
    singles = {word for word in words if not _is_expression(word, known)}
    inner = _inner_paths(singles)
    if inner:
        warnings.warn(
            f"factor '{name}': labels such as {min(inner)!r} are taken as nodes of a class tree, because other labels "
            "are longer paths; if they are classes of their own, declare the classes.",
            UnknotWarning,
            stacklevel=4,
        )
        return Hierarchy.from_paths(sorted({*singles, *map(str, named)}))
    found = {*singles, *(atom for cell in named if isinstance(cell, str) for atom in _atoms(cell))}
    numbers = [atom for atom in named if not isinstance(atom, str)]
    every = sorted(numbers) if not found else sorted({*found, *map(str, numbers)})
    if not every:
        raise DataError(f"factor '{name}': no label is known; give some, or leave it out.")
    return Hierarchy({str(one): None for one in every})


def _potential(cell: Any, tree: Hierarchy) -> Tensor:
    """Return the potential of every class, (K,), the largest of which is 1."""
    if cell is None:
        return torch.ones(len(tree.leaves))
    if isinstance(cell, Mapping):
        total = torch.zeros(len(tree.leaves))
        for label, weight in cell.items():
            if (
                isinstance(weight, bool)
                or not isinstance(weight, int | float | np.number)
                or not 0 <= weight < np.inf
            ):
                raise DataError(f"the weight of {label!r} is {weight!r}; a weight is a number of at least 0.")
            total += float(weight) * _allowed(label, tree)
        if not bool((total > 0).any()):
            raise DataError(f"all weights are 0 in {dict(cell)!r}; give one class at least a weight above 0.")
        return total / total.max()
    labels = [cell] if _is_one(cell) else list(cell)
    mask = torch.zeros(len(tree.leaves), dtype=torch.bool)
    for label in labels:
        mask |= _allowed(label, tree)
    if not bool(mask.any()):
        raise DataError(f"{cell!r} allows no class; name one at least, or None for an unknown label.")
    return mask.float()


def _allowed(label: Any, tree: Hierarchy) -> Tensor:
    """Return which classes a label allows, bool (K,)."""
    text = str(label).strip()
    if text in tree.parents or (OR not in text and not text.startswith(NOT)):
        if text not in tree.parents and SEPARATOR not in text:
            raise DataError(f"got {text}, expected one of the classes; {did_you_mean(text, tree.parents)}")
        return tree.mask([text])[0]
    if text.startswith(NOT):
        return ~_allowed(text[1:], tree)
    mask = torch.zeros(len(tree.leaves), dtype=torch.bool)
    for part in text.split(OR):
        mask |= _allowed(part, tree)
    return mask


def _atoms(word: str) -> list[str]:
    return [part.strip() for part in word.removeprefix(NOT).split(OR)]


def _is_one(cell: Any) -> bool:
    return isinstance(cell, str) or not isinstance(cell, Iterable)


def _is_absent(cell: Any) -> bool:
    if isinstance(cell, str):
        return not cell.strip()
    return _is_one(cell) and (is_missing(cell) or cell == UNKNOWN)


def _key(cell: Any) -> Hashable:
    """Return what is equal for equal labels."""
    if isinstance(cell, Mapping):
        return ("weights", *((str(name), str(weight)) for name, weight in cell.items()))
    return (
        str(cell)
        if cell is not None and _is_one(cell)
        else None
        if cell is None
        else ("any", *map(str, cell))
    )


# ---- votes -------------------------------------------------------------------------------------------------


def read_votes(
    name: str, given: Votes, size: int, classes: Sequence[Any] | Hierarchy | None = None
) -> Factor:
    """Read what raters report; classes are those that any of them reports, unless they are declared."""
    parts = dict(given.reported) if given.labels is None else {**given.reported, "": given.labels}
    if not given.reported:
        raise DataError(f"factor '{name}': votes need one rater at least.")
    for rater, column in parts.items():
        if len(column) != size:
            raise DataError(
                f"factor '{name}', rater '{rater}': {len(column)} votes for {size} items; give one per item."
            )
    every = list(_votes(parts.values()))
    whole = read_evidence(name, every, len(every), classes)
    if whole.evidence is not None:
        row = int((whole.values == UNKNOWN).nonzero()[0])
        raise DataError(f"factor '{name}': a rater reports one class or none, but got {every[row]!r}.")
    columns = whole.values.reshape(len(parts), size).T.contiguous()  # (N, M)
    votes, raters = columns[:, : len(given.reported)], tuple(map(str, given.reported))
    points = torch.full((size,), UNKNOWN) if given.labels is None else columns[:, -1]
    return Factor(
        name,
        "categorical",
        points.clone(),
        whole.classes,
        votes=votes.contiguous(),
        raters=raters,
        tree=whole.tree,
    )


def _votes(columns: Iterable[Any]) -> Iterator[Any]:
    for column in columns:
        yield from (column.tolist() if hasattr(column, "tolist") else column)


# ---- intervals of numbers ----------------------------------------------------------------------------------


def read_intervals(name: str, given: Any, size: int) -> Factor:
    """Read numbers and intervals: ``7.2``, ``(3, 5)``, ``(None, 2)``, ``"3-5"``, ``"<2"``, ``">10"``, None."""
    cells = list(given.tolist() if hasattr(given, "tolist") else given)
    if len(cells) != size:
        raise DataError(f"factor '{name}': {len(cells)} labels for {size} items; give one label per item.")
    ends = np.empty((size, 2))
    for row, cell in enumerate(cells):
        try:
            ends[row] = _ends(cell)
        except (TypeError, ValueError):
            raise DataError(
                f"factor '{name}', row {row}: got {cell!r}, expected a number, (low, high), '3-5', '<2' or '>10'."
            ) from None
        if not ends[row, 0] <= ends[row, 1]:
            raise DataError(
                f"factor '{name}', row {row}: got the interval {cell!r}, whose low end is above the high one."
            )
    interval = torch.from_numpy(ends.astype(np.float32))
    values = torch.where(interval[:, 0] == interval[:, 1], interval[:, 0], torch.nan)
    infinite = bool((values.isnan() & interval.isinf().all(1)).eq(values.isnan()).all())
    return Factor(name, "continuous", values, evidence=None if infinite else interval)


def _ends(cell: Any) -> tuple[float, float]:
    if isinstance(cell, tuple | list):
        low, high = cell
        return (-np.inf if is_missing(low) else float(low)), (np.inf if is_missing(high) else float(high))
    if is_missing(cell) or (isinstance(cell, str) and not cell.strip()):
        return -np.inf, np.inf
    if isinstance(cell, str):
        if found := _OPEN.fullmatch(cell):
            number = float(found[2])
            return (number, np.inf) if found[1] == ">" else (-np.inf, number)
        if found := _RANGE.fullmatch(cell):
            return float(found[1]), float(found[2])
    return float(cell), float(cell)
