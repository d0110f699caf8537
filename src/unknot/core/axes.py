"""The layout of axes, in one place.

Every tensor of a Trace program is laid out as::

    (enumerated ..., samples, batch, event ...)
     |------ leading axes -------|  |-------- one item's value

* ``batch`` is the last leading axis. Data and labels are ``(B, event...)``: one leading axis.
* ``samples`` stands before it once ``Trace(samples=S)`` has drawn something: two leading axes.
* Each enumerated site has an axis further left, its *slot*: slot 0 next to the samples, slot 1 left of it, and so on.
  Where there is enumeration the samples axis is always present, with size 1 if nothing asked for samples.

Axes are aligned from the right, as torch broadcasts: parameters may lack leading axes, or be scalars.

**How many axes of a parameter belong to one item** is known from the value that a site is given or reuses, from the
site's ``event_dims``, or from the program (:mod:`unknot.core.tracing`). Only a draw in a trace that knows nothing of
its program is read from shapes, and where two readings are possible it is refused: see :meth:`Layout.event_axes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Size, Tensor
from torch.distributions import Categorical, Distribution

from unknot.core.handlers import DrySizes
from unknot.errors import TraceError

SAMPLES = -2  # position of the samples axis among the leading axes
_MOST_AXES = 60  # of the 64 that torch has


def cat(tensors: Sequence[Tensor], dim: int = -1) -> Tensor:
    """Concatenate like ``torch.cat`` after broadcasting all other axes.

    Parameters
    ----------
    tensors : sequence of Tensor
        What to join.
    dim : int, default=-1
        The axis to join along. It is negative, because leading axes may differ.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> h = torch.zeros(128, 256)          # (B, H): the trunk ran once
    >>> y = torch.zeros(5, 128, 10)        # (S, B, K): drawn S times
    >>> cat([h, y], -1).shape
    torch.Size([5, 128, 266])
    """
    if dim >= 0:
        raise ValueError(f"cat counts dim from the right: use a negative dim, not {dim}")
    if dim == -1 and all(t.shape[:-1] == tensors[0].shape[:-1] for t in tensors):
        return torch.cat(list(tensors), -1)
    others = [t.shape[:dim] + Size((1,)) + (t.shape[dim:][1:]) for t in tensors]
    if all(shape == others[0] for shape in others):
        return torch.cat(list(tensors), dim)
    common = torch.broadcast_shapes(*others)
    expanded = [t.expand(*common[:dim], t.shape[dim], *common[dim:][1:]) for t in tensors]
    return torch.cat(expanded, dim)


def sum_event(values: Tensor, event_dims: int) -> Tensor:
    """Sum over the trailing ``event_dims`` axes: elementwise log-probabilities to one value per item."""
    if event_dims == 0:
        return values
    if event_dims == 1:
        return values.sum(-1)
    return values.flatten(-event_dims).sum(-1)


def broadcast(one: Size, other: Size) -> Size | None:
    """The shape to which two shapes broadcast, or None; ``torch.broadcast_shapes`` takes ten times as long.

    >>> broadcast(Size((3, 1, 4)), Size((2, 1)))
    torch.Size([3, 2, 4])
    """
    if len(one) < len(other):
        one, other = other, one
    extra = len(one) - len(other)
    sizes = list(one)
    for place, size in enumerate(other, start=extra):
        if size != 1:
            if sizes[place] not in (1, size):
                return None
            sizes[place] = size
    return Size(sizes)


def per_item(mask: Tensor, event_dims: int) -> Tensor:
    """Give a mask over leading axes ``event_dims`` trailing axes of size one, to select whole items."""
    return mask.reshape(mask.shape + (1,) * event_dims)


def readings(shape: Size, leading: Size, *, shared: bool = False, is_open: bool = False) -> list[int]:
    """Every number of leading axes that parameters of ``shape`` may have, at least one; ``leading`` are the trace's.

    Axes of samples and of enumerated sites may have size one in their place. The batch axis has the number of items,
    or size one: in a constant that all items share, or in parameters computed from a value that they share. By rule,
    parameters with an axis for every leading axis are not a constant: ``(1, B, D)`` is one sample of the batch.

    Parameters
    ----------
    shape : Size
        The batch shape of the distribution.
    leading : Size
        Sizes of the leading axes of the trace.
    shared : bool, default=False
        Some site of the trace has a value that all items share.
    is_open : bool, default=False
        The number of items is not known: the batch axis may have any size.

    Examples
    --------
    >>> readings(Size((10, 1, 10, 3)), Size((10, 5, 10)))  # (class, samples, batch), or a batch of (1, 10, 3)
    [1, 3]
    """
    exact, of_shared = [], []
    for count in range(1, min(len(shape), len(leading)) + 1):
        sizes, own = shape[:count], leading[-count:]
        if any(size not in (1, wanted) for size, wanted in zip(sizes[:-1], own[:-1], strict=True)):
            continue
        if is_open or sizes[-1] == own[-1]:
            exact.append(count)
        elif sizes[-1] == 1:
            of_shared.append(count)
    whole = any(count < len(shape) and shape[:count] == leading[-count:] for count in exact)
    for count in of_shared[:]:
        is_constant = max(shape[:count]) == 1
        if exact and (whole if is_constant else not shared):
            of_shared.remove(count)
    return sorted(exact + of_shared)


class Axis:
    """The axis of one enumerated site. Nodes refer to it by identity, since slots are used again."""

    __slots__ = ("items", "name", "size", "slot")

    def __init__(self, name: str, slot: int, size: int, items: int) -> None:
        self.name = name  # of the site, for messages
        self.slot = slot
        self.size = size
        self.items = items  # of the batch: all of them share the values

    def __repr__(self) -> str:
        return f"Axis({self.name!r}, slot={self.slot}, size={self.size})"


Axes = Mapping[int, Axis]  # by slot


class Layout:
    """The leading axes of one trace, and how its sites' parameters are laid out.

    Parameters
    ----------
    samples : int or None
        The number of draws that the trace asked for.
    known : mapping from site name to int or None
        Numbers of event axes that were learned from the program; None where it does not tell them either.
    sizes : DrySizes, optional
        In a dry run: the sizes of axes, instead of their own.
    """

    def __init__(
        self,
        samples: int | None,
        known: Mapping[str, int | None] | None = None,
        sizes: DrySizes | None = None,
    ) -> None:
        self.samples = samples
        self.sizes = sizes
        self.base = Size()  # (B,) or (S, B): what has been seen of it
        self.axes: Axes = {}  # replaced, never changed in place: nodes keep what it was when they were made
        self.reserved: set[int] = set()  # slots that later sites may not take yet
        self.released: set[Axis] = (
            set()
        )  # axes of earlier steps of a ``markov`` loop, whose slots are used again
        self.known = known or {}
        self.has_items = (
            False  # the number of items is known: a batch axis of size one may come from a constant
        )
        self.has_batch = False  # a site had a batch axis, if only of size one
        self.shared = False  # a site has a value that all items share, with a batch axis of size one
        self.open: set[str] = (
            set()
        )  # in a dry run: sites whose constant of one number can be a number or a vector
        self.guessed = False  # the first axis was taken for the batch, and there were more

    @property
    def shape(self) -> Size:
        """Sizes of all leading axes."""
        if not self.axes:
            return self.base
        slots = range(max(self.axes), -1, -1)
        sizes = [self.axes[slot].size if slot in self.axes else 1 for slot in slots]
        return Size(sizes) + (Size((1,)) if len(self.base) < 2 else Size()) + self.base

    def _dry_shape(self, sizes: DrySizes) -> Size:
        """Sizes of all leading axes that a dry run has, seen or not."""
        return self.shape[: max(0, len(self.shape) - 2)] + Size((sizes.samples, sizes.items))

    @property
    def batch(self) -> int | None:
        """The number of items, if it is known."""
        return self.base[-1] if self.base else None

    def event_axes(self, name: str, dist: Distribution, stated: int | None) -> int:
        """How many trailing axes of the batch shape of ``dist`` belong to one item, for a site that is drawn.

        Said at the site, known from the program, or read from the shape: the axes that agree with the trace's own are
        leading ones. Refused if several readings are possible.
        """
        shape, own = dist.batch_shape, len(dist.event_shape)
        if stated is None:
            stated = self.known.get(name)
            if stated is None and name in self.known:
                raise TraceError(
                    f"site '{name}': parameters of shape {tuple(shape)} could be a vector of one number or a number; "
                    "say event_dims=1 or event_dims=0 at the site"
                )
        if stated is not None:
            if not own <= stated <= own + len(shape):
                raise TraceError(
                    f"site '{name}': event_dims={stated} does not fit parameters of {type(dist).__name__} with shape "
                    f"{tuple(shape + dist.event_shape)}; give them the shape of one item's value"
                )
            return stated - own
        if not shape:
            return 0
        leading = self.shape if self.sizes is None else self._dry_shape(self.sizes)
        if not leading:
            self.guessed = self.guessed or len(shape) > 1
            return len(shape) - 1  # nothing is known of the trace: the first axis is the batch
        if self.sizes is not None and shape == (1,) and not own:
            self.open.add(name)
        possible = self._readings(dist, leading)
        if len(possible) > 1:
            texts = [
                f"event_dims={own + len(shape) - n} (one item has {tuple(shape[n:] + dist.event_shape) or 'a number'})"
                for n in possible
            ]
            raise TraceError(
                f"site '{name}': parameters of shape {tuple(shape + dist.event_shape)} can be read in several ways "
                f"beside leading axes {tuple(leading)}: {', '.join(texts)}; say event_dims at the site, or run the "
                "program by unknot.trace(program, ...), which learns it"
            )
        return len(shape) - possible[0]

    def _readings(self, dist: Distribution, leading: Size) -> list[int]:
        """Every number of leading axes that the parameters of ``dist`` may have, zero for a value that items share.

        By rule, a first axis with the number of items is the batch: ``(B, D)`` is not one matrix for all items. But
        ``(B,)`` can be a number for each item or a vector that all items share; for classes, whose parameters have an
        axis more, it is the batch. What fits nothing is shared by all items, unless the batch has had one item so far:
        then it may be the batch.
        """
        shape = dist.batch_shape
        if self.sizes is not None:  # sizes do not coincide: a batch axis of size one belongs to a constant
            possible = readings(shape, leading, shared=True)
            exact = [count for count in possible if shape[count - 1] == self.sizes.items]
            return exact or possible[:1] or [0]
        is_open = not self.has_batch and not self.has_items and leading[-1] == 1
        possible = readings(shape, leading, shared=self.shared, is_open=is_open)
        count = len(leading)
        if (
            not self.has_items
            and leading[-1] == 1
            and shape[: count - 1] == leading[:-1]
            and len(shape) >= count
        ):
            possible = sorted(
                {*possible, count}
            )  # the first parameters of all items, after those of a constant
        is_class = bool(dist.event_shape) or isinstance(dist, Categorical)
        is_batch = any(shape[count - 1] == leading[-1] for count in possible) and not is_open
        if count in possible and max(shape[: count - 2], default=1) > 1:
            is_batch = (
                True  # an axis for every leading axis: computed from enumerated values, which items share
            )
        if possible and not is_batch:
            return [0, *possible]
        if len(shape) == 1 and not is_class and possible:
            return [0, *possible]
        if not possible and dist.event_shape:
            return [len(shape)]  # one variable per item, of another batch: refused when it is drawn
        if not possible and leading[-1] == 1:
            return [0, 1]
        return possible or [0]

    def prior_event_axes(
        self, name: str, dist: Distribution, batch: int, stated: int | None, known: int | None
    ) -> int | None:
        """The ``event_dims`` of a prior that is drawn for ``batch`` items, where its shape does not tell them.

        One axis is one vector for all items, unless there are as many items: then it could be one number for each.
        ``known`` is what is known of the site from elsewhere.
        """
        shape = dist.batch_shape
        stated = self.known.get(name) if stated is None else stated
        if stated is not None or dist.event_shape or len(shape) != 1:
            return stated
        if known is not None:
            return known
        if shape[0] == batch:
            raise TraceError(
                f"site '{name}': parameters of shape ({batch},) could be one vector for all items or one number for "
                f"each of the {batch} items; say event_dims=1 or event_dims=0 at the site, or run the program by "
                "unknot.trace(program, ...), which learns it"
            )
        return 1

    def to_draw(self, name: str, dist: Distribution, extra: int) -> tuple[Distribution, Size]:
        """What to draw so that the value has all leading axes: the distribution and a sample shape."""
        shape = dist.batch_shape
        own = shape[: len(shape) - extra]  # leading axes the parameters have
        if self.samples is not None:
            wanted = Size((self.samples,)) + (self.base[-1:] or own[-1:] or Size((1,)))
        elif self.axes:
            wanted = (Size((1,)) if len(self.base) < 2 else self.base[:1]) + self.base[-1:]
        else:
            wanted = self.base or own[-1:]
        if len(own) <= len(wanted) and own == wanted[len(wanted) - len(own) :]:
            return dist, wanted[: len(wanted) - len(own)]
        full = _merge(name, own, wanted)
        if full == own:
            return dist, Size()
        return dist.expand(full + shape[len(shape) - extra :]), Size()

    def support_of(self, support: Tensor) -> Tensor:
        """All values of an enumerated site, ``(K, event...)``; in a dry run some of them, as many as it asks for."""
        if self.sizes is None:
            return support
        return support[torch.arange(next(self.sizes.support)) % len(support)]

    def allocate(self, name: str, size: int, items: int) -> Axis:
        """The axis of a new enumerated site of a batch of ``items``: the lowest slot that is free."""
        taken = self.axes.keys() | self.reserved
        slot = next(slot for slot in range(len(taken) + 1) if slot not in taken)
        if slot >= _MOST_AXES:
            raise TraceError(
                f"site '{name}': the trace has {slot} enumerated sites, an axis each, which is all that torch can "
                "hold; in a chain, write the loop as `for t in trace.markov(range(T))`, which uses axes again"
            )
        axis = Axis(name, slot, size, items)
        self.own(axis)
        return axis

    def own(self, axis: Axis) -> None:
        """From now on the slot of ``axis`` means that axis."""
        if self.axes.get(axis.slot) is not axis:
            self.axes = {**self.axes, axis.slot: axis}

    def release(self, slots: set[int]) -> None:
        """Let later sites use ``slots`` again."""
        self.released |= {axis for slot, axis in self.axes.items() if slot in slots}
        self.axes = {slot: axis for slot, axis in self.axes.items() if slot not in slots}

    def admit(self, name: str, seen: Size, has_items: bool, has_batch: bool = True) -> None:
        """Take the batch and the samples of a new site into account.

        ``has_items`` if it shows the number of items, ``has_batch`` if its batch axis comes from its parameters.
        """
        self.has_items = self.has_items or has_items or (len(seen) > 0 and seen[-1] > 1)
        self.has_batch = self.has_batch or has_batch
        self.shared = self.shared or seen[-1:] == (1,)
        base, seen = self.base, seen[-2:]
        if seen == base:
            return
        if len(seen) < len(base) and seen == base[len(base) - len(seen) :]:
            return
        self.base = _merge(name, seen, base)


def _merge(name: str, seen: Size, leading: Size) -> Size:
    """The leading axes of a site together with those of the trace."""
    merged = broadcast(seen, leading)
    if merged is None:
        raise TraceError(
            f"site '{name}': its leading axes {tuple(seen)} do not fit those of its labels or of the sites before it, "
            f"{tuple(leading)}; axes are (samples, batch), aligned from the right"
        )
    return merged
