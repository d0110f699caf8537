"""The hook by which a running program tells of its sites; :mod:`unknot.graph` listens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from unknot.core.node import Node
    from unknot.core.trace import Trace


class Recorder(Protocol):
    """Something that is told of every site as it is made, before the program sees the site's value."""

    def site(self, trace: Trace, node: Node) -> None: ...


_recorder: Recorder | None = None


def record(trace: Trace, node: Node) -> None:
    """Tell the recorder, if there is one, of a new site."""
    if _recorder is not None:
        _recorder.site(trace, node)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Have ``recorder`` told of the sites of all traces written inside the block. Blocks nest."""
    global _recorder
    before = _recorder
    _recorder = recorder
    try:
        yield
    finally:
        _recorder = before
