"""Slow, obvious twin of q(z_G) for encoders with dependent finite sites and Gaussian ends: sums over everything.

A program is data: for every site its parents, its number of classes (0: a Gaussian vector), and for every item
and every value of the parents its logits or its means and spreads. Nothing of it knows of traces.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Site:
    name: str
    parents: tuple[str, ...]
    classes: int  # 0: Gaussian
    gradient: str
    table: dict[tuple[int, ...], Tensor]  # parents' classes -> (N, classes) or (N, 2, D)


@dataclass(frozen=True)
class FiniteProgram:
    sites: tuple[Site, ...]
    items: int

    def site(self, name: str) -> Site:
        return next(site for site in self.sites if site.name == name)


def random_program(seed: int, most: int = 4, items: int = 3) -> FiniteProgram:
    """Up to ``most`` sites, each on some of the finite ones before it; the last may be Gaussian, others too."""
    rng, noise = random.Random(seed), torch.Generator().manual_seed(seed)
    sites: list[Site] = []
    for place in range(rng.randint(2, most)):
        finite = [site for site in sites if site.classes]
        parents = tuple(site.name for site in finite if rng.random() < 0.7)
        classes = rng.choice((0, 2, 2, 3))
        gradient = rng.choice(("enumerate", "score_function", "straight_through")) if classes else "pathwise"
        keys = itertools.product(*(range(site.classes) for site in finite if site.name in parents))
        shape = (items, classes) if classes else (items, 2, 2)
        table = {key: torch.randn(*shape, generator=noise, dtype=torch.float64) for key in keys}
        sites.append(Site(f"s{place}", parents, classes, gradient, table))
    return FiniteProgram(tuple(sites), items)


def log_density(site: Site, item: int, classes: dict[str, int], value: Tensor | int) -> float:
    """log q(value | x_item, parents); ``value`` is a class index or a Gaussian vector."""
    row = site.table[tuple(classes[name] for name in site.parents)][item].tolist()
    if site.classes:
        return row[int(value)] - log_sum(row)
    assert isinstance(value, Tensor)
    total = 0.0
    for mean, log_spread, z in zip(*row, value.tolist(), strict=True):
        total += -0.5 * ((z - mean) / math.exp(log_spread)) ** 2 - log_spread - 0.5 * math.log(2 * math.pi)
    return total


def log_set(program: FiniteProgram, names: Sequence[str], item: int, values: dict[str, Tensor]) -> float:
    """log q(z_G | x_item): a sum over every value of every finite site that is not in G."""
    others = [site for site in program.sites if site.classes and site.name not in names]
    logs = []
    for places in itertools.product(*(range(site.classes) for site in others)):
        classes = {site.name: place for site, place in zip(others, places, strict=True)}
        classes |= {name: int(values[name]) for name in names if program.site(name).classes}
        log = 0.0
        for site in program.sites:
            if site.name in names:
                log += log_density(site, item, classes, values[site.name])
            elif site.classes:
                log += log_density(site, item, classes, classes[site.name])
        logs.append(log)
    return log_sum(logs)


def log_dimension(program: FiniteProgram, name: str, d: int, item: int, value: Tensor) -> float:
    """log q(z_d | x_item) of one dimension of a Gaussian site."""
    site = program.site(name)
    narrow = Site(
        name, site.parents, 0, site.gradient, {k: t[:, :, d : d + 1] for k, t in site.table.items()}
    )
    kept = tuple(narrow if one.name == name else one for one in program.sites)
    return log_set(FiniteProgram(kept, program.items), [name], item, {name: value[d : d + 1]})


def mixture(logs: Sequence[float]) -> float:
    """log of the mean over items."""
    return log_sum(logs) - math.log(len(logs))


def log_sum(logs: Sequence[float]) -> float:
    top = max(logs)
    return top + math.log(sum(math.exp(one - top) for one in logs))


def rows(shape: torch.Size) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(size) for size in shape))
