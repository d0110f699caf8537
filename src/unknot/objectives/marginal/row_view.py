"""A variable's draws as rows: broadcast to further leading axes, or cut out and shifted along the batch."""

from __future__ import annotations

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.core.node import Variable


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
    )


def _expanded(tensor: Tensor, node: Variable, rows: Size) -> Tensor:
    event = tensor.shape[node.leading_dims :]
    return tensor.reshape(*node.leading_shape, *event).expand(torch.Size((*rows, *event)))
