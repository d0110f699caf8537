"""Random pairs of programs, and what their objectives must be, worked out one item at a time.

A :class:`Program` describes an encoder and a decoder: the latent sites, which of them depend on which, the labels, the
data. :func:`describe` draws one from a seed, with all sizes between 1 and 3, so that axes of equal size are common.
:func:`encoder` and :func:`decoder` compile it to Trace programs, written as a user would write them.

:func:`expected` computes the ELBO, Eq. 8 and Eq. 9 of S17 from the values that were drawn. It shares no code with the
library. It loops over items, samples and combinations of enumerated values, evaluates the networks for a single item,
and scores single values with formulas of its own, so that no two axes can be confused.
"""

from __future__ import annotations

import itertools
import math
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.special import gammaln, log_expit, log_softmax
from torch import Tensor

import unknot

POOLS = ((1, 2, 3), (1, 2, 3), (1, 2), (1, 3), (2, 3), (2,), (3,))  # few sizes: axes that coincide
TEMPERATURE = {"q": 0.66, "p": 0.9}
LOG_TAU = math.log(2 * math.pi)


# ---- descriptions -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conditional:
    """How the parameters of a site are computed.

    ``forms`` has one entry per parameter: "network" of the parents and x, or a constant: "item" (the shape of one
    item's parameter), "one" (the same with a batch axis of size one), "row" (its last axis only) or "number".
    """

    parents: tuple[str, ...] = ()
    uses_x: bool = False
    style: str = "cat"  # parents are joined by unknot.cat, or ("sum") added by broadcasting
    forms: tuple[str, ...] = ()

    def __str__(self) -> str:
        parents = [*self.parents, *(["x"] if self.uses_x else [])]
        return f"{'/'.join(self.forms)}{' of ' + self.style + ' ' + ','.join(parents) if parents else ''}"


@dataclass(frozen=True)
class Site:
    """A latent site. ``q`` is None where only p has the site and draws it from the prior."""

    name: str
    family: str
    shape: tuple[int, ...]  # one item's value
    p: Conditional
    q: Conditional | None = None
    classes: int = 0
    way: str | None = None
    labels: str = "none"  # "all": a tensor; "partial": known for some items
    one_hot_labels: bool = False
    mask: str | None = None  # "x" or a site: the items (draws, values) for which the site counts
    late: bool = False  # the mask is applied by keep_where at the end of the encoder
    scoped: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.name}[0].{self.name}" if self.scoped or self.late else self.name

    @property
    def enumerated(self) -> bool:
        return self.way == "enumerate" and self.labels != "all"

    @property
    def values(self) -> int:
        """How many values an enumerated site has."""
        return self.classes or 2


@dataclass(frozen=True)
class Data:
    """A data site. ``family`` is "normal", "bernoulli", "categorical", or a loss: by element, by item, of classes."""

    name: str
    family: str
    shape: tuple[int, ...]
    p: Conditional
    classes: int = 0
    mask: str | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Program:
    seed: int
    batch: int
    samples: int | None
    features: int
    sites: tuple[Site, ...]  # in the order of q; those that p draws come last
    p_order: tuple[str, ...]
    data: tuple[Data, ...]
    log_term: Conditional | None = None

    def __str__(self) -> str:
        rows = [
            f"B={self.batch} S={self.samples} F={self.features}, p in the order {', '.join(self.p_order)}"
        ]
        for site in self.sites:
            row = f"{site.full_name}: {site.family} {site.shape}"
            row += f" K={site.classes}" if site.classes else ""
            row += f" gradient={site.way}" if site.way else ""
            row += f" labels={site.labels}" if site.labels != "none" else ""
            row += f" {'keep_where' if site.late else 'where'}({site.mask})" if site.mask else ""
            rows.append(f"{row} q({site.q or 'absent'}) p({site.p})")
        for data in self.data:
            row = f"{data.name}: data, {data.family} {data.shape}"
            row += f" K={data.classes}" if data.classes else ""
            rows.append(f"{row}{f' where({data.mask})' if data.mask else ''} p({data.p})")
        if self.log_term:
            rows.append(f"bonus: log_term p({self.log_term})")
        return "\n  ".join(rows)

    def site(self, name: str) -> Site:
        return next(site for site in self.sites if site.name == name)

    @property
    def q_sites(self) -> list[Site]:
        return [site for site in self.sites if site.q is not None]

    @property
    def has_a_constant_like_a_batch(self) -> bool:
        """Whether q draws from a constant that a raw trace takes, by rule, for parameters with leading axes.

        The first axis that a trace meets is the batch, and so is one with the number of items later on.
        """
        is_met = False
        for site in self.q_sites:
            conditional = site.q
            assert conditional is not None
            elements = site.shape[: len(site.shape) - (1 if site.family in VECTORS else 0)]
            is_constant = "network" not in conditional.forms
            if is_constant and site.labels == "none" and not site.enumerated and elements:
                if "one" not in conditional.forms:
                    matrix = site.family == "categorical" or len(site.shape) > 1
                    like = elements[0] == self.batch or elements == (self.samples, self.batch)
                    if not is_met or (matrix and like):
                        return True
                elif self.samples == 1 and len(elements) > 1 and elements[0] == self.batch:
                    return True  # (1, B, D) is one sample of the batch
            is_met = is_met or (
                site.labels != "none" or conditional.uses_x or "one" in conditional.forms or site.enumerated
            )
        return False

    @property
    def enumerated(self) -> list[Site]:
        return [site for site in self.q_sites if site.enumerated]


RELAXED = ("concrete", "relaxed_bernoulli")
ONE_HOT = ("concrete", "one_hot_categorical")
CLASSES = ("categorical", *ONE_HOT)
VECTORS = (*ONE_HOT, "dirichlet", "multivariate_normal")  # one value is a vector
NO_NUMBERS = (*CLASSES, "dirichlet", "multivariate_normal", "element_loss", "item_loss", "class_loss")
WAYS: dict[str, tuple[str | None, ...]] = {
    "normal": (None, None, None, "score_function", "detached"),
    "laplace": (None,),
    "beta": (None, "score_function"),
    "multivariate_normal": (None, "score_function"),
    "dirichlet": (None,),
    "categorical": ("enumerate", "enumerate", "enumerate", None, "detached"),
    "one_hot_categorical": (
        "enumerate",
        "enumerate",
        "enumerate",
        None,
        "straight_through",
        "plug_in",
        "detached",
    ),
    "concrete": ("enumerate", None, None, "straight_through", "plug_in", "score_function", "detached"),
    "bernoulli": ("enumerate", "enumerate", None, "straight_through", "plug_in", "detached"),
    "relaxed_bernoulli": ("enumerate", None, None, "straight_through", "plug_in", "score_function"),
}
FAMILIES = (
    *["normal"] * 6,
    *["categorical", "one_hot_categorical", "concrete", "bernoulli"] * 2,
    *["laplace", "beta", "multivariate_normal", "dirichlet", "relaxed_bernoulli"],
)
# the parameters of each family: name and domain
PARAMETERS: dict[str, tuple[tuple[str, str], ...]] = {
    "normal": (("loc", "real"), ("scale", "positive")),
    "laplace": (("loc", "real"), ("scale", "positive")),
    "beta": (("concentration1", "positive"), ("concentration0", "positive")),
    "multivariate_normal": (("loc", "real"), ("scale_tril", "triangle")),
    "dirichlet": (("concentration", "positive"),),
    "categorical": (("logits", "real"),),
    "one_hot_categorical": (("logits", "real"),),
    "concrete": (("logits", "real"),),
    "bernoulli": (("logits", "real"),),
    "relaxed_bernoulli": (("logits", "real"),),
    "element_loss": (("value", "real"),),
    "item_loss": (("value", "real"),),
    "class_loss": (("value", "real"),),
}


def parameter_shape(site: Site | Data, domain: str) -> tuple[int, ...]:
    """The shape of one item's parameter."""
    if site.family in ("categorical", "class_loss"):
        return (*site.shape, site.classes)
    return site.shape * 2 if domain == "triangle" else site.shape


# ---- drawing a description --------------------------------------------------------------------------------


class Choices(random.Random):
    """Random choices; the sizes of one program come from a pool of one to three numbers."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.pool = self.choice(POOLS)

    def size(self) -> int:
        return self.choice(self.pool)


def describe(seed: int) -> Program:
    """The program of a seed."""
    rng = Choices(seed)
    names = [f"z{i}" for i in range(rng.choice((1, 2, 2, 3, 3, 3, 4, 4)))]
    samples = rng.choice((None, rng.size(), rng.size()))
    sites: list[Site] = []
    for name in names:
        sites.append(_latent(rng, name, sites))
    order = names[:]
    if rng.random() < 0.5:
        rng.shuffle(order)
    for i, name in enumerate(order):
        at = names.index(name)
        sites[at] = replace(sites[at], p=_conditional(rng, sites[at], order[:i], prior=True))
    if rng.random() < 0.15:  # a site that p draws itself
        own = Site("w", "normal", _shape(rng), p=Conditional())
        own = replace(own, p=_conditional(rng, own, order, prior=False))
        sites.append(own)
        order.append("w")
    data = []
    for i in range(rng.choice((1, 1, 2))):
        data.append(_data(rng, f"x{i}", order, sites))
    log_term = None
    if rng.random() < 0.15:
        log_term = Conditional(_some(rng, order), True, rng.choice(("cat", "sum")), ("network",))
    return Program(
        seed,
        rng.size(),
        samples,
        rng.size(),
        tuple(sites),
        tuple(order),
        tuple(data),
        log_term,
    )


def _latent(rng: Choices, name: str, before: list[Site]) -> Site:
    family = rng.choice(FAMILIES)
    shape, classes = _shape(rng), 0
    if family == "categorical":
        shape, classes = (shape[:1] if rng.random() < 0.15 else ()), rng.size()
    elif family in ONE_HOT:
        classes = rng.size()
        shape = (*(shape[:1] if rng.random() < 0.15 else ()), classes)
    elif family in ("multivariate_normal", "dirichlet"):
        shape = (*(shape[:1] if rng.random() < 0.15 else ()), rng.choice((2, 3)))
        shape = shape[-1:] if family == "multivariate_normal" else shape
    elif family != "normal":
        shape = shape[:1] if rng.random() < 0.5 else ()
    way = rng.choice(WAYS[family])
    counted = math.prod(site.values for site in before if site.enumerated)
    if way == "enumerate" and (counted * max(classes, 2) > 12 or not _one_variable(family, shape)):
        way = None
    labels = rng.choice(("none", "none", "none", "partial", "partial", "all"))
    site = Site(name, family, shape, Conditional(), None, classes, way, labels, rng.random() < 0.3)
    site = replace(site, q=_conditional(rng, site, [s.name for s in before], prior=False, x=0.75))
    if rng.random() < 0.15:
        site = replace(site, mask=rng.choice(("x", *(s.name for s in before))), late=rng.random() < 0.3)
    return replace(site, scoped=rng.random() < 0.2)


def _one_variable(family: str, shape: tuple[int, ...]) -> bool:
    return len(shape) == (1 if family in ONE_HOT else 0)


def _shape(rng: Choices) -> tuple[int, ...]:
    return tuple(rng.size() for _ in range(rng.choice((0, 0, 1, 1, 2))))


def _some(rng: Choices, names: list[str], share: float = 0.6) -> tuple[str, ...]:
    return tuple(name for name in names if rng.random() < share)


def _conditional(
    rng: Choices, site: Site | Data, names: list[str], prior: bool, x: float = 0.0
) -> Conditional:
    """``prior``: the value comes from q, so that parameters may lack axes."""
    parents = _some(rng, names)
    uses_x = rng.random() < x
    forms = []
    for i, (_, domain) in enumerate(PARAMETERS[site.family]):
        shape = parameter_shape(site, domain)
        constants = ["item", "one"]
        if prior or i > 0 or not shape:
            constants += ["number"] if site.family not in NO_NUMBERS else []
        if prior and len(shape) == 2 and domain != "triangle":
            constants.append("row")
        network = (parents or uses_x) and domain != "triangle" and (i == 0 or rng.random() < 0.5)
        forms.append("network" if network else rng.choice(constants))
    return Conditional(parents, uses_x, rng.choice(("cat", "sum")), tuple(forms))


def _data(rng: Choices, name: str, order: list[str], sites: list[Site]) -> Data:
    family = rng.choice(
        ("normal", "normal", "bernoulli", "bernoulli", "categorical", "element_loss", "item_loss")
    )
    family = rng.choice((family, family, family, family, "class_loss"))
    shape, classes = _shape(rng), 0
    if family in ("categorical", "class_loss"):
        shape, classes = (shape[:1] if rng.random() < 0.3 else ()), rng.choice((2, 3))
    data = Data(name, family, shape, Conditional(), classes)
    conditional = _conditional(rng, data, order, prior=family in ("normal", "bernoulli"))
    if "loss" in family and conditional.forms[0] != "network":
        conditional = replace(conditional, forms=("network",), uses_x=True)
    data = replace(data, p=conditional)
    if rng.random() < 0.1:
        data = replace(data, mask=rng.choice(("x", *(s.name for s in sites))))
    return data


# ---- weights ----------------------------------------------------------------------------------------------


class Weights:
    """Fixed random weights by name. ``shift`` moves all of them along one fixed direction."""

    def __init__(self, seed: int, shift: float = 0.0) -> None:
        self.seed = seed
        self.shift = torch.tensor(shift, dtype=torch.float64, requires_grad=True)
        self._made: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def _pair(self, name: str, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        if name not in self._made:
            rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
            self._made[name] = rng.normal(size=shape), rng.normal(size=shape)
        return self._made[name]

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        base, direction = self._pair(name, shape)
        return base + self.shift.item() * direction

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        base, direction = self._pair(name, shape)
        return torch.as_tensor(base) + self.shift * torch.as_tensor(direction)

    def number(self, name: str) -> float:
        return float(self._pair(name, ())[0])


def _constant_shape(form: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    return {"item": shape, "one": (1, *shape), "row": shape[-1:], "number": ()}[form]


# ---- the programs, as a user writes them ------------------------------------------------------------------


def _in_domain(raw: Any, domain: str, library: Any) -> Any:
    if domain == "real":
        return 1.5 * library.tanh(raw)
    if domain == "positive":
        return library.exp(0.5 * library.tanh(raw))
    eye = library.eye(raw.shape[-1], dtype=raw.dtype)
    return library.tril(0.3 * library.tanh(raw)) * (1 - eye) + eye * library.exp(0.3 * library.tanh(raw))


def features(site: Site, value: Tensor) -> Tensor:
    """A value as a vector per item, for a network."""
    if site.family == "categorical":
        value = torch.nn.functional.one_hot(value, site.classes).double()
        return value.flatten(-2) if site.shape else value
    return value[..., None] if not site.shape else value.flatten(-len(site.shape))


class Networks:
    """The parameters of all sites, in torch."""

    def __init__(self, program: Program, weights: Weights) -> None:
        self.program, self.weights = program, weights

    def parameters(self, site: Site | Data, role: str, values: dict[str, Tensor], x: Tensor) -> list[Any]:
        conditional = site.q if role == "q" else site.p
        assert conditional is not None
        found: list[Any] = []
        for (name, domain), form in zip(PARAMETERS[site.family], conditional.forms, strict=True):
            key, shape = f"{site.name}.{role}.{name}", parameter_shape(site, domain)
            if form == "network":
                raw = self.network(key, shape, conditional, values, x)
                found.append(_in_domain(raw, domain, torch))
            elif form == "number":
                found.append(float(_in_domain(self.weights.number(key), domain, np)))
            else:
                raw = self.weights.tensor(key, _constant_shape(form, shape))
                found.append(_in_domain(raw, domain, torch))
        return found

    def network(
        self, key: str, shape: tuple[int, ...], conditional: Conditional, values: dict[str, Tensor], x: Tensor
    ) -> Tensor:
        """A linear layer on the parents and x; (..., *shape)."""
        size = math.prod(shape)
        inputs = {name: features(self.program.site(name), values[name]) for name in conditional.parents}
        if conditional.uses_x:
            inputs["x"] = x[:, : self.program.features]
        kernels = {
            name: self.weights.tensor(f"{key}<{name}", (size, h.shape[-1])) for name, h in inputs.items()
        }
        bias = self.weights.tensor(f"{key}<bias", (size,))
        if conditional.style == "cat":
            h = unknot.cat(list(inputs.values()), -1)
            out = h @ torch.cat(list(kernels.values()), -1).T + bias
            return out.reshape(out.shape[:-1] + shape)
        total = bias.reshape(shape)
        for name, h in inputs.items():
            out = h @ kernels[name].T
            total = total + out.reshape(out.shape[:-1] + shape)
        return total

    def mask(self, mask: str, values: dict[str, Tensor], x: Tensor) -> Tensor:
        if mask == "x":
            return x[:, 0] > 0
        return features(self.program.site(mask), values[mask])[..., 0] > 0.3


def encoder(program: Program, weights: Weights, event_dims: bool) -> Callable[..., unknot.Trace]:
    """The encoder, a function of x and labels; ``event_dims`` are said at every site or at none."""
    networks = Networks(program, weights)

    def forward(x: Tensor, labels: dict[str, Any] | None = None) -> unknot.Trace:
        torch.manual_seed(program.seed)
        q = unknot.Trace(program.samples)
        values: dict[str, Tensor] = {}
        for site in program.q_sites:
            parameters = networks.parameters(site, "q", values, x)
            with ExitStack() as blocks:
                if site.scoped or site.late:
                    blocks.enter_context(q.scope(site.name, 0))
                if site.mask is not None and not site.late:
                    blocks.enter_context(q.where(networks.mask(site.mask, values, x)))
                value = (labels or {}).get(site.name)
                values[site.name] = _site(q, site, "q", parameters, value, event_dims)
        for site in program.q_sites:
            if site.mask is not None and site.late:
                q.keep_where(networks.mask(site.mask, values, x), site.name, 0)
        return q

    return forward


def decoder(program: Program, weights: Weights, event_dims: bool) -> Callable[..., unknot.Trace]:
    """The decoder, a function of x and the encoder's trace."""
    networks = Networks(program, weights)

    def forward(x: Tensor, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        values: dict[str, Tensor] = {}
        for name in program.p_order:
            site = program.site(name)
            parameters = networks.parameters(site, "p", values, x)
            with p.scope(name, 0) if site.scoped or site.late else ExitStack():
                value = None if site.q is None else q[site.full_name]
                values[name] = _site(p, site, "p", parameters, value, event_dims)
        if program.log_term is not None:
            p.log_term(networks.network("bonus", (), program.log_term, values, x), name="bonus")
        for site, columns in _columns(program):
            target = x[:, columns].reshape(x.shape[:1] + site.shape)
            parameters = networks.parameters(site, "p", values, x)
            with p.where(networks.mask(site.mask, values, x)) if site.mask else ExitStack():
                _data_site(p, site, parameters, target, event_dims)
        return p

    return forward


def _columns(program: Program) -> Iterator[tuple[Data, slice]]:
    start = program.features
    for site in program.data:
        yield site, slice(start, start + site.size)
        start += site.size


def _site(
    trace: unknot.Trace, site: Site, role: str, parameters: list[Any], value: Any, event_dims: bool
) -> Tensor:
    keywords: dict[str, Any] = {"value": value, "name": site.name}
    if role == "q":
        keywords["gradient"] = site.way
    if event_dims:
        keywords["event_dims"] = len(site.shape)
    method = getattr(trace, site.family)
    if site.family == "concrete":
        return method(*parameters, TEMPERATURE[role], **keywords)
    if site.family == "relaxed_bernoulli":
        return method(TEMPERATURE[role], logits=parameters[0], **keywords)
    names = [name for name, _ in PARAMETERS[site.family]]
    return method(**dict(zip(names, parameters, strict=True)), **keywords)


def _data_site(p: unknot.Trace, site: Data, parameters: list[Any], target: Tensor, event_dims: bool) -> None:
    if "loss" in site.family:
        if site.family == "class_loss":
            target = target.long()
        losses = {
            "element_loss": _squares,
            "item_loss": _item_squares(len(site.shape)),
            "class_loss": _of_classes,
        }
        p.loss(losses[site.family], parameters[0], target, name=site.name)
        return
    if site.family == "categorical":
        target = target.long()
    names = [name for name, _ in PARAMETERS[site.family]]
    keywords = {"event_dims": len(site.shape)} if event_dims else {}
    method = getattr(p, site.family)
    method(**dict(zip(names, parameters, strict=True)), value=target, name=site.name, **keywords)


def _squares(prediction: Tensor, target: Tensor) -> Tensor:
    return (prediction - target) ** 2


def _item_squares(rank: int) -> Callable[[Tensor, Tensor], Tensor]:
    def loss(prediction: Tensor, target: Tensor) -> Tensor:
        squares = (prediction - target) ** 2
        return squares.flatten(-rank).sum(-1) if rank else squares

    return loss


def _of_classes(logits: Tensor, target: Tensor) -> Tensor:
    """The cross entropy of class indices: (..., B, event..., K) and (B, event...) to (..., B, event...)."""
    shape = torch.broadcast_shapes(logits.shape[:-1], target.shape)
    log_probs = logits.log_softmax(-1).expand(*shape, logits.shape[-1])
    return -log_probs.gather(-1, target.expand(shape)[..., None])[..., 0]


# ---- a batch ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    x: np.ndarray  # (B, F + data)
    labels: dict[str, np.ndarray]  # in the form of draws, by site
    known: dict[str, np.ndarray]  # (B,), by site

    def observations(self, program: Program) -> dict[str, Any]:
        """The labels as they are given to the encoder."""
        given: dict[str, Any] = {}
        for site in program.q_sites:
            if site.labels == "none":
                continue
            values = self.labels[site.name]
            if site.family in ONE_HOT and not site.one_hot_labels:
                values = values.argmax(-1)
            tensor = torch.as_tensor(values)
            known = torch.as_tensor(self.known[site.name])
            given[site.name] = tensor if site.labels == "all" else unknot.partial(tensor, known)
        return given


def batch(program: Program) -> Batch:
    """Data and labels for a program."""
    rng = np.random.default_rng([program.seed, 1])
    x = rng.normal(size=(program.batch, program.features + sum(site.size for site in program.data)))
    for site, columns in _columns(program):
        if site.family == "bernoulli":
            x[:, columns] = rng.integers(0, 2, size=x[:, columns].shape)
        elif site.classes:
            x[:, columns] = rng.integers(0, site.classes, size=x[:, columns].shape)
    labels, known = {}, {}
    for site in program.q_sites:
        labels[site.name] = _label(rng, site, program.batch)
        share = {"none": 0.0, "partial": 0.5, "all": 1.0}[site.labels]
        known[site.name] = rng.random(program.batch) < share
    return Batch(x, labels, known)


def _label(rng: np.random.Generator, site: Site, items: int) -> np.ndarray:
    shape = (items, *site.shape)
    if site.family == "categorical":
        return rng.integers(0, site.classes, size=shape)
    if site.family in ONE_HOT:
        return np.eye(site.classes)[rng.integers(0, site.classes, size=shape[:-1])]
    if "bernoulli" in site.family:
        return rng.integers(0, 2, size=shape).astype(float)
    if site.family == "beta":
        return rng.uniform(0.1, 0.9, size=shape)
    if site.family == "dirichlet":
        return rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    return rng.normal(size=shape)


# ---- the library's answer ---------------------------------------------------------------------------------

SETTINGS = {"alpha": 3.0, "beta": 0.7, "gamma": 2.0}


@dataclass(frozen=True)
class Drawn:
    """What the traces hold: values, and u of relaxed draws, by the site's name."""

    values: dict[str, np.ndarray]
    unbounded: dict[str, np.ndarray]

    def same(self, other: Drawn) -> bool:
        pairs = [(self.values, other.values), (self.unbounded, other.unbounded)]
        return all(
            one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)
            for one, two in pairs
        )


@dataclass(frozen=True)
class Answer:
    drawn: Drawn
    objectives: dict[str, unknot.objectives.Terms]


def traces(program: Program, weights: Weights, given: Batch, mode: str) -> tuple[unknot.Trace, unknot.Trace]:
    """The two traces, in mode "raw", "event_dims" (said at every site) or "trace" (by ``unknot.trace``)."""
    x, labels = torch.as_tensor(given.x), given.observations(program)
    encode = encoder(program, weights, mode == "event_dims")
    decode = decoder(program, weights, mode == "event_dims")
    if mode == "trace":
        q = unknot.trace(encode, x, labels)
        return q, unknot.trace(decode, x, q)
    q = encode(x, labels)
    return q, decode(x, q)


def drawn(program: Program, q: unknot.Trace, p: unknot.Trace) -> Drawn:
    values, unbounded = {}, {}
    for site in program.sites:
        node = (p if site.q is None else q)[site.full_name]
        values[site.name] = node.value.detach().numpy()
        if node.unbounded is not None:
            unbounded[site.name] = node.unbounded.detach().numpy()
    return Drawn(values, unbounded)


def answer(program: Program, weights: Weights, given: Batch, mode: str) -> Answer:
    """Run both programs and the three objectives."""
    q, p = traces(program, weights, given, mode)
    objectives = {
        "elbo": unknot.objectives.elbo(q, p, SETTINGS["beta"]),
        "semi_supervised": unknot.objectives.semi_supervised(q, p, **SETTINGS),
        "importance_weighted": unknot.objectives.importance_weighted(
            q, p, SETTINGS["alpha"], SETTINGS["gamma"]
        ),
    }
    return Answer(drawn(program, q, p), objectives)


# ---- brute force ------------------------------------------------------------------------------------------


class WrongAxes(AssertionError):
    """A value does not have the axes that the description gives it."""


class Reference:
    """The objectives of one program, from the values that were drawn."""

    def __init__(self, program: Program, weights: Weights, given: Batch, values: Drawn) -> None:
        self.program, self.weights, self.given, self.drawn = program, weights, given, values
        self.samples = program.samples or 1
        self.axis = {site.name: i for i, site in enumerate(program.enumerated)}
        self.depends: dict[str, set[str]] = {}  # the enumerated sites that a value depends on
        self.uses_x: dict[str, bool] = {}
        for site in [*program.q_sites, *(site for site in program.sites if site.q is None)]:
            conditional = site.p if site.q is None else site.q
            above = set().union(*(self.depends[name] for name in conditional.parents))
            self.depends[site.name] = above
            self.uses_x[site.name] = conditional.uses_x or any(
                self.uses_x[name] for name in conditional.parents
            )
            if site.enumerated:  # its values are the support, whatever its parameters depend on
                self.depends[site.name], self.uses_x[site.name] = {site.name}, False
            elif site.labels == "all":
                self.depends[site.name], self.uses_x[site.name] = set(), True
        self._kernels: dict[str, np.ndarray] = {}

    # -- reading a drawn value

    def read(
        self, table: dict[str, np.ndarray], site: Site, combination: dict[str, int], s: int, b: int
    ) -> Any:
        """The value at one enumerated combination, sample and item; axes of size one stand for all."""
        value, rank = table[site.name], len(site.shape)
        leading = value.shape[: value.ndim - rank]
        if value.ndim < rank or value.shape[value.ndim - rank :] != site.shape:
            raise WrongAxes(f"site '{site.name}': value {value.shape}, but one item's value is {site.shape}")
        # from the right: batch, samples, enumerated sites in the order of the program
        wanted = [(self.program.batch, b, not self.uses_x[site.name]), (self.samples, s, site.q is None)]
        for name in self.axis:
            size = self.program.site(name).values if name in self.depends[site.name] else 1
            wanted.append((size, combination[name], False))
        index = []
        sizes = [*reversed(leading)]
        for i, (size, at, shared) in enumerate(wanted):
            actual = sizes[i] if i < len(sizes) else 1
            if actual != size and not (shared and actual == 1):
                raise WrongAxes(
                    f"site '{site.name}': value {value.shape}, leading axes {leading}; from the right, axis {i} "
                    f"should have size {size}"
                )
            if i < len(sizes):
                index.append(at if actual > 1 else 0)
        if len(sizes) > len(wanted):
            raise WrongAxes(f"site '{site.name}': value {value.shape} has too many leading axes, {leading}")
        return value[tuple(reversed(index))]

    # -- networks and densities of one item

    def network(
        self, key: str, shape: tuple[int, ...], conditional: Conditional, env: dict[str, Any], x: np.ndarray
    ) -> np.ndarray:
        size = math.prod(shape)
        inputs = {name: self.features(self.program.site(name), env[name]) for name in conditional.parents}
        if conditional.uses_x:
            inputs["x"] = x[: self.program.features]
        total = self.weights.array(f"{key}<bias", (size,)).copy()
        for name, h in inputs.items():
            total += self.kernel(f"{key}<{name}", (size, len(h))) @ h
        return total.reshape(shape)

    def kernel(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name not in self._kernels:
            self._kernels[name] = self.weights.array(name, shape)
        return self._kernels[name]

    @staticmethod
    def features(site: Site, value: Any) -> np.ndarray:
        if site.family == "categorical":
            return np.eye(site.classes)[value].reshape(-1)
        return np.asarray(value).reshape(-1)

    def parameters(
        self, site: Site | Data, role: str, env: dict[str, Any], x: np.ndarray
    ) -> list[np.ndarray]:
        conditional = site.q if role == "q" else site.p
        found = []
        for (name, domain), form in zip(PARAMETERS[site.family], conditional.forms, strict=True):
            key, shape = f"{site.name}.{role}.{name}", parameter_shape(site, domain)
            if form == "network":
                raw = self.network(key, shape, conditional, env, x)
            elif form == "number":
                raw = np.full(shape, self.weights.number(key))
            else:
                raw = self.weights.array(key, _constant_shape(form, shape))
                raw = np.broadcast_to(raw[0] if form == "one" else raw, shape)
            found.append(_in_domain(raw, domain, np))
        return found

    def is_active(self, mask: str | None, env: dict[str, Any], x: np.ndarray) -> bool:
        if mask is None:
            return True
        if mask == "x":
            return bool(x[0] > 0)
        return bool(self.features(self.program.site(mask), env[mask])[0] > 0.3)

    # -- one combination

    def point(self, combination: dict[str, int], s: int, b: int) -> Point:
        """All log-probabilities of one item, at one sample and one combination of enumerated values."""
        program, x = self.program, self.given.x[b]
        env: dict[str, Any] = {}
        u: dict[str, Any] = {}
        log_q: dict[str, float] = {}
        log_p: dict[str, float] = {}
        log_weight = 0.0
        for site in program.q_sites:
            parameters = self.parameters(site, "q", env, x)
            known = bool(self.given.known[site.name][b])
            label = self.given.labels[site.name][b]
            if site.enumerated:
                env[site.name] = _support(site)[combination[site.name]]
            elif known:
                env[site.name] = label
            elif site.way == "plug_in":
                env[site.name] = _probabilities(site, parameters[0])
            else:
                env[site.name] = self.read(self.drawn.values, site, combination, s, b)
                if site.way is None and site.family in RELAXED:
                    u[site.name] = self.read(self.drawn.unbounded, site, combination, s, b)
            if site.labels != "all" and not site.enumerated:
                self._check_value(site, env[site.name], combination, s, b)
            log_q[site.name] = _log_density(site, "q", parameters, env[site.name], u.get(site.name))
            if site.enumerated:
                here = np.array_equal(env[site.name], label)
                log_weight += (0.0 if here else -math.inf) if known else log_q[site.name]
        active = {site.name: self.is_active(site.mask, env, x) for site in program.q_sites}
        p_env: dict[str, Any] = {}
        for name in program.p_order:
            site = program.site(name)
            parameters = self.parameters(site, "p", p_env, x)
            if site.q is None:
                env[name] = self.read(self.drawn.values, site, combination, s, b)
            p_env[name] = env[name]
            log_p[name] = _log_density(site, "p", parameters, env[name], u.get(name))
        data = 0.0
        for site, columns in _columns(program):
            if self.is_active(site.mask, p_env, x):
                target = x[columns].reshape(site.shape)
                data += _log_data(site, self.parameters(site, "p", p_env, x), target)
        bonus = None
        if program.log_term is not None:
            bonus = float(self.network("bonus", (), program.log_term, p_env, x))
        return Point(log_q, log_p, active, log_weight, data, bonus)

    def _check_value(self, site: Site, value: Any, combination: dict[str, int], s: int, b: int) -> None:
        """Labels and plug-in probabilities must be what the trace holds."""
        held = self.read(self.drawn.values, site, combination, s, b)
        if not np.allclose(held, value, rtol=1e-12, atol=1e-12):
            raise WrongAxes(f"site '{site.name}': item {b} holds {held}, but its value is {value}")

    # -- objectives of one item

    def item(self, b: int) -> dict[str, dict[str, float]]:
        program = self.program
        sites = program.q_sites
        known = {site.name: bool(self.given.known[site.name][b]) for site in sites}
        labeled = any(known.values())
        choices = [range(site.values) for site in program.enumerated]
        combinations = [dict(zip(self.axis, values, strict=True)) for values in itertools.product(*choices)]
        grid = [[self.point(combination, s, b) for combination in combinations] for s in range(self.samples)]

        def term(point: Point, name: str) -> float:
            """log p - log q where drawn, log p where observed, nothing where the site is switched off."""
            if not point.active[name]:
                return 0.0
            return point.log_p[name] - (0.0 if known[name] else point.log_q[name])

        def observed(point: Point) -> float:
            """log q of the labels."""
            return sum(point.log_q[name] for name in known if known[name] and point.active[name])

        def parts(point: Point) -> dict[str, float]:
            found = {"reconstruction": point.data}
            if point.bonus is not None:
                found["log_term[bonus]"] = point.bonus
            return found | {f"kl[{site.full_name}]": term(point, site.name) for site in sites}

        beta, alpha = SETTINGS["beta"], SETTINGS["alpha"]
        gamma = SETTINGS["gamma"] if labeled else 1.0

        # Eq. 1
        elbo: dict[str, float] = {}
        for row in grid:
            for point in row:
                weight = math.exp(point.log_weight) / self.samples
                for name, value in parts(point).items():
                    elbo[name] = elbo.get(name, 0.0) + (weight * value if weight else 0.0)
        elbo["per_item"] = sum(value * (beta if name[:2] == "kl" else 1.0) for name, value in elbo.items())

        # Eq. 8: w[s] and the posterior weight of each enumerated combination
        w = [sum(math.exp(point.log_weight + observed(point)) for point in row) for row in grid]
        eq8: dict[str, float] = {"classifier": sum(math.log(value) for value in w) / self.samples}
        eq8["conditioning"] = eq8["classifier"]
        for row, own in zip(grid, w, strict=True):
            for point in row:
                weight = own / sum(w) * math.exp(point.log_weight + observed(point)) / own
                if not weight:
                    continue
                for name, value in parts(point).items():
                    eq8[name] = eq8.get(name, 0.0) + weight * value
                eq8["conditioning"] -= weight * observed(point)
        scale = {"classifier": alpha, "conditioning": beta}
        eq8["per_item"] = gamma * sum(
            value * scale.get(name, beta if name[:2] == "kl" else 1.0) for name, value in eq8.items()
        )

        # Eq. 9
        total = 0.0
        for row in grid:
            for point in row:
                log_ratio = point.data + (point.bonus or 0.0)
                for site in sites:
                    if not site.enumerated:
                        log_ratio += term(point, site.name)
                    elif point.active[site.name]:
                        log_ratio += point.log_p[site.name]
                if point.log_weight > -math.inf:
                    total += math.exp(log_ratio + self._switched_off(point, known)) / self.samples
        eq9 = {"evidence": math.log(total), "classifier": math.log(sum(w) / self.samples)}
        eq9["per_item"] = gamma * (eq9["evidence"] + alpha * eq9["classifier"])
        return {"elbo": elbo, "semi_supervised": eq8, "importance_weighted": eq9}

    def _switched_off(self, point: Point, known: dict[str, bool]) -> float:
        """An enumerated site that is switched off has no evidence: its values have weights that add to one."""
        return sum(
            point.log_q[site.name]
            for site in self.program.enumerated
            if not point.active[site.name] and not known[site.name]
        )

    def objectives(self) -> dict[str, dict[str, np.ndarray]]:
        items = [self.item(b) for b in range(self.program.batch)]
        return {
            objective: {
                name: np.array([item[objective][name] for item in items]) for name in items[0][objective]
            }
            for objective in items[0]
        }


@dataclass(frozen=True)
class Point:
    log_q: dict[str, float]
    log_p: dict[str, float]
    active: dict[str, bool]
    log_weight: float  # of the enumerated combination: all on the labels where they are known
    data: float
    bonus: float | None


def _support(site: Site) -> np.ndarray:
    if site.family in ONE_HOT:
        return np.eye(site.classes)
    return np.arange(site.values) if site.family == "categorical" else np.arange(2.0)


def _probabilities(site: Site, logits: np.ndarray) -> np.ndarray:
    if site.family in ONE_HOT:
        return np.exp(log_softmax(logits, -1))
    return np.exp(log_expit(logits))


def _log_density(site: Site, role: str, parameters: list[np.ndarray], value: Any, u: Any) -> float:
    if site.family in ("normal", "laplace"):
        loc, scale = parameters
        z = (value - loc) / scale
        constant = np.log(scale) + (LOG_TAU / 2 if site.family == "normal" else math.log(2))
        return float(np.sum((-0.5 * z * z if site.family == "normal" else -np.abs(z)) - constant))
    if site.family == "beta":
        a, b = parameters
        constant = gammaln(a) + gammaln(b) - gammaln(a + b)
        return float(np.sum((a - 1) * np.log(value) + (b - 1) * np.log1p(-np.asarray(value)) - constant))
    if site.family == "multivariate_normal":
        loc, triangle = parameters
        z = np.linalg.solve(triangle, value - loc)
        return float(-0.5 * z @ z - np.log(np.diag(triangle)).sum() - 0.5 * len(loc) * LOG_TAU)
    if site.family == "dirichlet":
        (a,) = parameters
        density = ((a - 1) * np.log(value)).sum(-1) + gammaln(a.sum(-1)) - gammaln(a).sum(-1)
        return float(np.sum(density))
    (logits,) = parameters
    tau = TEMPERATURE[role]
    if site.family == "categorical":
        mass = np.take_along_axis(log_softmax(logits, -1), np.asarray(value)[..., None], -1)
        return float(mass.sum())
    if site.family in ONE_HOT:
        if u is None:
            return float((value * log_softmax(logits, -1)).sum())
        classes = site.classes
        density = (
            log_softmax(logits - tau * u, -1).sum(-1) + math.lgamma(classes) + (classes - 1) * math.log(tau)
        )
        return float(density.sum())
    if u is None:
        return float(np.sum(value * log_expit(logits) + (1 - value) * log_expit(-logits)))
    d = logits - tau * u
    return float(np.sum(math.log(tau) + log_expit(d) + log_expit(-d)))


def _log_data(site: Data, parameters: list[np.ndarray], target: np.ndarray) -> float:
    if site.family in ("element_loss", "item_loss"):
        return -float(((parameters[0] - target) ** 2).sum())
    if site.family in ("class_loss", "categorical"):
        index = np.asarray(target).astype(int)[..., None]
        return float(np.take_along_axis(log_softmax(parameters[0], -1), index, -1).sum())
    if site.family == "normal":
        loc, scale = parameters
        return float(np.sum(-0.5 * ((target - loc) / scale) ** 2 - np.log(scale) - LOG_TAU / 2))
    return float(np.sum(target * log_expit(parameters[0]) + (1 - target) * log_expit(-parameters[0])))
