"""Parameters of a variable at every value of its discrete parents in the encoder.

There are two ways to such a table:

* the parents are **enumerated**: the trace already holds the parameters at every value;
* they are **discrete with K values**: the encoder is run K times, once with y = k for all items.

``encoder`` is a function from given values to the trace the encoder makes with them on the same inputs. A site
that is not given has None, and is drawn::

    hfvae(q, p, dataset_size=60000, encoder=lambda given: encoder(x, y_values=given["y"]))
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution

from unknot.core import gradients, validation
from unknot.core.handlers import learned
from unknot.core.node import Variable
from unknot.core.relaxed import BinaryConcrete, Relaxed
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import Encoder, Given, own_leading
from unknot.objectives.marginal.join_distributions import join_distributions, parameters
from unknot.objectives.marginal.variable_pairs import item_distribution, refuse_inactive


def is_finite(node: Variable) -> bool:
    """Whether every value of the site is one of finitely many: hard, not soft."""
    if not gradients.is_finite(node.dist) or node.gradient == "plug_in":
        return False
    if node.event_dims > len(node.dist.event_shape):
        return False  # several discrete variables at one site
    return node.known is True or node.gradient != "concrete"


def support(node: Variable) -> Tensor:
    """All values of a finite site, (K, event...)."""
    return gradients.support(node.dist)


def class_index(node: Variable) -> Tensor:
    """Which value of the support each draw has, over the leading axes."""
    if isinstance(node.dist, Categorical | Bernoulli | BinaryConcrete):
        return node.value.detach().round().long()
    return node.value.detach().argmax(-1)


def class_masses(node: Variable, dist: Distribution) -> Tensor:
    """log q of every value of a finite site under ``dist``, batch shape (...): (K, ...)."""
    values = support(node)
    values = values.reshape(len(values), *(1,) * len(dist.batch_shape), *values.shape[1:])
    return dist.log_mass(values) if isinstance(dist, Relaxed) else dist.log_prob(values)


def enumerated_table(node: Variable, parents: Sequence[Variable], items: int) -> Distribution | None:
    """The table (T, B, dims...) that the trace holds already, T counting the parents' values in their order.

    None if a parent is not enumerated, or if the parameters vary over samples too.
    """
    refuse_inactive(node)
    lead = own_leading(node)
    if not all(one.enumerated for one in parents) or _varies(node, len(lead) - 2):
        return None
    axes = max(len(lead), *(one.leading_dims for one in parents))
    kept = [axes - one.leading_dims for one in parents]  # (..., K2, K1, S, B): these count from the right
    others = [axis for axis in range(axes - 1) if axis not in kept]
    if any(_varies(node, axis - axes + len(lead)) for axis in others):
        raise SpecError(
            f"site '{node.name}': its parameters differ between the values of an enumerated site that parents= leaves "
            f"out; add it to parents={{'{node.name}': [...]}}, or let parents be found (leave it None)"
        )
    sizes = [len(support(one)) for one in parents]

    def table(tensors: list[Tensor]) -> Tensor:
        rest = tensors[0].shape[len(lead) :]
        full = tensors[0].reshape(*(1,) * (axes - len(lead)), *tensors[0].shape)
        for axis in others:
            full = full.narrow(axis, 0, 1)
        full = full.permute(*kept, *others, *range(axes - 1, full.ndim)).flatten(len(kept), axes - 1)
        return full.expand(*sizes, items, *rest).reshape(-1, items, *rest)

    return join_distributions([node.dist], table)


def _varies(node: Variable, axis: int) -> bool:
    """Whether a leading axis of the parameters is more than broadcasting."""
    return axis >= 0 and any(t.shape[axis] > 1 and t.stride(axis) != 0 for t in parameters(node.dist))


class EncoderRuns:
    """Runs the encoder again, at given values; a table for each set of parents is made once."""

    def __init__(self, encoder: Encoder, items: int, event_dims: Mapping[str, int]) -> None:
        self.encoder = encoder
        self.items = items
        self.event_dims = {
            (-1, name): dims for name, dims in event_dims.items()
        }  # in whatever trace they are
        self._tables: dict[tuple[str, ...], list[Trace]] = {}

    def table(self, node: Variable, parents: Sequence[Variable]) -> Distribution:
        """Parameters of ``node`` at (x_c, k) for all k: (T, B, dims...)."""
        names = tuple(parent.name for parent in parents)
        if names not in self._tables:
            combinations = itertools.product(*(support(parent) for parent in parents))
            self._tables[names] = [
                self.at({name: self.repeated(value) for name, value in zip(names, values, strict=True)})
                for values in combinations
            ]
        runs = self._tables[names]
        return join_distributions([self.distribution(run, node) for run in runs], torch.stack)

    def at(self, values: Mapping[str, Tensor]) -> Trace:
        """The encoder's trace with ``values``, (B, event...) each; checks that they were used."""
        with learned(self.event_dims):
            q = self.encoder(Given(values))
        for name, value in values.items():
            taken = q[name].known is True and q[name].value.shape[-value.ndim :] == value.shape
            if not taken or (validation.is_on() and not bool((q[name].value == value).all())):
                raise SpecError(
                    f"encoder=: the trace it returned does not have '{name}' at the given value; observe it there, "
                    f"for example encoder=lambda given: net(x, {name}_values=given['{name}'])"
                )
        return q

    def at_once(self, nodes: Mapping[str, Variable]) -> Trace:
        """The encoder's trace with ``nodes``, whose values (M, B, event...) are those of M runs; checks likewise."""
        with learned(self.event_dims):
            q = self.encoder(Given(nodes))
        for name, node in nodes.items():
            if q[name].source is not node:
                raise SpecError(
                    f"encoder=: the trace it returned does not have '{name}' at the given values; with together=True "
                    f"they are nodes, to be handed on as they are: value=given['{name}']"
                )
        return q

    def repeated(self, value: Tensor) -> Tensor:
        """One value for all items."""
        return value.expand(self.items, *value.shape)

    def distribution(self, run: Trace, node: Variable) -> Distribution:
        """The parameters of a site in a run, one row for each item."""
        return item_distribution(run[node.name], self.items)
