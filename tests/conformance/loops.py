"""Every term of the decomposition by plain loops over items, classes, samples and reference items.

The reference shares no definition with the package: densities are written out, a covariance is inverted by
elimination, and one number is added at a time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.distributions import LowRankMultivariateNormal

import unknot

double = torch.float64
TREES: dict[str, dict[str, list[str]]] = {
    "two groups": {"a": ["y", "w"], "b": ["z"]},
    "three groups": {"a": ["y"], "b": ["z"], "c": ["w"]},
    "one group": {"a": ["y", "z", "w"]},
}
KINDS = ["enumerated", "partly labeled", "observed"]
FAMILIES = ["normal", "multivariate", "low rank"]
SCALE = {"z": 0.6, "w": 0.9}
SHIFT, STRETCH = 0.8, 0.5  # of loc and spread from one class to the next, where z and w depend on y
PRIOR_LOC, PRIOR_SHARED = (
    0.3,
    0.5,
)  # of a multivariate prior: covariance 1 + 0.5 on the diagonal, 0.5 beside it
WEIGHTS = {"mutual_information": 0.3, "between": 1.0, "below the root": -0.7, "marginal": 0.5}
Parameters = dict[str, Tensor]


class Problem:
    """A class y and two styles, z of D dimensions and w of one, at fixed noise.

    ``kind`` says which labels of y are known, ``family`` and ``prior`` what z is in q and in p; ``dependent``: z and
    w are inferred from x and y.
    """

    def __init__(
        self,
        kind: str,
        items: int,
        classes: int,
        samples: int | None,
        dimensions: int,
        dependent: bool = False,
        family: str = "normal",
        prior: str = "normal",
    ) -> None:
        self.kind, self.items, self.classes, self.samples = kind, items, classes, samples
        self.dimensions, self.dependent, self.family, self.prior = dimensions, dependent, family, prior
        self.size = 1 if items == 1 else items + 3  # the stratified estimator needs two items of several
        generator = torch.Generator().manual_seed(100 * items + 10 * classes + dimensions)
        shapes = {"y": (items, classes), "z": (items, dimensions), "w": (items, 1)}
        self.start = {n: torch.randn(*s, generator=generator, dtype=double) for n, s in shapes.items()}
        rows = 1 if samples is None else samples
        self.noise = {n: torch.randn(rows, *shapes[n], generator=generator, dtype=double) for n in ("z", "w")}
        if family != "normal":  # a lower triangle: below the diagonal anything, on it at least 0.4
            spread = torch.randn(items, dimensions, dimensions, generator=generator, dtype=double)
            diagonal = 0.4 + spread.diagonal(dim1=-2, dim2=-1).abs()
            self.start["spread"] = spread.tril(-1) + torch.diag_embed(diagonal)
        labels = [b % classes for b in range(items)]
        if kind == "enumerated":
            labels = [-1] * items
        elif kind == "partly labeled":
            labels = [label if b % 2 == 0 else -1 for b, label in enumerate(labels)]
        self.labels = labels

    def encode(self, parameters: Parameters, classes: Tensor | None = None) -> unknot.Trace:
        q, labels = unknot.Trace(samples=self.samples), torch.tensor(self.labels)
        value = {"enumerated": None, "partly labeled": unknot.partial(labels), "observed": labels}[self.kind]
        value = value if classes is None else classes
        way = None if self.kind == "observed" else "enumerate"
        y = q.one_hot_categorical(logits=parameters["y"], value=value, name="y", gradient=way)
        for name in ("z", "w"):
            loc, stretch = parameters[name], torch.ones(1, dtype=double)
            if self.dependent:
                index = y @ torch.arange(self.classes, dtype=double)[:, None]  # (K, 1, B, 1) or (B, 1)
                loc, stretch = loc + SHIFT * index, 1 + STRETCH * index
            self.style(q, name, loc, stretch, parameters)
            drawn = loc + SCALE[name] * self.noise[name]  # (S, B, D) or (K, S, B, D)
            q[name].value = drawn.reshape(q[name].value.shape)
        return q

    def style(self, q: unknot.Trace, name: str, loc: Tensor, stretch: Tensor, parameters: Parameters) -> None:
        if name == "w" or self.family == "normal":
            q.normal(loc, SCALE[name] * stretch, name=name, event_dims=1)
        elif self.family == "multivariate":
            q.multivariate_normal(
                loc, scale_tril=parameters["spread"].tril() * stretch[..., None], name=name, event_dims=1
            )
        else:
            spread = parameters["spread"]
            factor = spread[..., :1] * stretch[..., None]  # (..., D, 1)
            diagonal = spread.diagonal(dim1=-2, dim2=-1).square() * stretch.square()
            q.variable(
                LowRankMultivariateNormal(loc, factor, diagonal, validate_args=False), name=name, event_dims=1
            )

    def options(self, parameters: Parameters, tree: Mapping[str, list[str]]) -> dict[str, Any]:
        found: dict[str, Any] = {"dataset_size": self.size, "groups": tree, "parents": {"z": []}}
        if self.dependent:
            found["parents"] = {"z": ["y"], "w": ["y"]}
            found["encoder"] = lambda given: self.encode(parameters, given["y"])
        return found

    def traces(self, parameters: Parameters) -> tuple[unknot.Trace, unknot.Trace]:
        q, p = self.encode(parameters), unknot.Trace()
        p.one_hot_categorical(logits=torch.zeros(self.classes, dtype=double), value=q["y"], name="y")
        zero, eye = torch.zeros((), dtype=double), torch.eye(self.dimensions, dtype=double)
        if self.prior == "normal":
            p.normal(zero, 1.0, value=q["z"], name="z")
        else:
            loc = torch.full((self.dimensions,), PRIOR_LOC, dtype=double)
            p.multivariate_normal(loc, eye + PRIOR_SHARED, value=q["z"], name="z")
        p.normal(zero, 1.0, value=q["w"], name="w")
        p.normal(zero, 1.0, value=torch.ones(self.items, dtype=double), name="x")
        return q, p


def normal_log(value: float, loc: float, variance: float) -> float:
    return -0.5 * ((value - loc) ** 2 / variance + math.log(variance) + math.log(2 * math.pi))


def gaussian_log(value: list[float], loc: list[float], covariance: list[list[float]]) -> float:
    """log N(value; loc, covariance), eliminating one row after another."""
    size = len(value)
    rows = [[*row, v - m] for row, v, m in zip(covariance, value, loc, strict=True)]
    off = [row[-1] for row in rows]
    log_determinant = 0.0
    for i in range(size):
        log_determinant += math.log(rows[i][i])
        for j in range(i + 1, size):
            share = rows[j][i] / rows[i][i]
            rows[j] = [a - share * b for a, b in zip(rows[j], rows[i], strict=True)]
    solution = [0.0] * size
    for i in reversed(range(size)):
        rest = sum(rows[i][j] * solution[j] for j in range(i + 1, size))
        solution[i] = (rows[i][-1] - rest) / rows[i][i]
    quadratic = sum(a * b for a, b in zip(off, solution, strict=True))
    return -0.5 * (quadratic + log_determinant + size * math.log(2 * math.pi))


class Loops:
    """The terms of every item, one draw, one class and one reference item at a time."""

    def __init__(self, problem: Problem, parameters: Mapping[str, Tensor]) -> None:
        self.problem = problem
        self.parameters = {name: tensor.tolist() for name, tensor in parameters.items()}
        self.noise = {name: tensor.tolist() for name, tensor in problem.noise.items()}

    def leaves_of(self, name: str) -> range:
        return range(1 if name == "y" else len(self.parameters[name][0]))

    def class_probability(self, item: int, k: int) -> float:
        logits = self.parameters["y"][item]
        return math.exp(logits[k]) / sum(math.exp(logit) for logit in logits)

    def loc(self, name: str, item: int, k: int) -> list[float]:
        moved = SHIFT * k if self.problem.dependent else 0.0
        return [loc + moved for loc in self.parameters[name][item]]

    def covariance(self, name: str, item: int, k: int) -> list[list[float]]:
        """Of a style of an item whose class is k."""
        stretch = (1 + STRETCH * k if self.problem.dependent else 1.0) ** 2
        places = self.leaves_of(name)
        if name == "w" or self.problem.family == "normal":
            return [[stretch * SCALE[name] ** 2 * (i == j) for j in places] for i in places]
        spread = self.parameters["spread"][item]
        if self.problem.family == "low rank":
            return [
                [stretch * (spread[i][0] * spread[j][0] + (i == j) * spread[i][i] ** 2) for j in places]
                for i in places
            ]
        return [
            [stretch * sum(spread[i][m] * spread[j][m] for m in range(min(i, j) + 1)) for j in places]
            for i in places
        ]

    def value(self, name: str, k: int, s: int, b: int) -> list[float]:
        noise = self.noise[name][s][b]
        return [loc + SCALE[name] * e for loc, e in zip(self.loc(name, b, k), noise, strict=True)]

    def log_density(self, name: str, k: int, s: int, b: int, c: int, given: int, d: int | None) -> float:
        """log q of the draw (k, s) of item b under item c whose class is ``given``; of its dimension d alone."""
        if name == "y":
            return math.log(self.class_probability(c, k))
        value, loc, covariance = (
            self.value(name, k, s, b),
            self.loc(name, c, given),
            self.covariance(name, c, given),
        )
        if d is None:
            return gaussian_log(value, loc, covariance)
        return normal_log(value[d], loc[d], covariance[d][d])

    def density(self, names: list[str], k: int, s: int, b: int, c: int, d: int | None = None) -> float:
        """q of the draw under item c: at the draw's own class if it is among ``names``, else over all classes.

        ``d`` takes one dimension of the only name.
        """

        def at(given: int) -> float:
            return math.exp(sum(self.log_density(name, k, s, b, c, given, d) for name in names))

        if "y" in names:
            return at(k)
        if not self.problem.dependent:
            return at(0)
        return sum(self.class_probability(c, given) * at(given) for given in range(self.problem.classes))

    def joint(self, names: list[str], k: int, s: int, b: int, d: int | None = None) -> float:
        """The stratified mixture: own item 1/N, every other item of the batch (N - 1) / (N (B - 1))."""
        items, size = self.problem.items, self.problem.size
        total = 0.0
        for c in range(items):
            weight = 1.0 / size if c == b else (size - 1) / (size * (items - 1))
            total += weight * self.density(names, k, s, b, c, d)
        return math.log(total)

    def prior(self, name: str, k: int, s: int, b: int) -> tuple[float, float]:
        """log p of a site and the sum of those of its dimensions."""
        if name == "y":
            return (-math.log(self.problem.classes),) * 2
        value = self.value(name, k, s, b)
        if name == "w" or self.problem.prior == "normal":
            return (sum(normal_log(v, 0.0, 1.0) for v in value),) * 2
        places = range(len(value))
        covariance = [[(i == j) + PRIOR_SHARED for j in places] for i in places]
        single = sum(normal_log(v, PRIOR_LOC, 1.0 + PRIOR_SHARED) for v in value)
        return gaussian_log(value, [PRIOR_LOC] * len(value), covariance), single

    def at(self, tree: Mapping[str, list[str]], k: int, s: int, b: int) -> dict[str, float]:
        names = [name for members in tree.values() for name in members]
        whole = self.joint(names, k, s, b)
        drawn = [name for name in names if name != "y" or self.problem.labels[b] < 0]
        own = sum(self.log_density(name, k, s, b, b, given=k, d=None) for name in drawn)
        below, single = 0.0, 0.0
        for members in tree.values():
            if len(members) > 1:
                below += sum(self.joint([name], k, s, b) for name in members) - self.joint(members, k, s, b)
        for name in names:
            logs = sum(self.joint([name], k, s, b, d) for d in self.leaves_of(name))
            prior, prior_single = self.prior(name, k, s, b)
            below += (prior - prior_single) - (self.joint([name], k, s, b) - logs)
            single += prior_single - logs
        between = sum(self.joint(members, k, s, b) for members in tree.values()) - whole
        return {
            "mutual_information": whole - own,
            "between": between,
            "below the root": below,
            "marginal": single,
        }

    def terms(self, tree: Mapping[str, list[str]]) -> dict[str, list[float]]:
        """Every term of every item, averaged over classes and samples."""
        samples = self.problem.samples or 1
        found: dict[str, list[float]] = {}
        for b in range(self.problem.items):
            totals: dict[str, float] = {}
            for k, s in itertools.product(range(self.problem.classes), range(samples)):
                label = self.problem.labels[b]
                weight = self.class_probability(b, k) if label < 0 else float(label == k)
                if weight == 0.0:
                    continue
                for name, value in self.at(tree, k, s, b).items():
                    totals[name] = totals.get(name, 0.0) + weight * value / samples
            for name, value in totals.items():
                found.setdefault(name, []).append(value)
        return found

    def gradient(self, tree: Mapping[str, list[str]], step: float = 1e-5) -> Parameters:
        """Of :func:`weighted` terms, by central differences."""
        start = self.problem.start
        found = {name: torch.zeros_like(tensor) for name, tensor in start.items()}
        for name, tensor in start.items():
            for place in itertools.product(*map(range, tensor.shape)):
                sides = []
                for sign in (step, -step):
                    moved = {key: value.clone() for key, value in start.items()}
                    moved[name][place] += sign
                    sides.append(weighted(Loops(self.problem, moved).terms(tree)))
                found[name][place] = (sides[0] - sides[1]) / (2 * step)
        return found


def weighted(terms: Mapping[str, Any]) -> Any:
    """Every term of every item in one number."""
    return sum(WEIGHTS[name] * sum(value) for name, value in terms.items())


def by_name(terms: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The package's terms by the names that the reference gives them."""
    found = {name: terms[name] for name in ("mutual_information", "between", "marginal")}
    below = [value for name, value in terms.items() if name not in (*found, "reconstruction")]
    return {**found, "below the root": torch.stack(below).sum(0)}


def same(found: Tensor, wanted: list[float]) -> None:
    """Equal to ten digits."""
    torch.testing.assert_close(found.detach(), torch.tensor(wanted, dtype=double), rtol=1e-9, atol=1e-9)
