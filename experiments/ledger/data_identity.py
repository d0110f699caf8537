"""Which data a run read: the name and the fingerprint of every data set that is loaded while it runs."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

LOGGER = logging.getLogger("unknot.data")  # ``unknot.data.load`` logs what it returns
_MESSAGE = "loaded %s, fingerprint %s"


@contextmanager
def recorded_data() -> Iterator[dict[str, str]]:
    """Collect fingerprints by name of the data sets that are loaded inside the block."""
    found: dict[str, str] = {}

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.msg == _MESSAGE and isinstance(record.args, tuple):
                name, fingerprint = map(str, record.args)
                found[name] = fingerprint[:12]

    handler, level = Collector(logging.DEBUG), LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    try:
        yield found
    finally:
        LOGGER.setLevel(level)
        LOGGER.removeHandler(handler)


def note_data(name: str, *arrays: np.ndarray) -> None:
    """Note data that an experiment reads itself, by their content."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode())
        if array.dtype.kind == "O":
            digest.update("\x00".join(map(str, array.ravel())).encode())
        else:
            digest.update(np.ascontiguousarray(array).tobytes())
    LOGGER.debug(_MESSAGE, name, digest.hexdigest())
