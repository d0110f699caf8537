"""Which variable depends on which, read from a program while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from unknot.core.node import Node
    from unknot.core.trace import Trace


class Recorder(Protocol):
    """Something that is told of every site as it is made."""

    def site(self, trace: Trace, node: Node) -> None: ...


_recorder: Recorder | None = None


def record(trace: Trace, node: Node) -> None:
    """Tell the recorder, if there is one, of a new site."""
    if _recorder is not None:
        _recorder.site(trace, node)
