"""What is noted of every site while a program runs under tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.distributions import Distribution, Transform

from unknot.core.node import LogTerm, Loss, Node, Variable
from unknot.core.tags import NONE, Tag, Tags
from unknot.core.trace import Trace
from unknot.graph.structure import Kind


@dataclass(frozen=True)
class Input:
    """A tensor of the example, by the name of the encoder's argument."""

    name: str


@dataclass(frozen=True)
class Site:
    """What a site was computed from, and which inputs it observes."""

    parents: frozenset[Tag]
    observes: frozenset[Tag]


class SiteRecorder:
    """Gives every input and every site a tag of its own; notes the tags that reach each site.

    Traces may be included in others under new names, so tags are numbers and names are looked up at the end.
    """

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.seen: list[Input | Site] = []  # a tag is a position in this list
        self._marks: dict[
            int, tuple[Tensor, Tag]
        ] = {}  # by id; the tensor is kept, so that the id stays its own

    def input(self, value: Tensor, name: str) -> Tensor:
        """The same input, tagged; a copy, because the user's tensors may be slices of one table."""
        self.seen.append(Input(name))
        return self.tags.fresh(value, len(self.seen) - 1)

    def site(self, trace: Trace, node: Node) -> None:
        """Note a site's parents, then let the program see its value as a new source."""
        parents, given = self._origin(node)
        inputs = self._inputs(given)
        observes = inputs if given == inputs else NONE
        tag = len(self.seen)
        # A value computed from other variables, not given: the site's score needs those variables.
        self.seen.append(Site(parents | (given - inputs) | self.tags.of(node.active), observes))
        if isinstance(node, Variable):
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

    def _inputs(self, tags: frozenset[Tag]) -> frozenset[Tag]:
        return frozenset(tag for tag in tags if isinstance(self.seen[tag], Input))

    def _origin(self, node: Node) -> tuple[frozenset[Tag], frozenset[Tag]]:
        """Tags of a site's parameters, and of the value or target it was given."""
        if isinstance(node, Variable):
            given = self.tags.of(node.value) if node.known is True and not node.reused else NONE
            return self.tags.of(list(parameters(node.dist))), given
        if isinstance(node, Loss):
            given = self.tags.of(node.target)
            return self.tags.of(node.value) | (self.tags.of(node.loss) - self._inputs(given)), given
        return self.tags.of(node.value), NONE


def parameters(value: Any, seen: set[int] | None = None) -> Iterator[Tensor]:
    """All tensors that make up a distribution, through the distributions and transforms it is built of."""
    seen = set() if seen is None else seen
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from parameters(part, seen)
    elif isinstance(value, nn.Module):
        yield from [*value.parameters(), *value.buffers()]
    elif isinstance(value, Distribution | Transform) and id(value) not in seen:
        seen.add(id(value))  # a transform and its inverse hold each other
        yield from parameters(list(vars(value).values()), seen)


def kind(node: Node) -> Kind:
    """How a node is drawn: open, half shaded, shaded, or as a log-term."""
    if isinstance(node, LogTerm):
        return "log-term"
    if isinstance(node.known, Tensor):
        return "partly observed"
    return "observed" if node.known else "latent"


def family(node: Node) -> str:
    """The distribution's name, or what else the node is."""
    return type(node.dist).__name__ if isinstance(node, Variable) else type(node).__name__


def _mark(node: Node) -> Tensor:
    """A tensor that a node shares with its copies in other traces, and with nothing else."""
    return node.loss if isinstance(node, Loss) else node.value
