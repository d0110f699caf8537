"""What a site's ``value=`` can be besides a tensor: partial observations, and given values for generation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from unknot.errors import TraceError
from unknot.schema import shown


@dataclass(frozen=True)
class Partial:
    """Values ``(B, event...)`` and a mask ``(B,)`` of the items for which they are known.

    Make one with :func:`partial`. What stands in ``values`` where ``known`` is false is never used.
    """

    values: Tensor
    known: Tensor


def partial(values: Any, known: Any = None) -> Partial:
    """Say which items' values are known: the one way to supervise, at any site, item by item.

    Arguments:

    * ``values``: one value per item, ``(B, event...)``; what stands where nothing is known is never read;
    * ``known``: a boolean per item, ``(B,)``. Without it, -1 marks an unknown class (integers) and NaN an unknown
      number (floats); an item with a NaN in any of its entries is unknown.

    Returns a :class:`Partial`, for a site's ``value=``.

    >>> partial(torch.tensor([3, -1, 7])).known
    tensor([ True, False,  True])
    >>> partial(torch.tensor([[0.1, 0.2], [float("nan"), 0.0]])).known
    tensor([ True, False])
    >>> partial(torch.tensor([3, 5]), known=[True, False]).known
    tensor([ True, False])
    """
    try:
        values = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):  # words, None, rows of different length
        raise TraceError(
            "partial() takes numbers, one value per item, of which -1 is an unknown class and NaN an unknown number; "
            f"got {shown(values)}"
        ) from None
    if values.ndim == 0:
        raise TraceError("partial() takes one value per item, shape (B, ...), but got a single number")
    if known is None:
        known = _known_from(values)
    known = torch.as_tensor(known, dtype=torch.bool, device=values.device)
    if known.shape != values.shape[:1]:
        raise TraceError(
            f"partial() takes one known flag per item: values of shape {tuple(values.shape)} need known of "
            f"shape ({values.shape[0]},), but got {tuple(known.shape)}"
        )
    return Partial(values, known)


def _known_from(values: Tensor) -> Tensor:
    present = values >= 0 if not values.is_floating_point() else ~torch.isnan(values)
    return present if present.ndim == 1 else present.flatten(1).all(1)


@dataclass(frozen=True)
class FromPrior:
    """As a site's ``value=``: draw it from the site's own distribution, for ``batch`` items.

    ``event_dims`` is how many axes one item's value has, where that is known from elsewhere: parameters of as many
    numbers as there are items could be one vector for all of them, or one number each.
    """

    batch: int
    event_dims: int | None = field(default=None, repr=False)


class GivenValues:
    """Stands where a decoder expects q: given values for some sites, draws from the prior for the rest.

    Make one with :func:`given`.
    """

    def __init__(
        self, batch: int, values: dict[str, Tensor | Partial], prefix: str = "", asked: set[str] | None = None
    ) -> None:
        self.batch = batch
        self.values = values
        self.prefix = prefix
        # full names, shared with the parts below a prefix
        self._asked = asked if asked is not None else set()
        self._event_dims: Mapping[str, int] = {}  # by full name

    def with_event_dims(self, event_dims: Mapping[str, int]) -> GivenValues:
        """The same, for sites of which it is known how many axes one item's value has."""
        twin = GivenValues(self.batch, self.values, self.prefix, self._asked)
        twin._event_dims = event_dims
        return twin

    def __getitem__(self, name: str) -> Tensor | Partial | FromPrior:
        full = self.prefix + name
        self._asked.add(full)
        return self.values.get(name, FromPrior(self.batch, self._event_dims.get(full)))

    def get(self, name: str) -> Tensor | Partial | FromPrior:
        """The same as ``given[name]``: whatever is not given is drawn, so nothing is ever missing."""
        return self[name]

    def __contains__(self, name: str) -> bool:
        return True

    def under(self, *prefix: str | int) -> GivenValues:
        """The given values below a prefix, for a sub-model: see :meth:`unknot.Trace.under`."""
        from unknot.core.trace import join

        start = join("", prefix) + "."
        below = {name[len(start) :]: v for name, v in self.values.items() if name.startswith(start)}
        part = GivenValues(self.batch, below, self.prefix + start, self._asked)
        return part.with_event_dims(self._event_dims)

    @property
    def asked(self) -> set[str]:
        """The names that sites have asked for: of a program's sites, all but its data."""
        return set(self._asked)

    @property
    def unused(self) -> set[str]:
        """Given names that no site has asked for: most often a misspelling."""
        return {name for name in self.values if self.prefix + name not in self._asked}


def given(batch: int, values: dict[str, Any] | None = None, **more: Any) -> GivenValues:
    """Run a decoder on nothing, or on some sites: ``decoder(None, unknot.given(64, digit=3))``.

    Arguments:

    * ``batch``: how many items are made;
    * ``values``: a dictionary from site to value, for names with dots; each value is a tensor ``(batch, ...)``, a
      partial observation, or one number or vector for the whole batch;
    * ``more``: the same as keywords.

    Returns what stands where the decoder expects q. Sites that are not given are drawn from the prior.

    >>> threes = given(4, digit=3)
    >>> threes["digit"]
    tensor([3, 3, 3, 3])
    >>> threes["style"]
    FromPrior(batch=4)
    """
    if batch < 1:
        raise TraceError(f"given() makes a batch of at least one item, but batch is {batch}")
    return GivenValues(
        batch, {name: _expanded(name, v, batch) for name, v in {**(values or {}), **more}.items()}
    )


def _expanded(name: str, value: Any, batch: int) -> Tensor | Partial:
    if isinstance(value, Partial):
        return value
    tensor = torch.as_tensor(value)
    if tensor.ndim == 0 or (tensor.ndim == 1 and tensor.is_floating_point() and tensor.shape[0] != batch):
        return tensor.expand(batch, *tensor.shape)
    if tensor.shape[0] != batch:
        raise TraceError(f"given(): '{name}' has {tensor.shape[0]} items, but the batch has {batch}")
    return tensor
