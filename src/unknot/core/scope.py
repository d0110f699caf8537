"""Names and masks of sub-models: prefixes such as ``digit[2].``, and ``where`` blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Size, Tensor

from unknot.errors import TraceError

_NUMBERED = re.compile(r"\[\d+\]")


def join(prefix: str, parts: Sequence[str | int]) -> str:
    """Append to a prefix: words with a dot, indices in brackets.

    >>> join("", ["digit", 2])
    'digit[2]'
    >>> join("digit[2]", ["style"])
    'digit[2].style'
    """
    for part in parts:
        if isinstance(part, int):
            if not prefix:
                raise TraceError(f"a scope starts with a name, not with the index {part}")
            prefix = f"{prefix}[{part}]"
        else:
            prefix = f"{prefix}.{part}" if prefix else part
    return prefix


def check_name(name: str) -> None:
    """Refuse names that would read as a numbered scope; anything else that a column may be called is fine."""
    if not isinstance(name, str) or not name or _NUMBERED.search(name):
        raise TraceError(
            f"a site's name is a text without an index in brackets, but got {name!r}; "
            "for names like digit[2].style use `with trace.scope('digit', 2):`"
        )


class Scopes:
    """The prefix and the mask under which a trace creates sites now."""

    def __init__(self) -> None:
        self._prefix = ""
        self._active: Tensor | None = None
        self._leading = Size()  # sizes of the leading axes seen so far

    @contextmanager
    def scope(self, *parts: str | int) -> Iterator[None]:
        """Prefix the names of the sites created inside: ``with trace.scope("digit", k): ...``

        ``parts`` are words and indices: ``scope("digit", 2)`` makes ``digit[2].y`` of ``y``. Blocks nest.
        """
        before = self._prefix
        self._prefix = join(before, parts)
        try:
            yield
        finally:
            self._prefix = before

    @contextmanager
    def where(self, active: Tensor) -> Iterator[None]:
        """Switch items off: sites inside count, for items where ``active`` is false, exactly zero.

        ``active`` is a boolean mask over leading axes, ``(B,)`` or ``(S, B)`` or, if it comes from an
        enumerated site, ``(K, S, B)``. Blocks nest.
        """
        self._check_mask("where()", active)
        before = self._active
        self._active = active if before is None else before & active
        try:
            yield
        finally:
            self._active = before

    def _check_mask(self, method: str, active: Tensor) -> None:
        kind = active.dtype if isinstance(active, Tensor) else type(active).__name__
        if kind != torch.bool:
            raise TraceError(
                f"{method} takes a mask of booleans, a tensor, but got {kind}; write `k < count`"
            )
        self._check_per_item(f"the mask of {method}", active)

    def _check_per_item(self, what: str, given: Tensor) -> None:
        batch = self._leading[-1] if self._leading else 1
        shared = given.ndim == 0 or given.shape == (1,)  # one entry for all items
        if not shared and batch > 1 and given.shape[-1] != batch:
            raise TraceError(
                f"{what} has shape {tuple(given.shape)}; expected one entry per item: leading axes only, the last of "
                f"which is the batch of {batch} items"
            )
