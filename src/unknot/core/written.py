"""Written: an ordered mapping from names to nodes in which every name is written once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Size, Tensor

from unknot.core import validation
from unknot.core.axes import merge
from unknot.core.finite import all_finite
from unknot.core.node import Node, Variable
from unknot.core.scope import Scopes, check_name
from unknot.errors import TraceError
from unknot.suggest import nearest


class Written(Scopes):
    """What has been written, under the names of the scopes in force; ``samples`` is how many draws each site has."""

    def __init__(self, samples: int | None = None) -> None:
        super().__init__()
        self.samples = samples
        self._nodes: dict[str, Node] = {}

    # ---- reading ------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:  # Node; Any lets programs read .dist without a cast
        if name in self._nodes:
            return self._nodes[name]
        near = nearest(name, self._nodes)
        hint = "" if near is None else f"did you mean '{near}'? "
        raise TraceError(
            f"the trace has no site '{name}'; {hint}It has: {', '.join(self._nodes) or 'none yet'}. "
            f"Use trace.get('{name}') if it may be absent."
        )

    def get(self, name: str) -> Any:
        """The node called ``name`` if there is one, else None: ``value=q.get("z")`` reuses z or draws it."""
        return self._nodes.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def items(self) -> list[tuple[str, Node]]:
        """Names and nodes in the order in which the program made them."""
        return list(self._nodes.items())

    def nodes(self) -> list[Node]:
        """All nodes in the order in which the program made them."""
        return list(self._nodes.values())

    def variables(self) -> list[Variable]:
        """The random variables among the nodes."""
        return [node for node in self._nodes.values() if isinstance(node, Variable)]

    def log_prob(self, *names: str) -> Tensor:
        """Sum of the log-probabilities of the sites called ``names``, or of all: one value per item."""
        chosen = [self[name] for name in names] if names else self.nodes()
        if not chosen:
            return torch.zeros(())
        total = chosen[0].scored()
        for node in chosen[1:]:
            total = total + node.scored()
        if validation.is_on() and not all_finite([total]):
            validation.look_again(chosen)
        return total

    @property
    def leading_shape(self) -> Size:
        """Sizes of the leading axes: ``(B,)``, ``(S, B)`` or ``(K, ..., S, B)``."""
        return self._leading

    def __repr__(self) -> str:
        rows = [f"  {name}: {_describe(node)}" for name, node in self._nodes.items()]
        return "\n".join([f"Trace(samples={self.samples}) with {len(rows)} sites", *rows])

    # ---- writing ------------------------------------------------------------------------------------

    def _full_name(self, name: str) -> str:
        check_name(name)
        full = f"{self._prefix}.{name}" if self._prefix else name
        self._refuse_repeat(full)
        return full

    def _refuse_repeat(self, full: str) -> None:
        if full in self._nodes:
            raise TraceError(
                f"site '{full}' exists already: a trace is written once. In a loop, put each turn in "
                "`with trace.scope('name', k):`"
            )

    def _store(self, full: str, node: Node) -> None:
        seen, leading = node.leading_shape, self._leading
        shared = min(len(seen), len(leading))
        if seen[len(seen) - shared :] != leading[len(leading) - shared :]:
            self._leading = merge(full, seen, leading)
        elif len(seen) > len(leading):
            self._leading = seen
        self._nodes[full] = node


def _describe(node: Node) -> str:
    kind = type(node.dist).__name__ if isinstance(node, Variable) else type(node).__name__
    state = {True: "observed", False: "drawn"}.get(node.known) if isinstance(node.known, bool) else None
    if state is None and isinstance(node.known, Tensor):
        state = f"{int(node.known.sum())} of {node.known.numel()} items observed"
    return f"{kind} {tuple(node.value.shape)}, {state}"
