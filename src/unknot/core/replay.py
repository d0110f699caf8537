"""A switch that makes programs observe the values of another trace instead of drawing.

A recogniser is asked how likely it finds what an item was made from: inside :func:`replay` every site that would be
drawn or enumerated is observed instead, at the value that the other trace has under the same name. Sites that the other
trace does not have, and values that the program is given, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from unknot.core.trace import Trace

_source: Trace | None = None


@contextmanager
def replay(trace: Trace) -> Iterator[None]:
    """Inside, programs take the values of ``trace``, by name, as observations. They carry no gradient.

    >>> import torch
    >>> from unknot import Trace
    >>> p = Trace()
    >>> _ = p.normal(torch.zeros(3), 1.0, value=torch.tensor([0.0, 1.0, 2.0]), name="z")
    >>> q = Trace()
    >>> with replay(p):
    ...     q.normal(torch.zeros(3), 1.0, name="z")
    tensor([0., 1., 2.])
    >>> q["z"].known
    True
    """
    global _source
    before = _source
    _source = trace
    try:
        yield
    finally:
        _source = before


def replayed(name: str) -> Tensor | None:
    """The value that a site of that name observes now, if there is one."""
    if _source is None or name not in _source:
        return None
    value: Tensor = _source[name].value
    return value.detach()
