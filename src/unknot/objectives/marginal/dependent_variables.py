"""Encoders whose variables depend on each other: the right conditional in a mixture over items.

If the encoder computes z from x and y, the mixture at draw b must use q(z_b | x_c, y_b): the input of the
column, the parent's value of the *row*. The trace holds q(z | x_c, y_c) only. There are three ways to the rest:

* the parent is **enumerated**: the trace already holds z's parameters at every value of y;
* the parent is **discrete with K values**: the encoder is run K times, once with y = k for all items, and
  pair (b, c) reads table [k_b, c]: K x B network evaluations;
* anything else, a relaxed or a continuous parent: no finite table exists. ``every_pair=True`` runs the encoder
  once for every draw (B x B evaluations: small batches, tests); otherwise it is refused.

``encoder`` is a function from given values to the trace the encoder makes with them on the same inputs::

    hfvae(q, p, dataset_size=60000, encoder=lambda given: encoder(x, y_values=given["y"]))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution

from unknot.core.gradients import enumeration
from unknot.core.node import Variable
from unknot.core.relaxed import BinaryConcrete, Relaxed
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import own_leading
from unknot.objectives.marginal.join_distributions import join_distributions, parameters
from unknot.objectives.marginal.variable_pairs import item_distribution, refuse_inactive

Encoder = Callable[[Mapping[str, Tensor]], Trace]


@dataclass(frozen=True)
class Tables:
    """Parameters at every value of the parents, batch shape (K, B, dims...), and the row each draw reads."""

    dist: Distribution
    parent: Tensor


def enumerated_tables(node: Variable, items: int) -> Tables | None:
    """Tables that the trace holds already, if all the axes of the parameters before the batch are enumerated."""
    refuse_inactive(node)
    lead = own_leading(node)
    samples = len(lead) - 2
    if samples < 1 or any(t.shape[samples] > 1 and t.stride(samples) != 0 for t in parameters(node.dist)):
        return None  # they vary over samples: computed from a sampled draw
    values = lead[:samples]  # (K2, K1)

    def table(tensors: list[Tensor]) -> Tensor:
        first = tensors[0].narrow(samples, 0, 1)  # (K2, K1, 1, B, dims...)
        return first.reshape(values.numel(), items, *first.shape[len(lead) :])

    dist = join_distributions([node.dist], table)
    index = torch.arange(values.numel(), device=node.value.device).reshape(*values, 1, 1)
    return Tables(dist, index.expand(node.value.shape[: node.leading_dims]))


class ParentTables:
    """Runs the encoder at every combination of its discrete parents' values, once for each set of parents."""

    def __init__(self, encoder: Encoder, items: int) -> None:
        self.encoder = encoder
        self.items = items
        self._runs: dict[tuple[str, ...], list[Trace]] = {}

    def tables(self, node: Variable, parents: Sequence[Variable]) -> Tables:
        """Parameters of ``node`` at (x_c, k) for all k, and k_b for each of its draws."""
        dists = [item_distribution(run[node.name], self.items) for run in self._run(parents)]
        rows = node.value.shape[: node.leading_dims]
        index = torch.zeros((), dtype=torch.long, device=node.value.device)
        for parent in parents:
            index = index * len(_support(parent)) + _index(parent)
        return Tables(join_distributions(dists, torch.stack), index.expand(rows))

    def _run(self, parents: Sequence[Variable]) -> list[Trace]:
        names = tuple(parent.name for parent in parents)
        if names not in self._runs:
            combinations = itertools.product(*(_support(parent) for parent in parents))
            self._runs[names] = [
                run_encoder(self.encoder, dict(zip(names, values, strict=True)), self.items)
                for values in combinations
            ]
        return self._runs[names]


def run_encoder(encoder: Encoder, values: Mapping[str, Tensor], items: int) -> Trace:
    """The encoder's trace with one value per parent, the same for all items; checks that it was used."""
    q = encoder({name: value.expand(items, *value.shape) for name, value in values.items()})
    for name, value in values.items():
        if q[name].known is not True or not bool((q[name].value == value).all()):
            raise SpecError(
                f"encoder=: the trace it returned does not have '{name}' at the given value; observe it there, "
                f"for example encoder=lambda given: net(x, {name}_values=given['{name}'])"
            )
    return q


def pair_log_probs(node: Variable, parents: Sequence[Variable], encoder: Encoder, items: int) -> Tensor:
    """log q(z_bd | x_c, parents_b) by one run of the encoder for every draw: (*rows, C, D)."""
    rows = node.value.shape[: node.leading_dims]
    inputs = {parent.name: _flat(parent, parent.value, rows) for parent in parents}
    relaxed = isinstance(node.dist, Relaxed) and node.scored_by == "density"
    source = node.unbounded if relaxed else node.value
    assert source is not None
    points = _flat(node, source, rows)
    if relaxed and node.known is not False:
        raise SpecError(f"every_pair: relaxed site '{node.name}' with labels and parents is not supported")
    logs = []
    for row in range(rows.numel()):
        run = run_encoder(encoder, {name: values[row] for name, values in inputs.items()}, items)
        dist = item_distribution(run[node.name], items)
        log_prob = dist.log_density(points[row]) if isinstance(dist, Relaxed) and relaxed else None
        logs.append((dist.log_prob(points[row]) if log_prob is None else log_prob).reshape(items, -1))
    return torch.stack(logs).reshape(*rows, items, -1)


def is_finite_parent(node: Variable) -> bool:
    """Whether every value of the site is one of finitely many: hard, not soft."""
    if not enumeration.is_finite(node.dist) or node.gradient == "plug_in":
        return False
    if node.event_dims > len(node.dist.event_shape):
        return False  # several discrete variables at one site
    return node.known is True or node.gradient != "concrete"


def refuse_parents(node: Variable, parents: Sequence[Variable]) -> NoReturn:
    """Say why the marginal of a dependent variable cannot be estimated as asked, and what to do."""
    soft = [parent.name for parent in parents if not is_finite_parent(parent)]
    names = ", ".join(parent.name for parent in parents)
    sure = any(parent.value.requires_grad for parent in parents)
    need = (
        f"site '{node.name}' {'depends' if sure else 'may depend'} on {names} in the encoder, so q({node.name}) needs "
        f"its parameters at (x of one item, {names} of another). "
    )
    if not sure:
        need += f"If it does not, say parents={{'{node.name}': []}}. "
    if soft:
        raise SpecError(
            f"{need}The values of {', '.join(soft)} are not from a finite set, so there is no table of parameters. "
            "Use gradient='straight_through', 'score_function' or 'enumerate' there, or make the encoder's variables "
            "independent given x, or, in one process, pass encoder= and every_pair=True: B x B network evaluations."
        )
    raise SpecError(
        f"{need}Pass encoder=lambda given: net(x, ...=given['{parents[0].name}']); "
        f"it is run once for each value of {names}."
    )


def _support(parent: Variable) -> Tensor:
    return enumeration.support(parent.dist, torch.Size(), parent.event_dims)  # (K, event...)


def _index(parent: Variable) -> Tensor:
    """Which value of the support each draw has, over the leading axes."""
    if isinstance(parent.dist, Categorical | Bernoulli | BinaryConcrete):
        return parent.value.detach().round().long()
    return parent.value.detach().argmax(-1)


def _flat(node: Variable, value: Tensor, rows: torch.Size) -> Tensor:
    event = value.shape[node.leading_dims :]
    return value.expand(*rows, *event).reshape(rows.numel(), *event)
