"""Evidence of the decoder for the class of an item, as a part of the encoder's prediction.

For a node y of classes with weight w the prediction after training is the product of a network f and the evidence,

    q(y | x)  ∝  f(x)_y · p̂(x, y)^w        log p̂(x, k) = log p(x, k, ẑ_k) - log q(ẑ_k | x, k)

where ẑ_k are the modes of the other nodes for y = k: Laplace's approximation where q(z | x, k) is the posterior. w = 0
is the network alone and w = 1 with a uniform f is Bayes' rule. A decoder of images is overconfident, since it treats
pixels as independent; w < 1 tempers it (Grünwald & van Ommen 2017).

ẑ_k is the encoder's prediction, or found from there by gradient ascent (:func:`search`), since the encoder has rarely
seen an item with a wrong class. The search can be limited to the items for which the network is not certain. During
training the network is used alone: the evidence of an untrained decoder misleads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from unknot.core.axes import per_item
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

Inferred = Callable[
    [str, Mapping[str, Tensor]], Tensor
]  # a node and the features of its inputs -> its parameters
Decode = Callable[[Tensor, Trace | GivenValues], Trace]


EVIDENCE_HEAD = "experiments.digits.evidence:EvidenceHead"  # its name in a spec


class EvidenceHead(VectorHead):
    """The encoder of a model's only categorical node: the product of a network and the decoder's evidence.

    Parameters
    ----------
    weight : float
        The exponent w of the evidence.
    steps : int
        Steps of the search for the other nodes; 0 takes their values from the encoder.
    below : float
        Evidence is computed where the largest class probability of the network is at most this.
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
            model.spec.inference_order,
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
    """Return the reason why the evidence of a node's classes cannot be computed; "" if it can."""
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
    inferred: Inferred,
    decode: Decode,
    temperature: Tensor,
    steps: int = 0,
) -> Tensor:
    """Return log p̂(x, k) of every class k of a node, ``(B, K)``, minus the largest.

    Parameters
    ----------
    node : str
        The node.
    x : Tensor
        Items ``(B, ...)``.
    features : mapping
        Features of the items, ``(B, H)``, by the name of the data.
    order : tuple of str
        The latent nodes, each after those that it is inferred from.
    families : mapping
        Families of the latent nodes.
    inferred : callable
        The parameters of a node, from its name and the features of its inputs.
    decode : callable
        The generative program.
    temperature : Tensor
        Temperature of relaxed samples.
    steps : int
        Steps of the search for the values of the real nodes.
    """
    classes = families[node].size
    k = torch.arange(classes, device=x.device).repeat_interleave(len(x))  # (K B,)
    inputs = {name: value.repeat(classes, 1) for name, value in features.items()}
    q = Trace()
    with block():
        for name in order:
            family, outputs = families[name], inferred(name, inputs)
            if name == node:
                value = family.site(q, outputs, partial(k), temperature, None)
            else:
                sampled = Trace()
                family.site(sampled, outputs, None, temperature, None)
                value = family.site(
                    q, outputs, family.prediction(sampled[name].dist).value, temperature, None
                )
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


_RATE, _FIRST, _SECOND, _TINY = 0.1, 0.9, 0.999, 1e-8  # Adam's


def search(
    start: Mapping[str, Tensor], score: Callable[[Mapping[str, Tensor]], Tensor], steps: int
) -> dict[str, Tensor]:
    """Maximize a score of N items by Adam's steps (analysis by synthesis, Schott et al. 2019).

    Parameters
    ----------
    start : mapping from node to Tensor
        Values ``(N, D)``.
    score : callable
        Scores ``(N,)`` of such values. The items are independent.
    steps : int
        The number of steps, each with one gradient of the score.

    Returns
    -------
    dict
        The values with the highest score of each item; it is never lower than that of ``start``.

    Examples
    --------
    >>> goal = torch.tensor([[3.0], [-1.0]])
    >>> found = search({"z": torch.zeros(2, 1)}, lambda v: -(v["z"] - goal).square().sum(-1), 100)
    >>> torch.allclose(found["z"], goal, atol=0.05)
    True
    """
    values = {name: value.detach().clone() for name, value in start.items()}
    first = {name: torch.zeros_like(value) for name, value in values.items()}
    second = {name: torch.zeros_like(value) for name, value in values.items()}
    best, most = dict(values), torch.tensor(-torch.inf)
    for step in range(1, steps + 2):  # the last one scores the result of the last step
        leaves = {name: value.requires_grad_() for name, value in values.items()}
        with torch.enable_grad():
            scored = score(leaves)
            slopes = torch.autograd.grad(scored.sum(), list(leaves.values()))
        better = scored.detach() > most
        most = torch.where(better, scored.detach(), most)
        for (name, value), slope in zip(leaves.items(), slopes, strict=True):
            now = value.detach()
            best[name] = torch.where(per_item(better, 1), now, best[name].detach())
            first[name] = _FIRST * first[name] + (1 - _FIRST) * slope
            second[name] = _SECOND * second[name] + (1 - _SECOND) * slope.square()
            mean, square = first[name] / (1 - _FIRST**step), second[name] / (1 - _SECOND**step)
            values[name] = now + _RATE * mean / (square.sqrt() + _TINY)
    return best
