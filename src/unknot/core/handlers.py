"""Handlers: effects that change what sites do, on one stack that programs need not know of.

A handler is a context manager. Every site that a program makes inside the block is shown to it, innermost handler
first, as a :class:`Message` that the handler may change::

    with unknot.condition({"y": labels}), unknot.scale(0.5):
        q = encoder(x)

Handlers nest and compose. The stack belongs to the thread. It is empty in an ordinary training step, and then a site
pays for one look at it; compiled steps guard on it and break no graph.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.errors import TraceError

if TYPE_CHECKING:
    from unknot.core.node import Node
    from unknot.core.trace import Trace


class _Stack(threading.local):
    """The handlers in force, outermost first, and those of them that look at sites."""

    def __init__(self) -> None:
        self.handlers: tuple[Handler, ...] = ()
        self.effects: tuple[Handler, ...] = ()


_stack = _Stack()


@dataclass(slots=True)
class Message:
    """A random variable that is about to be made, as handlers see it and may change it.

    Attributes
    ----------
    trace : Trace
        The trace that the site is written to.
    name : str
        The site's full name.
    dist : Distribution or None
        Its distribution; None for a loss or a log-term.
    value : object
        What the program gave as ``value=``; a handler may set another.
    event_dims : int or None
        The number of axes of one item's value, where it is known.
    use_mode : bool
        Take the most likely value instead of a draw.
    scored : bool
        Whether the site counts; an intervention does not.
    mask, scale : Tensor or None
        Elements or items that count, and a factor on the log-probability.
    stop : bool
        Handlers further out do not see the site.
    """

    trace: Trace
    name: str
    dist: Distribution | None
    value: Any
    event_dims: int | None
    use_mode: bool = False
    scored: bool = True
    mask: Tensor | None = None
    scale: Tensor | float | None = None
    stop: bool = False


class Handler:
    """Base class: a context manager on the stack. Subclasses override :meth:`before` or :meth:`after`."""

    def __enter__(self) -> Self:
        _set((*_stack.handlers, self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        position = max(i for i, handler in enumerate(_stack.handlers) if handler is self)
        _set(_stack.handlers[:position] + _stack.handlers[position + 1 :])

    def before(self, message: Message) -> None:
        """Change ``message``, the site that is about to be made."""

    def after(self, trace: Trace, node: Node) -> None:
        """Look at ``node``, of any kind, made in ``trace``, before the program sees its value."""


def _set(handlers: tuple[Handler, ...]) -> None:
    _stack.handlers = handlers
    _stack.effects = tuple(handler for handler in handlers if _sees_sites(handler))


def _sees_sites(handler: Handler) -> bool:
    kind = type(handler)
    return kind.before is not Handler.before or kind.after is not Handler.after


def watched() -> bool:
    """Whether any handler looks at sites now."""
    return bool(_stack.effects)


def announce(message: Message) -> Message:
    """Show a site to the handlers, innermost first."""
    for handler in reversed(_stack.effects):
        handler.before(message)
        if message.stop:
            break
    return message


def made(trace: Trace, node: Node) -> None:
    """Show a finished node to the handlers, innermost first."""
    for handler in reversed(_stack.effects):
        if isinstance(handler, block) and handler.hides(node.name):
            break
        handler.after(trace, node)


def innermost(kind: type[Handler]) -> Handler | None:
    """The innermost handler of a class, if there is one."""
    for handler in reversed(_stack.handlers):
        if isinstance(handler, kind):
            return handler
    return None


# ---- values -----------------------------------------------------------------------------------------------


class condition(Handler):
    """Observe sites at given values, whatever the program gives them.

    Parameters
    ----------
    values : mapping from site name to value
        A tensor, a node or ``unknot.partial(...)``, as a site's ``value=`` takes it. Names that no site has are
        ignored.

    Examples
    --------
    >>> from unknot import Trace
    >>> with condition({"z": torch.tensor([0.0, 1.0])}):
    ...     Trace().normal(torch.zeros(2), 1.0, name="z")
    tensor([0., 1.])
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def before(self, message: Message) -> None:
        given = self.values.get(message.name)
        if given is not None:
            message.value = given


class replay(Handler):
    """Observe the values of another trace, by name, at every site that the program would draw or enumerate.

    The values carry no gradient. Sites that the other trace does not have, and values that the program gives, stay.

    Parameters
    ----------
    trace : Trace
        Where the values come from.

    Examples
    --------
    >>> from unknot import Trace
    >>> p, q = Trace(), Trace()
    >>> _ = p.normal(torch.zeros(3), 1.0, value=torch.tensor([0.0, 1.0, 2.0]), name="z")
    >>> with replay(p):
    ...     q.normal(torch.zeros(3), 1.0, name="z")
    tensor([0., 1., 2.])
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def before(self, message: Message) -> None:
        if message.value is None and message.name in self.trace:
            message.value = self.trace[message.name].value.detach()


class do(Handler):
    """Intervene: fix the value of sites for everything that is computed from them, and do not score them.

    Parameters
    ----------
    values : mapping from site name to value
        Tensors ``(B, event...)``.

    Examples
    --------
    >>> from unknot import Trace
    >>> p = Trace()
    >>> with do({"z": torch.ones(2)}):
    ...     z = p.normal(torch.zeros(2), 1.0, name="z")
    >>> z, p["z"].log_prob
    (tensor([1., 1.]), tensor([0., 0.]))
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def before(self, message: Message) -> None:
        given = self.values.get(message.name)
        if given is not None:
            message.value, message.scored = given, False


class modes(Handler):
    """Take the most likely value of every site that would be drawn or enumerated; the mean of continuous ones.

    Later sites are computed from these values, so the result is the same each time, for any program.

    Examples
    --------
    >>> from unknot import Trace
    >>> with modes():
    ...     Trace().concrete(torch.tensor([[0.0, 2.0, 1.0]]), 0.66, name="y")
    tensor([[0., 1., 0.]])
    """

    def __init__(self) -> None:
        """Take no arguments."""

    def before(self, message: Message) -> None:
        message.use_mode = True


# ---- weights ----------------------------------------------------------------------------------------------


class mask(Handler):
    """Count only a part of every site inside: some items, or some elements of their values.

    Parameters
    ----------
    active : Tensor of bool
        Over leading axes, ``(B,)``, or over the elements of the sites' values, ``(B, event...)``. What stands at
        elements that do not count, NaN for example, is never read.

    Examples
    --------
    >>> from unknot import Trace
    >>> p = Trace()
    >>> x = torch.tensor([[0.0, float("nan")], [0.0, 0.0]])
    >>> with mask(x == 0):
    ...     _ = p.normal(torch.zeros(2, 2), 1.0, value=x, name="x")
    >>> p["x"].log_prob
    tensor([-0.9189, -1.8379])
    """

    def __init__(self, active: Tensor) -> None:
        if not isinstance(active, Tensor) or active.dtype != torch.bool:
            kind = active.dtype if isinstance(active, Tensor) else type(active).__name__
            raise TraceError(f"mask(): expected a boolean tensor, got {kind}")
        self.active = active

    def before(self, message: Message) -> None:
        message.mask = self.active if message.mask is None else message.mask & self.active


class scale(Handler):
    """Multiply the log-probability of every site inside.

    Parameters
    ----------
    factor : float or Tensor
        One number, or one per item, ``(B,)``.

    Examples
    --------
    >>> from unknot import Trace
    >>> p = Trace()
    >>> with scale(0.5):
    ...     _ = p.normal(0.0, 1.0, value=torch.zeros(2), name="x")
    >>> p["x"].log_prob
    tensor([-0.4595, -0.4595])
    """

    def __init__(self, factor: float | Tensor) -> None:
        self.factor = factor

    def before(self, message: Message) -> None:
        message.scale = self.factor if message.scale is None else message.scale * self.factor


# ---- looking and hiding -----------------------------------------------------------------------------------


class record(Handler):
    """Keep every node that is made inside, of all traces.

    Examples
    --------
    >>> from unknot import Trace
    >>> with record() as seen:
    ...     _ = Trace().normal(torch.zeros(2), 1.0, name="z")
    >>> [node.name for node in seen.nodes]
    ['z']
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def after(self, trace: Trace, node: Node) -> None:
        self.nodes.append(node)


class block(Handler):
    """Hide sites from the handlers outside of this block.

    Parameters
    ----------
    *names : str
        The sites to hide; all of them by default.

    Examples
    --------
    >>> from unknot import Trace
    >>> with record() as seen, block():
    ...     _ = Trace().normal(torch.zeros(2), 1.0, name="z")
    >>> seen.nodes
    []
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def hides(self, name: str) -> bool:
        """Whether the site called ``name`` is hidden."""
        return not self.names or name in self.names

    def before(self, message: Message) -> None:
        message.stop = self.hides(message.name)


# ---- random numbers ---------------------------------------------------------------------------------------


@contextmanager
def seed(number: int) -> Iterator[None]:
    """Draw from a random state of its own inside; the state outside is left as it was.

    A compiled function cannot set random states: put the block around its call.

    Parameters
    ----------
    number : int
        The seed.

    Examples
    --------
    >>> with seed(0):
    ...     first = torch.rand(2)
    >>> with seed(0):
    ...     bool((torch.rand(2) == first).all())
    True
    """
    if torch.compiler.is_compiling():
        raise TraceError(
            "seed(): a compiled function cannot set random states; put `with seed(...)` around its call"
        )
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(number)
        yield


class DrySizes(NamedTuple):
    """The sizes of a dry run: items, samples, and one after the other those of enumerated axes."""

    items: int
    samples: int
    support: Iterator[int]


class learned(Handler):
    """What is known of the program that runs inside: event axes by site, for each trace in the order of their making.

    Parameters
    ----------
    event_dims : mapping from (trace, site) to int
        Traces are numbered in the order in which the program makes them; -1 stands for all.
    sizes : DrySizes, optional
        In a dry run: the sizes that axes have instead of their own.
    """

    def __init__(
        self, event_dims: Mapping[tuple[int, str], int | None], sizes: DrySizes | None = None
    ) -> None:
        self.event_dims = event_dims
        self.sizes = sizes
        self.traces: list[Trace] = []


class shard(Handler):
    """Draw the noise of one part of a batch that is split over processes.

    Every process has the same random state, draws the noise of the whole batch and keeps the rows of its own items.
    Draws are then those of one process with the whole batch.

    Parameters
    ----------
    rank, world : int
        This is part ``rank`` of ``world`` equal parts.
    """

    def __init__(self, rank: int, world: int) -> None:
        self.rank, self.world = rank, world


def _shard() -> tuple[int, int]:
    if not _stack.handlers:
        return 0, 1
    handler = innermost(shard)
    return (handler.rank, handler.world) if isinstance(handler, shard) else (0, 1)


def fill_noise(shape: Size, event_dims: int, like: Tensor, fill_: Callable[[Tensor], Tensor]) -> Tensor:
    """Make a tensor of ``shape`` filled in place by ``fill_``; its batch axis stands before ``event_dims`` axes."""
    rank, world = _shard()
    batch_axis = len(shape) - event_dims - 1
    if world == 1 or batch_axis < 0:  # a negative axis: one draw shared by all items
        return fill_(torch.empty(shape, dtype=like.dtype, device=like.device))
    items = shape[batch_axis]
    whole = (*shape[:batch_axis], items * world, *shape[batch_axis + 1 :])
    noise = fill_(torch.empty(whole, dtype=like.dtype, device=like.device))
    return noise.narrow(batch_axis, rank * items, items)


def draw_by_rank(draw: Callable[[], Tensor]) -> Tensor:
    """Draw where noise cannot be split: every process draws ``world`` times and keeps the draw of its rank.

    Items get independent noise and the processes' random states stay equal, but the draws are not those of one process
    with the whole batch.
    """
    rank, world = _shard()
    draws = [draw() for _ in range(world)]
    return draws[rank]
