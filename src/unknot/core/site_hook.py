"""The hook by which a running program tells of its sites; :mod:`unknot.graph` listens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from unknot.core.node import Node
    from unknot.core.trace import Trace


class SiteHook(Protocol):
    """Something that is told of every site as it is made, before the program sees the site's value."""

    def site(self, trace: Trace, node: Node) -> None: ...


_hook: SiteHook | None = None


def announce(trace: Trace, node: Node) -> None:
    """Tell the hook, if there is one, of a new site."""
    if _hook is not None:
        _hook.site(trace, node)


@contextmanager
def unheard() -> Iterator[None]:
    """Sites of traces written inside the block are told to nobody: a program's own sums, not a part of its model."""
    global _hook
    before = _hook
    _hook = None
    try:
        yield
    finally:
        _hook = before


@contextmanager
def listening(hook: SiteHook) -> Iterator[None]:
    """Have ``hook`` told of the sites of all traces written inside the block. Blocks nest."""
    global _hook
    before = _hook
    _hook = hook
    try:
        yield
    finally:
        _hook = before
