"""Codes and factors as columns: which are categories, which are numbers, what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.protocols import protocol_name, settings
from unknot.missing import missing_entries

Arrays = Any
"""``(N, D)`` or ``(N,)`` of anything numpy reads, a mapping from name to such arrays, a frame, or Columns."""

Discrete = bool | Sequence[bool] | None
"""Which columns are categories: all, none, one answer a column; None goes by the type of the array."""


class Probabilities:
    """One categorical code given by its probabilities ``(N, K)``, q(c|x), instead of by its value.

    E19's I(y;c) averages them; every other score takes the likeliest category.
    """

    def __init__(self, values: Any) -> None:
        try:
            self.values = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            self.values = np.empty(0)
        rows_add_up = self.values.ndim == 2 and np.allclose(self.values.sum(-1), 1.0, atol=1e-3)
        if not rows_add_up or (self.values < 0).any():
            raise DataError("Probabilities are rows (N, K) of numbers from 0 that add up to 1; these do not.")


@dataclass(frozen=True)
class Columns:
    """``values`` ``(N, D)``: numbers as they are, categories as 0, 1, ...; ``sizes``: categories, 0 for a number."""

    what: str
    names: tuple[str, ...]
    values: np.ndarray
    sizes: tuple[int, ...]
    soft: Mapping[int, np.ndarray] = field(default_factory=dict)

    @property
    def discrete(self) -> np.ndarray:
        """``(D,)``: whether a column is a category."""
        return np.array(self.sizes) > 0

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, index: np.ndarray) -> Columns:
        """The columns at some rows."""
        soft = {column: values[index] for column, values in self.soft.items()}
        return replace(self, values=self.values[index], soft=soft)

    def only(self, chosen: np.ndarray) -> Columns:
        """Some of the columns; ``chosen`` is ``(D,)`` of booleans."""
        kept = np.flatnonzero(chosen).tolist()
        return Columns(
            self.what,
            tuple(self.names[i] for i in kept),
            self.values[:, kept],
            tuple(self.sizes[i] for i in kept),
            {new: self.soft[old] for new, old in enumerate(kept) if old in self.soft},
        )


def read_columns(values: Arrays, discrete: Discrete, what: str) -> Columns:
    """Columns from arrays, checked; ``what`` ("codes", "factors") is how errors call them.

    >>> read_columns({"digit": [3, 1, 3], "style": [[0.1, 1.0], [0.2, 2.0], [0.3, 3.0]]}, None, "codes").names
    ('digit', 'style[0]', 'style[1]')
    """
    if isinstance(values, Columns):
        return values
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        values = _frame_columns(values, what)
    parts = values if isinstance(values, Mapping) else {what.removesuffix("s"): values}
    named = not isinstance(values, Mapping)
    names: list[str] = []
    columns: list[np.ndarray] = []
    soft: dict[int, np.ndarray] = {}
    for name, part in parts.items():
        if isinstance(part, Probabilities):
            soft[len(columns)] = part.values
            names.append(name)
            columns.append(part.values.argmax(-1))
            continue
        array = _two_axes(part, what)
        single = array.shape[1] == 1 and not (named and np.ndim(part) == 2)
        names += [name if single else f"{name}[{i}]" for i in range(array.shape[1])]
        columns += list(array.T)
    if not columns:
        raise DataError(f"The {what} are empty: at least one column is needed.")
    lengths = sorted({len(column) for column in columns})
    if len(lengths) > 1:
        raise DataError(
            f"The {what} have different lengths, {', '.join(map(str, lengths))}: one row an item."
        )
    kinds = _kinds(discrete, columns, soft, what)
    read = [_column(c, kind, f"{what}: {n}") for c, kind, n in zip(columns, kinds, names, strict=True)]
    sizes = [soft[i].shape[1] if i in soft else size for i, (_, size) in enumerate(read)]
    return Columns(what, tuple(names), np.stack([column for column, _ in read], 1), tuple(sizes), soft)


def read_pair(
    codes: Arrays, factors: Arrays, discrete: Discrete, discrete_factors: Discrete
) -> tuple[Columns, Columns]:
    """Codes and factors of the same items; a factor that never changes is refused."""
    read = read_columns(codes, discrete, "codes"), read_columns(factors, discrete_factors, "factors")
    if len(read[0]) != len(read[1]):
        raise DataError(
            f"There are {len(read[0])} rows of codes and {len(read[1])} of factors: both need one row an item."
        )
    constant = [name for name, c in zip(read[1].names, read[1].values.T, strict=True) if (c == c[0]).all()]
    if constant:
        raise DataError(
            f"{', '.join(constant)} has one value in all {len(read[1])} rows, so nothing can be said of it: "
            "leave it out."
        )
    return read


def at_most(
    codes: Columns, factors: Columns, points: int | None, seed: int | None
) -> tuple[Columns, Columns]:
    """Draw at most ``points`` rows by the seed; all of them if there are no more."""
    if points is None or len(codes) <= points:
        return codes, factors
    chosen = np.random.default_rng(seed).permutation(len(codes))[:points]
    return codes.rows(chosen), factors.rows(chosen)


def _frame_columns(frame: Any, what: str) -> dict[str, Any]:
    """The columns of a frame of pandas by name, each of its own type."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        raise DataError(f"The {what} have two columns of the same name: rename one of them.")
    return {name: frame[column] for name, column in zip(names, frame.columns, strict=True)}


def _two_axes(part: Any, what: str) -> np.ndarray:
    if hasattr(part, "detach"):  # a tensor, perhaps with gradients, or of a type that numpy has not
        part = part.detach().cpu()
        part = part.double() if part.is_floating_point() else part
    if np.ma.is_masked(part):
        raise DataError(f"The {what} have entries that are masked out: leave these rows out.")
    try:
        array = np.asarray(part)
    except ValueError as error:
        raise DataError(f"The {what} are not an array: their rows have different lengths.") from error
    if array.ndim not in (1, 2) or array.size == 0:
        raise DataError(
            f"The {what} must be (items, columns) or (items,), and not empty; they have shape {array.shape}."
        )
    return array[:, None] if array.ndim == 1 else array


def _kinds(
    discrete: Discrete, columns: list[np.ndarray], soft: Mapping[int, np.ndarray], what: str
) -> list[bool]:
    """For each column whether it is a category."""
    if discrete is None:
        return [i in soft or not np.issubdtype(c.dtype, np.floating) for i, c in enumerate(columns)]
    if isinstance(discrete, bool | np.bool_):
        return [i in soft or bool(discrete) for i in range(len(columns))]
    answers = [bool(answer) for answer in discrete]
    if len(answers) != len(columns):
        raise DataError(
            f"`discrete` has {len(answers)} answers for {len(columns)} columns of {what}: one a column, "
            "or a single True or False."
        )
    return [i in soft or answer for i, answer in enumerate(answers)]


def _column(values: np.ndarray, discrete: bool, where: str) -> tuple[np.ndarray, int]:
    """A column as floats, and how many categories it has (0: a number)."""
    if np.issubdtype(values.dtype, np.number) and not np.isfinite(values).all():
        rows = int((~np.isfinite(values)).sum())
        raise DataError(f"{where} has {rows} values that are not finite numbers: leave these rows out.")
    if values.dtype == object and (absent := missing_entries(values)).any():
        raise DataError(f"{where} has {int(absent.sum())} values that are missing: leave these rows out.")
    if not discrete:
        try:
            return values.astype(float), 0
        except (TypeError, ValueError) as error:
            raise DataError(f"{where} holds text, so it is discrete; it cannot be a number.") from error
    try:
        found, index = np.unique(values, return_inverse=True)
    except TypeError:
        raise DataError(f"{where} holds words and numbers: make it one or the other.") from None
    if len(found) > max(len(values) / 2, 2):
        raise DataError(
            f"{where} has {len(found)} different values in {len(values)} rows, too many for categories: "
            "say that it is not discrete if it is a number."
        )
    return index.reshape(-1).astype(float), len(found)


# What every score does first: read the arrays, find the constants, keep to the protocol's number of rows.


@dataclass(frozen=True)
class Prepared:
    """Codes and factors of the same rows, the constants, and the words a result begins with."""

    codes: Columns
    factors: Columns
    settings: Any
    said: dict[str, Any]


def prepare(
    score: str,
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete,
    discrete_factors: Discrete,
    seed: int | None,
    protocol: Any,
) -> Prepared:
    """Read, check and cut to the rows the protocol takes."""
    chosen = settings(score, protocol)
    read_codes, read_factors = read_pair(codes, factors, discrete, discrete_factors)
    kept = at_most(read_codes, read_factors, chosen.points, seed)
    return Prepared(*kept, chosen, {"score": score, "protocol": protocol_name(score, protocol)})


# ---- Which codes are alive: those that vary at all -------------------------------------------------------


def live_codes(codes: Columns, dead_below: float) -> np.ndarray:
    """``(D,)``: whether a code's standard deviation reaches ``dead_below``; a category's is that of its one-hot vector.

    A category that nearly all items share hardly varies, as a pruned number does, and would win every vote for the code
    that stands still. With 0 every code counts as alive.
    """
    if dead_below == 0:
        return np.ones(len(codes.names), dtype=bool)
    spread = np.array(
        [_deviation(column, size) for column, size in zip(codes.values.T, codes.sizes, strict=True)]
    )
    return spread >= dead_below


def _deviation(column: np.ndarray, size: int) -> float:
    """Of a number its standard deviation, of a category √(1 - Σ_c p_c²), Gini's variance to the half."""
    if not size:
        return float(column.std())
    share = np.bincount(column.astype(int), minlength=size) / len(column)
    return float(np.sqrt(max(0.0, 1 - (share**2).sum())))
