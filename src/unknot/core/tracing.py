"""trace: run a program so that its traces remember it, and learn from dry runs what its shapes do not tell.

A trace that was written by hand knows its sites and no more. One made by :func:`trace` also knows its program and the
arguments, so that objectives can run it again at other values, and read from it which site depends on which.

**Event axes.** How many axes of a parameter belong to one item is a fact of the program, but one run does not always
show it: with as many items as classes, ``(10, 1, 10, 3)`` can be read in two ways. The program is therefore run a few
times at other sizes, with other numbers of items, samples and enumerated values, and what the shapes say there is kept.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from unknot.core.dependence import parents_by_name, recorded, undisturbed
from unknot.core.evidence import GivenValues, Partial
from unknot.core.handlers import DrySizes, block, condition, learned
from unknot.core.node import Loss, Node, Variable
from unknot.core.trace import Trace
from unknot.errors import HistoryError, TraceError

P = ParamSpec("P")
R = TypeVar("R")
EventDims = dict[tuple[int, str], int | None]  # by trace, in the order of making, and site

# Sizes of a dry run: items, samples, and the first of the enumerated axes' sizes. They differ from each other and from
# run to run; two runs must agree on a site.
_SIZES = ((5, 7, 11), (7, 11, 13), (3, 5, 7), (11, 13, 17), (13, 17, 19), (17, 19, 23))
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


@dataclass
class Memory:
    """What has been learned of one program, by the kind of its arguments."""

    event_dims: dict[Hashable, EventDims] = field(default_factory=dict)
    parents: dict[Hashable, list[dict[str, list[str]]]] = field(default_factory=dict)


_memories: WeakKeyDictionary[Any, dict[str, Memory]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Call:
    """A program and its arguments.

    Attributes
    ----------
    program : callable
        Returns one or several traces.
    args, kwargs
        What it was called with.
    position : int
        Which of the returned traces the call belongs to.
    """

    program: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    position: int = 0

    def run(self) -> Any:
        """Run the program; it knows its event axes."""
        with learned(self.memory.event_dims.get(self.signature, {})):
            return self.program(*self.args, **self.kwargs)

    def again(self, values: dict[str, Any]) -> Trace:
        """Run the program at other values of some sites, and return the same one of its traces."""
        with block(), condition(values):
            return self.traces(self.run())[self.position]

    @property
    def memory(self) -> Memory:
        owner = getattr(self.program, "__self__", self.program)
        name = getattr(self.program, "__name__", "") if owner is not self.program else ""
        try:
            return _memories.setdefault(owner, {}).setdefault(name, Memory())
        except TypeError:  # not hashable or not weakly referable: nothing is kept
            return Memory()

    @property
    def signature(self) -> Hashable:
        return _signature((self.args, self.kwargs))

    def traces(self, result: Any) -> list[Trace]:
        """The traces among what a program returned."""
        parts = list(result) if isinstance(result, list | tuple) else [result]
        found = [part for part in parts if isinstance(part, Trace)]
        if not found:
            name = getattr(self.program, "__name__", type(self.program).__name__).removeprefix("_")
            raise TraceError(
                f"trace(): expected the program {name}(...) to return its unknot.Trace, but it returned a "
                f"{type(result).__name__}"
            )
        return found

    def learn(self) -> None:
        """Read the event axes of all sites from dry runs, unless they are known."""
        memory, signature = self.memory, self.signature
        if signature not in memory.event_dims:
            # what a failed dry run leaves, and what dry runs themselves see
            memory.event_dims[signature] = {}
            memory.event_dims[signature], loops = _learned(self)
            if loops:
                self._check_history()

    def _check_history(self) -> None:
        """Refuse a step that looks further back than the history of its ``markov`` loop."""
        try:
            with torch.no_grad():
                self.parents()
        except HistoryError:
            del self.memory.event_dims[self.signature]  # the next call is refused too
            raise
        except Exception:  # the run that follows, or an objective that needs the dependences, reports it
            return

    def parents(self) -> dict[str, list[str]]:
        """The direct parents of every node of the trace among its random variables, read from one run."""
        memory, signature = self.memory, self.signature
        if signature not in memory.parents:
            with recorded(*_programs(self)) as recorder:
                traces = self.traces(_with_own_traces(self).run())
            memory.parents[signature] = [parents_by_name(recorder, one) for one in traces]
        return memory.parents[signature][self.position]


def trace(program: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a program so that the traces it returns remember it.

    ``q = unknot.trace(encoder, x, labels)`` is ``q = encoder(x, labels)``, and objectives then need nothing else to
    estimate the marginals of dependent variables; sites are never refused because sizes coincide. The first call of a
    program makes a few dry runs without gradient, which leave random states and buffers as they were.

    Parameters
    ----------
    program : callable
        A module, function or method that returns a :class:`Trace`, or several in a tuple.
    *args, **kwargs
        What it is called with. Tensors are ``(B, ...)``; traces made by this function are re-run where needed.

    Returns
    -------
    Trace
        What the program returned.

    Examples
    --------
    >>> def encoder(x):
    ...     q = Trace(samples=3)
    ...     y = q.normal(x, 1.0, name="y")
    ...     q.normal(y, 1.0, name="z")
    ...     return q
    >>> trace(encoder, torch.zeros(3, 3))["z"].value.shape
    torch.Size([3, 3, 3])
    >>> encoder(torch.zeros(3, 3))
    Traceback (most recent call last):
    ...
    unknot.errors.TraceError: site 'z': parameters of shape (3, 3, 3) can be read in several ways ...
    """
    if torch.compiler.is_compiling():
        return program(*args, **kwargs)
    call = Call(program, args, kwargs)
    call.learn()
    result = call.run()
    for position, one in enumerate(call.traces(result)):
        one.call = replace(call, position=position)
    return result


def upstream(q: Trace, p: Trace | None = None) -> dict[str, frozenset[str]] | None:
    """Every site that a node of q, or of p as ``p:name``, was computed from; None if a program is not known."""
    if q.call is None or (p is not None and p.call is None):
        return None
    direct = q.call.parents()
    closed: dict[str, frozenset[str]] = {}
    for name in q:
        closed[name] = _closure(direct.get(name, []), closed)
    if p is None or p.call is None:
        return closed
    theirs = p.call.parents()
    drawn = dict(closed)  # what a value of p was made from: its site in q, or its own parents
    for node in p.nodes():
        closed[f"p:{node.name}"] = _closure(theirs.get(node.name, []), drawn)
        drawn.setdefault(node.name, closed[f"p:{node.name}"])
    return closed


def _closure(parents: list[str], known: dict[str, frozenset[str]]) -> frozenset[str]:
    return frozenset(parents).union(*(known.get(name, frozenset()) for name in parents))


# ---- dry runs ---------------------------------------------------------------------------------------------


def _learned(call: Call) -> tuple[EventDims, bool]:
    """The event axes on which two dry runs agree, and whether the program has ``markov`` loops.

    Of a program that cannot be run at other sizes, no event axes.
    """
    batch, loops = _batch((call.args, call.kwargs)), False
    if batch is None:
        return {}, loops
    votes: dict[tuple[int, str], Counter[int | None]] = {}
    for items, samples, first in _SIZES:
        dry, has_loops = _dry_run(call, batch, items, samples, first)
        loops = loops or has_loops
        for key, dims in dry.items():
            votes.setdefault(key, Counter())[dims] += 1
        if votes and all(counter.most_common(1)[0][1] >= 2 for counter in votes.values()):
            break
    found = {}
    for key, counter in votes.items():
        (dims, count), *others = counter.most_common()
        if count >= 2 and not any(other == count for _, other in others):
            found[key] = dims
    return found, loops


def _dry_run(call: Call, batch: int, items: int, samples: int, first: int) -> tuple[EventDims, bool]:
    """The event axes of every site at other sizes, and whether axes were used again.

    Of a program that does not run there, only the sites whose parameters can be read in two ways: to take one of them
    may be why it does not run.
    """
    handler, runs = learned({}, _dry_sizes(items, samples, first)), False
    with undisturbed(*_programs(call)), torch.no_grad(), block():
        try:
            args, kwargs = _resized((call.args, call.kwargs), batch, items, samples, {})
            with handler:
                call.program(*args, **kwargs)
            runs = True
        except Exception:  # whatever a program says of sizes that its user did not ask for
            pass
    dims = {
        (number, node.name): None if node.name in one._layout.open else node.event_dims
        for number, one in enumerate(handler.traces)
        for node in one.nodes()
        if isinstance(node, Variable | Loss) and (runs or node.name in one._layout.open)
    }
    return dims, any(one._layout.released for one in handler.traces)


def _dry_sizes(items: int, samples: int, first: int) -> DrySizes:
    """Sizes of the axes of a dry run: those of the first two enumerated sites are primes from ``first`` on.

    Further ones are small, or the product of many would not fit into memory; that two of them may be equal matters
    little, since the axes of items and samples beside them are told apart.
    """
    primes = (prime for prime in _PRIMES if prime >= first and prime not in (items, samples))
    small = [size for size in (2, 3, 4) if size not in (items, samples)]
    return DrySizes(items, samples, itertools.chain(itertools.islice(primes, 2), itertools.cycle(small[:2])))


def _batch(value: Any) -> int | None:
    """The number of items: that of the first argument that has any."""
    return next((len(part) for part in _parts(value) if len(part) > 0), None)


def _parts(value: Any) -> Iterator[Any]:
    """What has one entry per item, in the order of the arguments."""
    if isinstance(value, Tensor):
        if value.ndim > 0:
            yield value
    elif isinstance(value, Partial):
        yield value.known
    elif isinstance(value, GivenValues):
        yield range(value.batch)
    elif isinstance(value, Trace):
        if value.leading_shape:
            yield range(value.leading_shape[-1])
    elif isinstance(value, dict):
        yield from _parts(list(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _parts([getattr(value, entry.name) for entry in fields(value)])


def _resized(value: Any, batch: int, items: int, samples: int, done: dict[int, Any]) -> Any:
    """The same arguments for another number of items: rows are repeated."""
    if isinstance(value, Tensor):
        if value.ndim == 0 or value.shape[0] != batch:
            return value
        chosen = value.index_select(0, torch.arange(items, device=value.device) % batch)
        return chosen.coalesce() if chosen.is_sparse else chosen  # batches of sparse counts are coalesced
    if isinstance(value, Partial):
        rows = torch.arange(items, device=value.known.device) % batch
        return value.rows(rows)
    if isinstance(value, GivenValues):
        values = _resized(value.values, batch, items, samples, done)
        return GivenValues(items, values, value.prefix)
    if isinstance(value, Trace):
        if id(value) not in done:
            done[id(value)] = _rerun(value, batch, items, samples, done)
        return done[id(value)]
    if isinstance(value, Node):
        raise TraceError("nodes as arguments belong to one batch")
    if isinstance(value, dict):
        return type(value)({k: _resized(v, batch, items, samples, done) for k, v in value.items()})
    if type(value) in (list, tuple):
        return type(value)(_resized(part, batch, items, samples, done) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [entry.name for entry in fields(value)]
        changed = {name: _resized(getattr(value, name), batch, items, samples, done) for name in names}
        return replace(value, **changed)
    return value


def _rerun(value: Trace, batch: int, items: int, samples: int, done: dict[int, Any]) -> Trace:
    """A trace among the arguments, for another number of items."""
    call = value.call
    if call is None:
        raise TraceError("a trace that does not know its program belongs to one batch")
    args, kwargs = _resized((call.args, call.kwargs), batch, items, samples, done)
    sizes = _dry_sizes(items, samples, 11)
    with learned(call.memory.event_dims.get(call.signature, {}), sizes):
        return call.traces(call.program(*args, **kwargs))[call.position]


def _with_own_traces(call: Call) -> Call:
    """The call with the traces among its arguments made again, so that what happens in them is seen."""

    def fresh(value: Any) -> Any:
        if isinstance(value, Trace) and value.call is not None:
            inner = _with_own_traces(value.call)
            again = inner.traces(inner.run())[inner.position]
            again.call = inner
            return again
        if type(value) in (list, tuple):
            return type(value)(fresh(part) for part in value)
        return value

    return replace(call, args=fresh(call.args), kwargs={name: fresh(v) for name, v in call.kwargs.items()})


def _programs(call: Call) -> list[Any]:
    """The callables that a call runs: its own, and those of the traces among its arguments."""
    inner = [
        part.call for part in (*call.args, *call.kwargs.values()) if isinstance(part, Trace) and part.call
    ]
    return [call.program, *(program for one in inner for program in _programs(one))]


def _signature(value: Any) -> Hashable:
    """What decides which sites a program makes: which arguments there are, of which kind and rank."""
    if isinstance(value, Tensor):
        return ("tensor", value.ndim, value.is_floating_point())
    if isinstance(value, Partial):
        return ("partial", value.values.ndim, type(value.evidence).__name__)
    if isinstance(value, GivenValues):
        return ("given", *sorted(value.values))
    if isinstance(value, Trace):
        return ("trace", id(value.call.memory) if value.call else None, value.samples is None, tuple(value))
    if isinstance(value, dict):
        return tuple((str(name), _signature(part)) for name, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(_signature(part) for part in value)
    if isinstance(value, nn.Module) or not isinstance(value, Hashable):
        return type(value).__name__
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(_signature(getattr(value, entry.name)) for entry in fields(value))
    return value
