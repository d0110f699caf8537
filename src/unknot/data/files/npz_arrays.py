"""The arrays of an .npz file, read without pickle."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from unknot.data.files.broken_file import explain_broken_file


def read_npz(path: Path, *names: str) -> dict[str, np.ndarray]:
    """The named arrays; a file without one of them is broken."""
    with explain_broken_file(path, f"an .npz with {', '.join(names)}"), open_npz(path) as archive:
        return {name: archive[name] for name in names}


@contextlib.contextmanager
def open_npz(path: Path) -> Iterator[NpzFile]:
    """The opened file; closed even when it turns out not to be an .npz."""
    with path.open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, NpzFile):
            raise ValueError("it is a single array")
        yield archive
