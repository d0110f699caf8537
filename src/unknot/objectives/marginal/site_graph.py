"""The sites of an encoder and who depends on whom: ancestors of a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.core.node import Variable

# A variable's draws as rows: broadcast to further leading axes, or cut out and shifted along the batch.


def row_view(node: Variable, rows: Size) -> Variable:
    """The same draws over leading axes ``rows``, to which theirs broadcast."""
    if node.leading_shape == rows:
        return node
    value = _expanded(node.value, node, rows)
    unbounded = None if node.unbounded is None else _expanded(node.unbounded, node, rows)
    return twin(node, node.dist, value, unbounded, node.known, len(rows))


def over_items(node: Variable, items: int) -> Variable:
    """The same draws with a batch axis of size ``items``, for a draw or an observation that all items share."""
    if node.leading_shape[-1:] == (items,):
        return node
    view = row_view(node, torch.broadcast_shapes(node.leading_shape, (items,)))
    view.active = node.active
    return view


def shifted_rows(node: Variable, dist: Distribution, rows: Size, place: int, shift: int) -> Variable:
    """Draws (B, event...) at ``place`` among the flattened axes before the batch, item b at place b - shift.

    ``dist`` has the parameters of the items; so item c's parameters meet the draw of item c + shift.
    """

    def cut(tensor: Tensor) -> Tensor:
        full = _expanded(tensor, node, rows)
        event = full.shape[len(rows) :]
        return full.reshape(-1, rows[-1], *event)[place].roll(-shift, 0)

    known = node.known.roll(-shift, 0) if isinstance(node.known, Tensor) else node.known
    return twin(
        node, dist, cut(node.value), None if node.unbounded is None else cut(node.unbounded), known, 1
    )


def met_rows(node: Variable, rows: Size, place: int, others: Tensor) -> Variable:
    """Draws (M, B, event...) at ``place``, as :func:`shifted_rows` has them one by one: draw ``others[m, c]`` at c."""

    def cut(tensor: Tensor) -> Tensor:
        full = _expanded(tensor, node, rows)
        return full.reshape(-1, rows[-1], *full.shape[len(rows) :])[place][others]

    known = node.known[others] if isinstance(node.known, Tensor) else node.known
    unbounded = None if node.unbounded is None else cut(node.unbounded)
    return twin(node, node.dist, cut(node.value), unbounded, known, 2)


def twin(
    node: Variable,
    dist: Distribution,
    value: Tensor,
    unbounded: Tensor | None,
    known: Tensor | bool,
    leading: int,
) -> Variable:
    """A variable with another distribution and other values, scored as ``node`` is."""
    return node.replace(
        dist=dist,
        value=value,
        unbounded=unbounded,
        known=known,
        leading_dims=leading,
        active=None,
        source=None,
        label=None,
        scale=None,
        evidence=node.evidence if dist is node.dist else None,
    )


def _expanded(tensor: Tensor, node: Variable, rows: Size) -> Tensor:
    event = tensor.shape[node.leading_dims :]
    return tensor.reshape(*node.leading_shape, *event).expand(torch.Size((*rows, *event)))


@dataclass(frozen=True)
class SiteGraph:
    """``nodes`` by name, in the program's order, and the direct ``parents`` of each."""

    nodes: Mapping[str, Variable]
    parents: Mapping[str, Sequence[str]]

    @property
    def device(self) -> torch.device:
        return next(iter(self.nodes.values())).value.device

    def ancestors(self, names: Sequence[str]) -> list[str]:
        """``names`` and all that they depend on, in the program's order."""
        met, stack = set(names), list(names)
        while stack:
            for parent in self.parents[stack.pop()]:
                if parent not in met:
                    met.add(parent)
                    stack.append(parent)
        return [name for name in self.nodes if name in met]

    def outside(self, names: Sequence[str]) -> list[str]:
        """The ancestors of ``names`` that are not among them: what must be summed out."""
        return [name for name in self.ancestors(names) if name not in names]

    def inside(self, names: Sequence[str]) -> list[str]:
        """The parents of ``names`` that are among them: what keeps the row's value."""
        return [name for name in names if any(name in self.parents[child] for child in names)]

    def conditions(self, names: Sequence[str]) -> list[str]:
        """All sites that something in the ancestry of ``names`` depends on."""
        those = self.ancestors(names)
        return [name for name in those if any(name in self.parents[child] for child in those)]
