"""Codes and factors of the same items in one .npz file: what `unknot metrics` reads, and what a sweep keeps of a run.

Arrays of one row an item: ``codes`` and ``factors``, or one array for each, ``code.NAME``, ``probabilities.NAME`` (rows
q(c|x) of a categorical code) and ``factor.NAME``. ``divergence.NAME``, one number a code, says how far it is from its
prior, and whether it is alive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.npz_arrays import open_npz
from unknot.errors import DataError
from unknot.files import atomic_file
from unknot.metrics import Probabilities


@dataclass(frozen=True)
class Codes:
    """``codes`` and ``factors`` by name, ``(N,)``, ``(N, D)`` or Probabilities; ``divergences`` ``(D,)`` by code."""

    codes: Mapping[str, Any]
    factors: Mapping[str, Any] = field(default_factory=dict)
    divergences: Mapping[str, np.ndarray] = field(default_factory=dict)

    def columns_of_divergences(self) -> np.ndarray | None:
        """One number a column of the codes, or None where some code has none."""
        if not all(name in self.divergences for name in self.codes):
            return None
        return np.concatenate([self.divergences[name] for name in self.codes])


def read_codes(path: Path) -> Codes:
    """The codes and, if it has any, the factors of a file."""
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    with explain_broken_file(path, "an .npz without pickled objects"), open_npz(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    codes: dict[str, Any] = {}
    factors: dict[str, Any] = {}
    divergences: dict[str, np.ndarray] = {}
    for name, values in arrays.items():
        kind, _, part = name.partition(".")
        if kind in ("codes", "code"):
            codes[part or "code"] = values
        elif kind == "probabilities":
            codes[part or "class"] = Probabilities(values)
        elif kind in ("factors", "factor"):
            factors[part or "factor"] = values
        elif kind == "divergence":
            divergences[part] = values
    if not codes:
        raise DataError(f"{path} has no codes: {_needed(arrays)}")
    return Codes(codes, factors, divergences)


def read_codes_and_factors(path: Path) -> Codes:
    """As :func:`read_codes`; a file without factors is refused."""
    found = read_codes(path)
    if not found.factors:
        with open_npz(path) as archive:
            raise DataError(f"{path} has no factors: {_needed(archive.files)}")
    return found


def write_codes(path: Path, made: Codes) -> None:
    """Write a file that :func:`read_codes` reads, whole or not at all."""
    arrays: dict[str, Any] = {f"factor.{name}": np.asarray(values) for name, values in made.factors.items()}
    arrays |= {f"divergence.{name}": np.asarray(values) for name, values in made.divergences.items()}
    for name, values in made.codes.items():
        soft = isinstance(values, Probabilities)
        arrays[f"probabilities.{name}" if soft else f"code.{name}"] = (
            values.values if soft else np.asarray(values)
        )
    with atomic_file(path) as stream:
        np.savez_compressed(stream, **arrays)


def _needed(arrays: Any) -> str:
    return (
        "it needs arrays `codes` and `factors`, or `code.NAME` and `factor.NAME`, and has "
        f"{', '.join(arrays) or 'none'}."
    )
