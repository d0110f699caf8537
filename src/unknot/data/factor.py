"""Factors: the labels of one kind for every item, with a mark for unknown labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor

from unknot.data.hierarchy import Hierarchy
from unknot.errors import DataError

Kind = Literal["categorical", "continuous", "count", "binary"]
KINDS: tuple[str, ...] = get_args(Kind)
DeclaredKind = Literal["categorical", "continuous", "count", "binary", "interval"]
DECLARED_KINDS: tuple[str, ...] = get_args(
    DeclaredKind
)  # "interval": continuous, with intervals among the labels
UNKNOWN = -1  # for integer kinds; continuous factors use NaN


@dataclass(frozen=True)
class Factor:
    """The labels of one factor, one row per item.

    A label that does not exist for an item (the second digit of a picture with one digit) is stored as unknown. A
    second mark for it would reveal the number of digits even where that label is hidden.

    The constructor checks types and shapes; ``refuse_wrong_values`` checks every value and is called before batching.

    Parameters
    ----------
    name : str
        The name of the factor.
    kind : {"categorical", "binary", "count", "continuous"}
        What its values are.
    values : Tensor
        int64 ``(N,)``: an index into ``classes``, 0 or 1, or a whole number, -1 for unknown. For a continuous factor
        float32 ``(N,)`` or ``(N, D)``, with NaN in every entry of an unknown row.
    classes : tuple of str, optional
        The names of the classes of a categorical factor.
    evidence : Tensor of float32, optional
        What is known about items without a single value. Of a factor with K classes log-potentials ``(N, K)``, whose
        rows are 0 for unknown items and the logarithm of a one-hot vector for items with one class; of a continuous
        factor the ends ``(N, 2)`` of intervals, infinite where they are open.
    votes : Tensor of int64, shape (N, M), optional
        The classes that M raters report, -1 where there is none.
    raters : tuple of str
        The names of the M raters.
    tree : Hierarchy, optional
        A tree whose leaves are the classes.
    """

    name: str
    kind: Kind
    values: Tensor
    classes: tuple[str, ...] | None = None
    evidence: Tensor | None = None
    votes: Tensor | None = None
    raters: tuple[str, ...] = ()
    tree: Hierarchy | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(f"factor '{self.name}': kind is one of {', '.join(KINDS)}, got {self.kind!r}.")
        if self.kind == "categorical" and not self.classes:
            raise DataError(f"factor '{self.name}': a categorical factor needs the names of its classes.")
        dtype = torch.float32 if self.kind == "continuous" else torch.int64
        if self.values.dtype != dtype:
            raise DataError(
                f"factor '{self.name}': {self.kind} values are {dtype}, got {self.values.dtype}; "
                f"convert them, or build the data set with unknot.data.from_arrays."
            )
        axes = (1, 2) if self.kind == "continuous" else (1,)
        if self.values.ndim not in axes:
            raise DataError(
                f"factor '{self.name}': {self.kind} values have {' or '.join(map(str, axes))} axes, "
                f"got shape {tuple(self.values.shape)}."
            )
        self._refuse_wrong_shapes()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def known(self) -> Tensor:
        """Which items have one value as their label, bool ``(N,)``."""
        return known_rows(self.values)

    @property
    def observed(self) -> Tensor:
        """Which items have a label of any form, also votes, several classes or an interval, bool ``(N,)``."""
        rows = self.known
        if self.evidence is not None:
            rows = rows | (self.evidence != self._no_evidence).any(1)
        return rows if self.votes is None else rows | (self.votes != UNKNOWN).any(1)

    @property
    def num_classes(self) -> int:
        """The number of values that a categorical or binary factor can have."""
        if self.kind == "categorical" and self.classes is not None:
            return len(self.classes)
        if self.kind == "binary":
            return 2
        raise DataError(f"factor '{self.name}' is {self.kind}: it has no fixed number of classes.")

    def refuse_wrong_values(self) -> None:
        """Refuse impossible values: a class out of range, a negative count, infinity."""
        wrong = self._wrong_rows()
        if wrong.any():
            row = int(wrong.nonzero()[0])
            value = self.values[row].tolist()
            raise DataError(f"factor '{self.name}', row {row}: got {value}, expected {self.expected()}.")

    def expected(self) -> str:
        """Return in words what a value of this factor may be, for messages."""
        if self.kind == "continuous":
            return "finite numbers, or NaN in every entry of the row for unknown"
        if self.kind == "count":
            return "a whole number from 0, or -1 for unknown"
        return f"a class from 0 to {self.num_classes - 1}, or -1 for unknown"

    def hide(self, keep: Tensor) -> Factor:
        """Return the factor with every label outside the mask ``keep`` (N,) made unknown."""
        mask = keep if self.values.ndim == 1 else keep[:, None]
        unknown = float("nan") if self.kind == "continuous" else UNKNOWN
        return replace(
            self,
            values=torch.where(mask, self.values, unknown),
            evidence=None
            if self.evidence is None
            else torch.where(keep[:, None], self.evidence, self._no_evidence),
            votes=None if self.votes is None else torch.where(keep[:, None], self.votes, UNKNOWN),
        )

    def select(self, rows: Tensor) -> Factor:
        """Return the factor for the given ``rows``."""
        return self._each(lambda one: one.index_select(0, rows))

    def to(self, device: torch.device | str) -> Factor:
        """Return the factor on another ``device``."""
        return self._each(lambda one: one.to(device))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Factor:
        evidence = None if self.evidence is None else change(self.evidence)
        votes = None if self.votes is None else change(self.votes)
        return replace(self, values=change(self.values), evidence=evidence, votes=votes)

    @property
    def _no_evidence(self) -> Tensor:
        """The evidence row of an unknown item."""
        assert self.evidence is not None
        if self.kind == "continuous":
            return self.evidence.new_tensor([-torch.inf, torch.inf])
        return self.evidence.new_zeros(())

    def _refuse_wrong_shapes(self) -> None:
        n = len(self.values)
        if self.evidence is not None:
            width = 2 if self.kind == "continuous" else self.num_classes
            if self.evidence.shape != (n, width):
                raise DataError(
                    f"factor '{self.name}': evidence has shape ({n}, {width}), got {tuple(self.evidence.shape)}."
                )
        if self.votes is not None and self.votes.shape != (n, len(self.raters)):
            raise DataError(
                f"factor '{self.name}': votes of {len(self.raters)} raters have shape ({n}, {len(self.raters)}), got "
                f"{tuple(self.votes.shape)}."
            )

    def _wrong_rows(self) -> Tensor:
        v = self.values
        if self.kind == "continuous":
            rows = v.reshape(len(v), -1)  # (N, D)
            missing = rows.isnan()
            return rows.isinf().any(1) | (missing.any(1) & ~missing.all(1))
        if self.kind == "count":
            return v < UNKNOWN
        return (v < UNKNOWN) | (v >= self.num_classes)


def known_rows(values: Tensor) -> Tensor:
    """Return which rows of label values are known, bool ``(N,)``: not -1 (integers) or NaN (floats)."""
    if values.is_floating_point():
        present = ~values.isnan()
        return present if present.ndim == 1 else present.all(-1)
    return values != UNKNOWN
