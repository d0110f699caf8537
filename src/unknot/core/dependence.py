"""Which site of a program depends on which, read from one run of it: no gradients, no numbers.

Values of sites carry tags through every operation (:mod:`unknot.core.tags`): through ``argmax`` and ``detach``, frozen
weights and zero weights, under ``torch.no_grad`` as with gradients. So the answer is a fact of the program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Distribution, Transform

from unknot.core.axes import Axis
from unknot.core.handlers import Handler, Message
from unknot.core.node import Loss, Node, Variable
from unknot.core.tags import NONE, Tag, Tags
from unknot.core.trace import Trace
from unknot.errors import HistoryError, SpecError


@dataclass(frozen=True)
class Input:
    """A tensor of the example, by the name of the program's argument."""

    name: str


@dataclass(frozen=True)
class Site:
    """What a site was computed from, and which inputs it observes."""

    parents: frozenset[Tag]
    observes: frozenset[Tag]
    axis: Axis | None = None  # of an enumerated site


class SiteRecorder(Handler):
    """Gives every input and every site a tag of its own; notes the tags that reach each site.

    Traces may be included in others under new names, so tags are numbers and names are looked up at the end.
    """

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.seen: list[Input | Site] = []  # a tag is a position in this list
        self.scored_as: dict[Tag, Tag] = {}  # a site of q -> the site of p that scores its value
        # By id of the marking tensor, which is kept, so that the id stays its own.
        self._marks: dict[int, tuple[Tensor, Tag]] = {}

    def input(self, value: Tensor, name: str) -> Tensor:
        """The same input, tagged; a copy, because the user's tensors may be slices of one table."""
        self.seen.append(Input(name))
        return self.tags.fresh(value, len(self.seen) - 1)

    def before(self, message: Message) -> None:
        """Refuse parameters computed from a value whose axis is in use for a later step."""
        if message.dist is not None and message.trace._layout.released:
            self._check_history(message.trace, message.name, self.tags.of(tensors_of(message.dist)))

    def _check_history(self, trace: Trace, name: str, parents: frozenset[Tag]) -> None:
        for tag in parents:
            source = self.seen[tag]
            if isinstance(source, Site) and source.axis in trace._layout.released:
                assert source.axis is not None
                raise HistoryError(
                    f"site '{name}': it is computed from '{source.axis.name}', which is older than the history of the "
                    "markov loop; say markov(..., history=n) with the number of steps that it looks back"
                )

    def after(self, trace: Trace, node: Node) -> None:
        """Note a site's parents, then let the program see its value as a new source."""
        parents, given = self._origin(node)
        if trace._layout.released:
            self._check_history(trace, node.name, parents | given)
        inputs = frozenset(tag for tag in given if isinstance(self.seen[tag], Input))
        observes = inputs if given == inputs else NONE
        tag = len(self.seen)
        # A value computed from other variables, not given: the site's score needs those variables.
        axis = node.axis if isinstance(node, Variable) else None
        self.seen.append(Site(parents | (given - inputs) | self.tags.of(node.active), observes, axis))
        if isinstance(node, Variable):
            if node.reused:
                self.scored_as.update(dict.fromkeys(self.tags.of(node.value), tag))
            node.value = self.tags.fresh(node.value, tag)
            node.unbounded = None if node.unbounded is None else self.tags.fresh(node.unbounded, tag)
            node.label = None if node.label is None else self.tags.fresh(node.label, tag)
        elif isinstance(node, Loss):  # it shows the program its prediction, which is not a new source
            node.loss = node.loss.view_as(node.loss)
        else:
            node.value = node.value.view_as(node.value)
        self._marks[id(_mark(node))] = (_mark(node), tag)

    def tag(self, node: Node) -> Tag:
        """The tag of a site, under whatever name and in whatever trace it is found."""
        return self._marks[id(_mark(node))][1]

    def site(self, node: Node) -> Site:
        """What is noted of a node."""
        site = self.seen[self.tag(node)]
        assert isinstance(site, Site)
        return site

    def _origin(self, node: Node) -> tuple[frozenset[Tag], frozenset[Tag]]:
        """Tags of a site's parameters, and of the value or target it was given."""
        if isinstance(node, Variable):
            given = self.tags.of(node.value) if node.known is True and not node.reused else NONE
            return self.tags.of(tensors_of(node.dist)), given
        if isinstance(node, Loss):
            given = self.tags.of(node.target)
            inputs = frozenset(tag for tag in given if isinstance(self.seen[tag], Input))
            return self.tags.of(node.value) | (self.tags.of(node.loss) - inputs), given
        return self.tags.of(node.value), NONE


@contextmanager
def recorded(*programs: Any) -> Iterator[SiteRecorder]:
    """Record the dependences of what runs inside; random states, buffers and tensors are left as they were.

    ``programs`` are the callables that run, whose modules may replace buffers of their own.
    """
    tags = Tags()
    recorder = SiteRecorder(tags)
    with undisturbed(*programs), ExitStack() as stack:
        stack.callback(tags.restore)
        stack.enter_context(recorder)
        stack.enter_context(tags)
        yield recorder


@contextmanager
def undisturbed(*programs: Any) -> Iterator[None]:
    """Leave random states and the modules' buffers as they were; run compiled programs eagerly."""
    owners = [getattr(program, "__self__", program) for program in programs]  # model.encode belongs to model
    modules = [module for owner in owners if isinstance(owner, nn.Module) for module in owner.modules()]
    buffers = [(module, dict(module._buffers)) for module in modules]
    content = [
        (buffer, buffer.clone()) for _, held in buffers for buffer in held.values() if buffer is not None
    ]
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices))
        if "torch._dynamo" in sys.modules:  # fused kernels would hide their operations
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        try:
            yield
        finally:
            for module, held in buffers:
                module._buffers.update(held)
            with torch.no_grad():
                for buffer, before in content:  # running statistics are written in place
                    buffer.copy_(before)


def site_parents(program: Callable[..., Trace], *args: Any, **kwargs: Any) -> dict[str, list[str]]:
    """The direct parents of every random variable of ``program(*args, **kwargs)``, in the program's order.

    Parameters
    ----------
    program : callable
        An encoder, for example; it returns its trace.
    *args, **kwargs
        What it is called with, any batch.

    Returns
    -------
    dict from site name to list of site names

    Examples
    --------
    >>> def encoder(x):
    ...     q = Trace()
    ...     y = q.concrete(x, 0.66, name="y")
    ...     q.normal(y.argmax(-1, keepdim=True).float(), 1.0, name="z")
    ...     return q
    >>> site_parents(encoder, torch.zeros(5, 3))
    {'y': [], 'z': ['y']}
    """
    with recorded(program) as recorder:
        trace = program(*args, **kwargs)
    if not isinstance(trace, Trace):
        raise SpecError(
            f"site_parents: expected a program that returns its Trace, got {type(trace).__name__}"
        )
    parents = parents_by_name(recorder, trace)
    return {node.name: parents[node.name] for node in trace.variables()}


def parents_by_name(recorder: SiteRecorder, trace: Trace) -> dict[str, list[str]]:
    """The direct parents of the nodes of ``trace`` among its random variables, by their names there.

    A site of p that scores a value of q stands for that site.
    """
    names = {recorder.tag(node): node.name for node in trace.variables()}
    found: dict[str, list[str]] = {}
    for node in trace.nodes():
        tags = recorder.site(node).parents | recorder.tags.of(node.drawn.active)
        tags |= {recorder.scored_as[tag] for tag in tags if tag in recorder.scored_as}
        found[node.name] = [name for tag, name in names.items() if tag in tags and name != node.name]
    return found


def tensors_of(dist: Distribution) -> list[Tensor]:
    """Every tensor that a distribution is made of, in its parts too: a mixture's components, a flow's transforms."""
    found: list[Tensor] = []
    stack: list[object] = [dist]
    met = {id(dist)}  # a transform and its inverse hold each other
    while stack:
        for value in vars(stack.pop()).values():
            for part in value if isinstance(value, list | tuple) else [value]:
                if isinstance(part, Tensor):
                    found.append(part)
                elif isinstance(part, nn.Module):
                    found += [*part.parameters(), *part.buffers()]
                elif isinstance(part, Distribution | Transform) and id(part) not in met:
                    met.add(id(part))
                    stack.append(part)
    return found


def _mark(node: Node) -> Tensor:
    """A tensor that a node shares with its copies in other traces, and with nothing else."""
    return node.loss if isinstance(node, Loss) else node.value
