"""Random graphs of discrete variables with evidence ψ on them, and S17's Eqs. 4, 8 and 9 for one item by plain sums.

Nothing here uses logarithms of sums, conditioned distributions or labels: evidence is a factor ψ(v) of each value.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor

import unknot

Item = dict[str, int]


@dataclass
class EvidenceModel:
    """Logits ``q[name][parents..., x, value]``, ``p[name][parents..., value]``, and ψ ``[name][item, value]``."""

    sizes: dict[str, int]  # in the order of q
    q_parents: dict[str, list[str]]
    p_parents: dict[str, list[str]]  # in the order of p
    q_logits: dict[str, Tensor]
    p_logits: dict[str, Tensor]
    x_logits: Tensor  # log p(x = the item's data | all variables)
    psi: dict[str, Tensor]
    items: int

    @property
    def leaves(self) -> list[Tensor]:
        """All tensors that take a gradient."""
        tables = [*self.q_logits.values(), *self.p_logits.values(), self.x_logits]
        return [*tables, *(psi for psi in self.psi.values() if psi.requires_grad)]

    def run(self, gradient: str, samples: int | None = None, family: str = "categorical") -> tuple[Any, Any]:
        """The two programs."""
        q, p = unknot.Trace(samples=samples), unknot.Trace()
        rows = torch.arange(self.items)
        index: dict[str, Tensor] = {}

        def site(trace: unknot.Trace, name: str, logits: Tensor, value: Any, **how: Any) -> Tensor:
            if family == "categorical":
                return trace.categorical(logits=logits, value=value, name=name, **how)
            if family == "concrete":
                return trace.concrete(logits, 0.5, value=value, name=name, **how)
            return trace.one_hot_categorical(logits=logits, value=value, name=name, **how)

        for name, parents in self.q_parents.items():
            logits = self.q_logits[name][(*(index[a] for a in parents), rows)]
            given = unknot.partial(probabilities=self.psi[name]) if name in self.psi else None
            event = 0 if family == "categorical" else 1
            value = site(q, name, logits, given, gradient=gradient, event_dims=event)
            index[name] = value if family == "categorical" else value.argmax(-1)
        for name, parents in self.p_parents.items():
            table = self.p_logits[name]
            site(p, name, table[tuple(index[a] for a in parents)] if parents else table, q[name])
        p.log_term(self.x_logits[(*(index[name] for name in self.sizes), rows)], name="x")
        return q, p

    def everything(self) -> list[Item]:
        """Every value of all variables."""
        choices = itertools.product(*(range(size) for size in self.sizes.values()))
        return [dict(zip(self.sizes, choice, strict=True)) for choice in choices]

    def q(self, i: int, item: Item) -> Tensor:
        """q(all variables | x)."""
        return torch.stack([self._row_q(i, item, n)[item[n]] for n in self.sizes]).prod()

    def p(self, i: int, item: Item) -> Tensor:
        """p(x, all variables)."""
        factors = [
            self.p_logits[name][tuple(item[a] for a in parents)].softmax(-1)[item[name]]
            for name, parents in self.p_parents.items()
        ]
        return torch.stack([*factors, self.x_logits[(*item.values(), i)].exp()]).prod()

    def evidence(self, i: int, item: Item) -> Tensor:
        """Π ψ."""
        one = torch.ones((), dtype=torch.float64)
        return torch.stack([one, *(psi[i, item[name]] for name, psi in self.psi.items())]).prod()

    def weight(self, i: int, item: Item) -> Tensor:
        """w: for every variable with evidence Σ_v q(v | its parents) ψ(v)."""
        one = torch.ones((), dtype=torch.float64)
        return torch.stack(
            [one, *((self._row_q(i, item, n) * self.psi[n][i]).sum() for n in self.psi)]
        ).prod()

    def _row_q(self, i: int, item: Item, name: str) -> Tensor:
        return self.q_logits[name][(*(item[a] for a in self.q_parents[name]), i)].softmax(-1)


def random_model(seed: int) -> EvidenceModel:
    """A random graph of one to three variables with one to three values, and one to three items."""
    random, generator = Random(seed), torch.Generator().manual_seed(seed)
    names = ["a", "b", "c"][: random.randint(1, 3)]
    sizes = {name: random.randint(1, 3) for name in names}
    items = random.randint(1, 3)

    def table(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    def parents(order: list[str]) -> dict[str, list[str]]:
        return {n: [a for a in order[:place] if random.random() < 0.6] for place, n in enumerate(order)}

    q_parents, p_parents = parents(names), parents(random.sample(names, len(names)))
    q_logits = {n: table(*(sizes[a] for a in above), items, sizes[n]) for n, above in q_parents.items()}
    p_logits = {n: table(*(sizes[a] for a in above), sizes[n]) for n, above in p_parents.items()}
    with_evidence = [name for name in names if random.random() < 0.7] or names[:1]
    psi = {name: _psi(random, generator, items, sizes[name]) for name in with_evidence}
    return EvidenceModel(
        sizes, q_parents, p_parents, q_logits, p_logits, table(*sizes.values(), items), psi, items
    )


def _psi(random: Random, generator: torch.Generator, items: int, size: int) -> Tensor:
    """For each item nothing, a class, some classes, or weights."""
    rows = []
    for _ in range(items):
        kind = random.choice(["nothing", "class", "several", "weights"])
        row = torch.ones(size, dtype=torch.float64)
        if kind == "class":
            row = torch.eye(size, dtype=torch.float64)[random.randrange(size)]
        elif kind == "several":
            row = (torch.rand(size, generator=generator) < 0.6).double()
            row[random.randrange(size)] = 1.0
        elif kind == "weights":
            row = torch.rand(size, generator=generator, dtype=torch.float64) + 0.1
        rows.append(row)
    return torch.stack(rows).requires_grad_()


def equation_4(model: EvidenceModel, i: int, alpha: float) -> Tensor:
    """``E_{q(y,z|x,e)} [log p(x, y, z) - log q(y, z | x)] + (1 + α) log q(e | x)``, summed over all values."""
    possible = [item for item in model.everything() if model.evidence(i, item) > 0]
    joint = torch.stack([model.q(i, item) * model.evidence(i, item) for item in possible])
    ratio = torch.stack([model.p(i, item).log() - model.q(i, item).log() for item in possible])
    return (joint / joint.sum() * ratio).sum() + (1 + alpha) * joint.sum().log()


def log_evidence(model: EvidenceModel, i: int) -> Tensor:
    """``log Σ ψ(y) p(x, y, z)``."""
    return torch.stack([model.p(i, v) * model.evidence(i, v) for v in model.everything()]).sum().log()


def log_q_evidence(model: EvidenceModel, i: int) -> Tensor:
    """``log q(e | x)``."""
    return torch.stack([model.q(i, v) * model.evidence(i, v) for v in model.everything()]).sum().log()


def equation_8(model: EvidenceModel, i: int, draws: list[Item], alpha: float) -> Tensor:
    """``Σ_s w_s / Σ w [log p(x, y, z) - log q(y, z | x)] + (1 + α) mean_s log w_s``."""
    weights = torch.stack([model.weight(i, draw) for draw in draws])
    ratio = torch.stack([model.p(i, draw).log() - model.q(i, draw).log() for draw in draws])
    return (weights / weights.sum() * ratio).sum() + (1 + alpha) * weights.log().mean()


def equation_9(model: EvidenceModel, i: int, draws: list[Item], alpha: float) -> Tensor:
    """``log mean_s ψ p(x, y, z) / proposal + α log mean_s w``; the proposal is q ψ / w."""
    weights = torch.stack([model.weight(i, draw) for draw in draws])
    ratio = torch.stack([model.p(i, draw) / model.q(i, draw) for draw in draws])
    return (ratio * weights).mean().log() + alpha * weights.mean().log()


def expected_over_draws(equation: Any, model: EvidenceModel, i: int, samples: int, alpha: float) -> Tensor:
    """The expectation of an S-draw estimator over every S-tuple of draws from the proposal."""
    total = torch.zeros((), dtype=torch.float64)
    possible = [item for item in model.everything() if model.evidence(i, item) > 0]
    for draws in itertools.product(possible, repeat=samples):
        chances = [model.q(i, d) * model.evidence(i, d) / model.weight(i, d) for d in draws]
        total = total + math.prod(chances) * equation(model, i, list(draws), alpha)
    return total


def equation_8_relaxed(
    model: EvidenceModel, i: int, draws: list[Item], unbounded: list[dict[str, Tensor]], alpha: float
) -> Tensor:
    """Eq. 8 of relaxed sites: the probability of the evidence times the Concrete density of the possible classes."""

    def row(logits: Tensor, above: list[str], draw: Item, last: tuple[int, ...]) -> Tensor:
        return logits[(*(draw[a] for a in above), *last)].softmax(-1)

    def density(weights: Tensor, u: Tensor) -> Tensor:
        possible = weights > 0
        scores = weights[possible].log() - 0.5 * u[possible]
        count = int(possible.sum())
        constant = math.lgamma(count) + (count - 1) * math.log(0.5)
        return constant + (scores - scores.exp().sum().log()).sum()

    logs, weights = [], []
    for draw, u in zip(draws, unbounded, strict=True):
        log_weight = torch.zeros((), dtype=torch.float64)
        ratio = model.x_logits[(*draw.values(), i)]
        for name, size in model.sizes.items():
            psi = model.psi[name][i] if name in model.psi else torch.ones(size, dtype=torch.float64)
            own = row(model.q_logits[name], model.q_parents[name], draw, (i,)) * psi
            other = row(model.p_logits[name], model.p_parents[name], draw, ()) * psi
            log_weight = log_weight + own.sum().log()
            ratio = ratio + other.sum().log() + density(other, u[name]) - density(own, u[name])
        logs.append(ratio - log_weight)
        weights.append(log_weight.exp())
    stacked = torch.stack(weights)
    return (stacked / stacked.sum() * torch.stack(logs)).sum() + (1 + alpha) * stacked.log().mean()
