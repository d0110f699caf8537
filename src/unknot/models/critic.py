"""A critic: how much of a named factor the rest of the code tells, and a price on it.

A network c, the critic, learns to name the factor v from the means r of the nodes that take no labels. For any critic

    E log c(v | r) + H(v)  ≤  I(v; r)

with equality at the best one (Barber & Agakov 2003), so what it achieves estimates how much the style tells of the
factor, the between-term of E19, from below. The generative program gets the log-term

    -λ · log c(v | r)

which the model raises by making r say less of v, while the critic's own weights see its gradient with the sign turned
and get better (Ganin et al. 2016). v is the label where it is known and the encoder's reading elsewhere. The critic
sees means, not draws: what hides in a draw's noise alone is still there for whoever looks at the means.

Beside the estimate from the batch (:mod:`unknot.objectives.parts.prices`) it needs no density of r and so no large
batch, and costs no information that r keeps of anything but v; but it is a bound only as good as the critic.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from unknot.core.axes import cat
from unknot.core.trace import Trace
from unknot.models.agreement import target
from unknot.models.by_node import ByNode
from unknot.models.families import Family
from unknot.models.independence import nodes_at_rest
from unknot.models.networks import mlp
from unknot.models.spec import ModelSpec

_HIDDEN = (256, 256)


class Critic(nn.Module):
    """One network for each node that takes labels, over the means of those that take none.

    Arguments:
        spec: the model.
        families: of its latent nodes, by name.
    """

    def __init__(self, spec: ModelSpec, families: Mapping[str, Family]) -> None:
        super().__init__()
        self.price = spec.critic
        self.rest = nodes_at_rest(spec, "critic")
        self._families = dict(families)
        inputs = sum(families[name].value_size for name in self.rest)
        self.networks = ByNode(
            {n.name: mlp(inputs, _HIDDEN, families[n.name].parameters_size) for n in spec.labeled}
        )

    def forward(self, q: Trace, temperature: Tensor) -> dict[str, Tensor]:
        """The log-term of each node that takes labels."""
        rest = cat([self._summary(q, name) for name in self.rest])  # (..., B, D)
        found = {}
        for name in self.networks:
            family, node = self._families[name], q[name]
            value, _ = target(node, family.reading(node.dist), 0.0)
            said = Trace()
            family.site(said, _opposed(self.networks[name], rest, self.price), value, temperature, None)
            found[name] = -self.price * said[name].log_prob
        return found

    def _summary(self, q: Trace, name: str) -> Tensor:
        """What the critic sees of a node: its mean where it has one, with gradient, or its draw."""
        family, node = self._families[name], q[name]
        return family.features(node.dist.mean if family.gaussian else node.value)


def _opposed(network: nn.Module, inputs: Tensor, price: float) -> Tensor:
    """The network's output; its weights get the gradient of whatever comes after with the sign turned, over the price.

    >>> one = nn.Linear(1, 1, bias=False)
    >>> _opposed(one, torch.tensor([[3.0]]), 2.0).sum().backward()
    >>> one.weight.grad
    tensor([[-1.5000]])
    """
    turned = {name: w.detach() + (w.detach() - w) / price for name, w in network.named_parameters()}
    result: Tensor = torch.func.functional_call(network, turned, (inputs,))
    return result
