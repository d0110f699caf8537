"""Evidence: what the generative model itself says of an item's class, as a part of the encoder's answer.

A network reads a class off an item; a generator says how well it could have made the item of each class. The two err on
different items. For a node y of classes with weight w the trained encoder is the product of both,

    q(y | x)  ∝  f(x)_y · p̂(x, y)^w        log p̂(x, k) = log p(x, k, ẑ_k) - log q(ẑ_k | x, k)

with f the recognition network and ẑ_k the best values of the other nodes when y is k: Laplace's approximation of the
evidence, where q(z | x, k) is the posterior. w = 0 is the network alone and w = 1 with a flat f is Bayes' rule; a
generator of images is far too sure of itself, since it takes pixels for independent, and only a part of it is its due
(as of the language model in speech recognition, or of the tempered posteriors of Grünwald & van Ommen 2017).

ẑ_k is what the encoder says, or found from there by so many steps of ascent (:mod:`experiments.digits.search`); a class
that nobody read in the item gets a fair trial by these alone. The volume of the posterior is the encoder's in both.
Search is dear, so it can be kept for the items of which the network itself is not sure.

In training the network stands alone. The evidence of a generator that is still learning misleads, and a network that
learns from it errs where it errs, so that in the end there is nothing left to add: in a trial on MNIST with 100 labels
readings that were products from the first step on were worse than the network alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from experiments.digits.search import search
from unknot.core.evidence import GivenValues, given, partial
from unknot.core.handlers import block
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.by_name import Named
from unknot.models.families import Family, family_of
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks.mlp import VectorHead
from unknot.models.networks.network import Place
from unknot.models.node_spec import NodeSpec
from unknot.schema import Schema, number, whole

Recognized = Callable[
    [str, Mapping[str, Tensor]], Tensor
]  # a node and what it is recognized from -> its parameters
Decode = Callable[[Tensor, Trace | GivenValues], Trace]


EVIDENCE_HEAD = "experiments.digits.evidence:EvidenceHead"  # its name in a description


class EvidenceHead(VectorHead):
    """The encoder of a model's only node of classes: the product of a network and the decoder's evidence.

    ``weight`` is w; ``steps`` of ascent search for the other nodes, 0 takes them from the encoder; evidence is
    computed where the network's best class has at most the probability ``below``.
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {
        **VectorHead.OPTIONS,
        "weight": number(0, 1),
        "steps": whole(0, 10**4),
        "below": number(0, 1),
    }

    def __init__(
        self, place: Place, weight: float = 0.0, steps: int = 0, below: float = 1.0, **options: Any
    ) -> None:
        super().__init__(place, **options)
        self.weight, self.steps, self.below = weight, steps, below

    @classmethod
    def check(cls, named: Named, node: NodeSpec, nodes: Sequence[NodeSpec], where: str) -> None:
        super().check(named, node, nodes, where)
        if reason := why_not(node, nodes):
            raise SpecError(
                f"node '{node.name}': evidence is for a model's one node of classes, inferred from the data alone, but "
                f"this node {reason}; leave it out"
            )

    def recognize(self, model: GraphicalModel, x: Tensor, inputs: Mapping[str, Tensor]) -> Tensor:
        outputs = super().recognize(model, x, inputs)
        if model.training or not self.weight:
            return outputs
        unsure = outputs.softmax(-1).max(-1).values <= self.below
        if not unsure.any():
            return outputs
        data = model.spec.data.name
        found = log_evidence(
            self.node,
            x[unsure],
            {data: inputs[data][unsure]},
            model.spec.recognition_order,
            {n.name: model.family_of(n.name) for n in model.spec.latents},
            lambda other, seen: model.recognized(model.spec[other], seen),
            model.decode_transformed,
            model.temperature,
            self.steps,
        )
        more = torch.zeros_like(outputs)
        more[unsure] = self.weight * found.to(outputs.dtype)
        return outputs + more


def why_not(node: NodeSpec, nodes: Sequence[NodeSpec]) -> str:
    """Say why the evidence of a node's classes cannot be computed; "" if it can."""
    if not family_of(node).has_classes:
        return f"is of {node.family}, not of classes"
    data = next(n.name for n in nodes if n.is_data)
    if node.inferred_from != (data,):
        return f"is not inferred from '{data}' alone"
    others = [n.name for n in nodes if n is not node and not n.is_data and family_of(n).has_classes]
    return f"is not the only one of classes: '{others[0]}' is another" if others else ""


@torch.no_grad()
def log_evidence(
    node: str,
    x: Tensor,
    features: Mapping[str, Tensor],
    order: tuple[str, ...],
    families: Mapping[str, Family],
    recognized: Recognized,
    decode: Decode,
    temperature: Tensor,
    steps: int = 0,
) -> Tensor:
    """log p̂(x, k) of every class k of a node, ``(B, K)``, less that of the best class.

    Arguments:
        node: its name.
        x: items ``(B, ...)``.
        features: what the encoder makes of them ``(B, H)``, by the name of the data.
        order: the latent nodes, each after what it is recognized from.
        families: theirs.
        recognized: a node's name and the features of what it is recognized from, to its parameters.
        decode: the generative program.
        temperature: of relaxed draws.
        steps: of ascent by which the best values of the nodes of real numbers are searched for.
    """
    classes = families[node].size
    k = torch.arange(classes, device=x.device).repeat_interleave(len(x))  # (K B,)
    inputs = {name: value.repeat(classes, 1) for name, value in features.items()}
    q = Trace()
    with block():
        for name in order:
            family, outputs = families[name], recognized(name, inputs)
            if name == node:
                value = family.site(q, outputs, partial(k), temperature, None)
            else:
                look = Trace()
                family.site(look, outputs, None, temperature, None)
                value = family.site(q, outputs, family.prediction(look[name].dist).value, temperature, None)
            inputs[name] = family.features(value)
        items = x.repeat(classes, *[1] * (x.ndim - 1))
        real = {name: q[name].value for name in order if families[name].gaussian} if steps else {}
        if real:
            fixed = {name: q[name].value for name in order if name not in real}
            real = search(real, lambda v: decode(items, given(len(k), {**fixed, **v})).log_prob(), steps)
            p = decode(items, given(len(k), {**fixed, **real}))
        else:
            p = decode(items, q)
    others = [name for name in order if name != node]
    found = p.log_prob() - (q.log_prob(*others) if others else 0.0)
    found = found.view(classes, len(x)).T
    return found - found.max(-1, keepdim=True).values
