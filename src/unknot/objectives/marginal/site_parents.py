"""Which site of a program depends on which, read from one run of it: no gradients, no numbers.

Values of sites carry tags through every operation (:mod:`unknot.core.tags`): through ``argmax`` and ``detach``,
frozen weights and zero weights, under ``torch.no_grad`` as with gradients. So the answer is a fact of the program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor

from unknot.core.node import Node, Variable
from unknot.core.site_hook import listening
from unknot.core.tags import Tag, Tags
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.tensors_behind import tensors_behind


def site_parents(program: Callable[..., Trace], *args: Any, **kwargs: Any) -> dict[str, list[str]]:
    """The direct parents of every random variable of ``program(*args, **kwargs)``, in the program's order.

    Arguments:

    * ``program``: an encoder, say; it returns its trace;
    * ``args``, ``kwargs``: what it is called with, any batch.

    Hand the result on as ``parents=``: objectives then need neither gradients nor a further look, and take it inside
    ``torch.compile``. Random states and tensors from before are left as they were. For a decoder's own sites,
    ``prior_parents=``, run both: ``site_parents(lambda: decoder(x, encoder(x)))``.

    >>> import unknot
    >>> def encoder(x):
    ...     q = unknot.Trace()
    ...     y = q.concrete(x, 0.66, name="y")
    ...     q.normal(y.argmax(-1, keepdim=True).float(), 1.0, name="z")
    ...     return q
    >>> site_parents(encoder, torch.zeros(5, 3))
    {'y': [], 'z': ['y']}
    """
    tags = Tags()
    notes = _Notes(tags)
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with ExitStack() as stack:
        stack.callback(tags.restore)
        stack.enter_context(torch.random.fork_rng(devices))
        if "torch._dynamo" in sys.modules:  # fused kernels would hide their operations
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(torch.no_grad())
        stack.enter_context(listening(notes))
        stack.enter_context(tags)
        trace = program(*args, **kwargs)
    if not isinstance(trace, Trace):
        raise SpecError(
            f"site_parents: expected a program that returns its Trace, got {type(trace).__name__}"
        )
    return notes.parents(trace)


class _Notes:
    """Gives every site a tag of its own, and notes the tags that reach its parameters."""

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.reached: list[frozenset[Tag]] = []  # by tag
        self.scored_as: dict[Tag, Tag] = {}  # a site of q -> the site of p that scores its value
        self.marks: dict[
            int, tuple[Tensor, Tag]
        ] = {}  # by id; the tensor is kept, so that the id stays its own

    def site(self, trace: Trace, node: Node) -> None:
        if not isinstance(node, Variable):
            return  # a loss or a log-term shows the program no new value
        tag = len(self.reached)
        self.reached.append(self.tags.of(tensors_behind(node.dist), node.active))
        if node.reused:
            self.scored_as.update(dict.fromkeys(self.tags.of(node.value), tag))
        node.value = self.tags.fresh(node.value, tag)
        node.unbounded = None if node.unbounded is None else self.tags.fresh(node.unbounded, tag)
        self.marks[id(node.value)] = (node.value, tag)

    def parents(self, trace: Trace) -> dict[str, list[str]]:
        """By the names of ``trace``, into which sub-models may have been taken under new ones."""
        tag_of = {node.name: self.marks[id(node.value)][1] for node in trace.variables()}
        found = {}
        for child, own in tag_of.items():
            sources = self.reached[own] | {
                self.scored_as[tag] for tag in self.reached[own] if tag in self.scored_as
            }
            found[child] = [name for name, tag in tag_of.items() if tag in sources and name != child]
        return found
