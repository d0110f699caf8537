"""Small models of discrete variables, given by tables: as Trace programs, and summed out by loops.

A graph lists, for q and for p, each variable with its parents, in order. In q every variable also depends on the
data x, in p x depends on all variables. Everything is float64.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import unknot

VALUES = 3  # every latent variable has three values
OUTCOMES = 4  # and x has four
Graph = list[tuple[str, tuple[str, ...]]]
Item = dict[str, int]  # values of some variables of one item

GRAPHS: dict[str, tuple[Graph, Graph]] = {
    "z->y": ([("z", ()), ("y", ("z",))], [("y", ()), ("z", ("y",))]),
    "y->z": ([("y", ()), ("z", ("y",))], [("y", ()), ("z", ())]),
    "z1->y1->z2": (
        [("z1", ()), ("y", ("z1",)), ("z2", ("z1", "y"))],
        [("z1", ()), ("y", ("z1",)), ("z2", ())],
    ),
    "two labels": ([("z", ()), ("y", ("z",)), ("v", ("z", "y"))], [("v", ()), ("y", ()), ("z", ("v",))]),
}


@dataclass
class DiscreteModel:
    """Logits of every conditional: ``q_tables[name][x, parents..., value]``, ``p_tables[name][parents..., value]``."""

    q: Graph
    p: Graph
    q_tables: dict[str, Tensor]
    p_tables: dict[str, Tensor]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.q]

    def run(
        self,
        x: Tensor,
        labels: dict[str, Any] | None = None,
        samples: int | None = None,
        gradient: str | dict[str, str] = "score_function",
        rows: Tensor | None = None,
    ) -> tuple[unknot.Trace, unknot.Trace]:
        """The two programs. ``rows`` picks each item's row of q's tables, by default its x."""
        q, p = unknot.Trace(samples=samples), unknot.Trace()
        values: dict[str, Tensor] = {}
        for name, parents in self.q:
            way = gradient if isinstance(gradient, str) else gradient[name]
            logits = self.q_tables[name][(x if rows is None else rows, *(values[a] for a in parents))]
            given = (labels or {}).get(name)
            values[name] = q.categorical(logits=logits, value=given, name=name, gradient=way, event_dims=0)
        for name, parents in self.p:
            table = self.p_tables[name]
            logits = table[tuple(values[a] for a in parents)] if parents else table
            p.categorical(logits=logits, value=q[name], name=name)
        p.categorical(logits=self.p_tables["x"][tuple(values[n] for n in self.names)], value=x, name="x")
        return q, p

    def log_q(self, x: int, item: Item, names: list[str]) -> Tensor:
        """Σ log q(name | parents, x) over the names."""
        terms = [_entry(self.q_tables[n][x], a, n, item) for n, a in self.q if n in names]
        return torch.stack(terms).sum() if terms else torch.zeros((), dtype=torch.float64)

    def log_p(self, x: int, item: Item) -> Tensor:
        """log p(x, all variables)."""
        terms = [_entry(self.p_tables[n], a, n, item) for n, a in self.p]
        x_logits = self.p_tables["x"][tuple(item[n] for n in self.names)]
        return torch.stack([*terms, x_logits.log_softmax(-1)[x]]).sum()

    def completions(self, observed: Item) -> list[Item]:
        """Every way to fill in what was not observed."""
        free = [name for name in self.names if name not in observed]
        choices = itertools.product(range(VALUES), repeat=len(free))
        return [observed | dict(zip(free, choice, strict=True)) for choice in choices]


def make_model(graph: str, seed: int = 0) -> DiscreteModel:
    """A model with random tables on one of the graphs."""
    generator = torch.Generator().manual_seed(seed)
    q, p = GRAPHS[graph]

    def table(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    q_tables = {name: table(OUTCOMES, *(VALUES,) * len(parents), VALUES) for name, parents in q}
    p_tables = {name: table(*(VALUES,) * len(parents), VALUES) for name, parents in p}
    return DiscreteModel(q, p, q_tables, p_tables | {"x": table(*(VALUES,) * len(q), OUTCOMES)})


def item_labels(labels: dict[str, Any], index: int) -> Item:
    """What one item of a batch has observed."""
    return {name: int(part.values[index]) for name, part in labels.items() if bool(part.known[index])}


def _entry(table: Tensor, parents: tuple[str, ...], name: str, item: Item) -> Tensor:
    return table[tuple(item[a] for a in parents)].log_softmax(-1)[item[name]]
