"""Variables whose value is one vector: a multivariate normal has its single dimensions as leaves, and so has p's.

Against plain loops, cases worked out by hand, integrals, and laws: a diagonal covariance gives the numbers of
``normal``, a map of every dimension changes no correlation, and what has no closed form is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch import distributions as td

import unknot
from tests.conformance.loops import (
    FAMILIES,
    KINDS,
    TREES,
    Loops,
    Problem,
    by_name,
    double,
    gaussian_log,
    normal_log,
    same,
    weighted,
)
from tests.references.log_prob import dirichlet as dirichlet_log
from tests.references.pairwise import weight_loop
from unknot.errors import SpecError
from unknot.objectives import beta_tcvae, decompose, elbo, hfvae, information, semi_supervised

B, D, N = 4, 3, 20


def problems(**fixed: Any) -> st.SearchStrategy[Problem]:
    sizes = {
        "kind": st.sampled_from(KINDS),
        "items": st.integers(1, 3),
        "classes": st.integers(1, 3),
        "samples": st.sampled_from([None, 1, 2, 3]),
        "dimensions": st.integers(1, 3),
        "dependent": st.booleans(),
        "family": st.sampled_from(FAMILIES),
        "prior": st.sampled_from(["normal", "multivariate"]),
    }
    return st.builds(Problem, **sizes)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problem=problems(), tree=st.sampled_from(list(TREES)))
def test_every_term_is_that_of_the_loops(problem: Problem, tree: str) -> None:
    wanted = Loops(problem, problem.start).terms(TREES[tree])
    with torch.no_grad():
        q, p = problem.traces(problem.start)
        options = problem.options(problem.start, TREES[tree])
        terms = decompose(q, p, **options)
        for name, value in by_name(terms).items():
            same(value, wanted[name])
        torch.testing.assert_close(terms.per_item, elbo(q, p).per_item, rtol=1e-9, atol=1e-9)
        same(semi_supervised(q, p, between=3.0, **options)["between"], wanted["between"])


@settings(max_examples=20, deadline=None, derandomize=True)
@given(problem=problems(), tree=st.sampled_from(list(TREES)))
def test_the_gradient_is_that_of_the_loops(problem: Problem, tree: str) -> None:
    wanted = Loops(problem, problem.start).gradient(TREES[tree])
    parameters = {name: tensor.clone().requires_grad_() for name, tensor in problem.start.items()}
    terms = decompose(*problem.traces(parameters), **problem.options(parameters, TREES[tree]))
    weighted(by_name(terms)).backward()
    for name, tensor in parameters.items():
        gradient = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
        torch.testing.assert_close(gradient, wanted[name], rtol=1e-6, atol=1e-7)


# ---- worked out by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [1, 2])
@pytest.mark.parametrize("correlation", [0.0, 0.6, -0.8])
def test_a_correlated_gaussian_at_its_mean_by_hand(items: int, correlation: float) -> None:
    """At z = loc, log q(z) - Σ_d log q(z_d) of one item is -½ log(1 - ρ²).

    Of two items far apart in both dimensions, q(z) is half of an item's density and so is each q(z_d): log 2 more.
    """
    loc = 1000.0 * torch.arange(items, dtype=double)[:, None].expand(items, 2)
    covariance = torch.tensor([[1.0, correlation], [correlation, 1.0]], dtype=double)
    q, p = unknot.Trace(), unknot.Trace()
    q.multivariate_normal(loc, covariance, name="z")
    q["z"].value = loc.clone()
    p.normal(torch.zeros((), dtype=double), 1000.0, value=q["z"], name="z")
    own = -0.5 * math.log(1 - correlation**2) + (items - 1) * math.log(2.0)
    options = {"dataset_size": items, "estimator": "exact"}
    same(decompose(q, p, **options)["within"], [-own] * items)
    assert float(information(q, **options).total_correlation) == pytest.approx(own, abs=1e-9)


def test_the_weight_of_the_total_correlation_counts() -> None:
    q, p = correlated()
    light, heavy = (beta_tcvae(q, p, N, beta=beta) for beta in (1.0, 6.0))
    assert heavy["within"].abs().min() > 1e-3
    torch.testing.assert_close(heavy.per_item - light.per_item, 5.0 * heavy["within"])
    torch.testing.assert_close(light.per_item, elbo(q, p).per_item)


def correlated(samples: int | None = None) -> tuple[unknot.Trace, unknot.Trace]:
    torch.manual_seed(0)
    q, p = unknot.Trace(samples=samples), unknot.Trace()
    spread = torch.eye(D, dtype=double) + 0.6 * torch.randn(B, D, D, dtype=double).tril(-1)
    q.multivariate_normal(torch.randn(B, D, dtype=double), scale_tril=spread, name="z")
    p.normal(torch.zeros((), dtype=double), 1.0, value=q["z"], name="z")
    p.normal(torch.zeros((), dtype=double), 1.0, value=torch.zeros(B, dtype=double), name="x")
    return q, p


@pytest.mark.parametrize("given", [False, True], ids=["", "given a class"])
def test_q_equal_to_p_makes_every_term_zero(given: bool) -> None:
    """A class y and z from a multivariate normal, with a covariance of its own for every class where z depends on y."""

    def program(values: Any, batch: int) -> unknot.Trace:
        trace = unknot.Trace()
        y = trace.one_hot_categorical(
            logits=torch.zeros(batch, 2), value=values["y"], name="y", gradient="enumerate"
        )
        loc = y @ torch.tensor([[-2.0, 0.0], [2.0, 1.0]]) if given else torch.zeros(batch, 2)
        spread = torch.tensor([[1.0, 0.0], [0.8, 0.5]])
        spread = spread * (1 + y[..., 1:, None]) if given else spread
        trace.multivariate_normal(loc, scale_tril=spread, value=values["z"], name="z")
        return trace

    class Nothing(dict):
        def __missing__(self, name: str) -> None:
            return None

    q = program(Nothing(), B)
    p = program(q, B)
    options = {
        "prior": lambda given: program(given, given.batch),
        "encoder": lambda given: program(given, B),
    }
    for name, value in decompose(q, p, N, **options).items():
        assert value.abs().max() < 2e-5, name


# ---- a diagonal covariance ------------------------------------------------------------------------------


def diagonal_site(family: str, q: unknot.Trace, loc: Tensor, scale: Tensor, **site: Any) -> None:
    if family == "normal":
        q.normal(loc, scale, event_dims=1, **site)
    elif family == "covariance":
        q.multivariate_normal(loc, torch.diag_embed(scale.square()), **site)
    elif family == "precision":
        q.multivariate_normal(loc, precision_matrix=torch.diag_embed(scale.pow(-2)), **site)
    elif family == "scale_tril":
        q.multivariate_normal(loc, scale_tril=torch.diag_embed(scale), **site)
    else:
        dist = td.LowRankMultivariateNormal(loc, torch.zeros_like(loc)[..., None], scale.square())
        q.variable(dist, **site)


ALIKE = ["covariance", "precision", "scale_tril", "low rank"]


class Diagonal:
    """A relaxed class y with some labels, and z with a diagonal covariance; ``dependent``: z is inferred from y too."""

    def __init__(self, family: str, dependent: bool, labeled: bool, samples: int | None) -> None:
        generator = torch.Generator().manual_seed(3)
        self.logits, self.loc, raw, self.noise, self.values = (
            torch.randn(B, size, generator=generator, dtype=double) for size in (2, D, D, D, D)
        )
        self.scale = raw.exp()
        self.family, self.dependent, self.labeled, self.samples = family, dependent, labeled, samples
        self.leaves = [tensor.requires_grad_() for tensor in (self.logits, self.loc, self.scale)]

    def encode(self, given: Any = None) -> unknot.Trace:
        q = unknot.Trace(samples=self.samples)
        known = unknot.partial(torch.tensor([1, -1, 0, -1])) if self.labeled else None
        y = q.concrete(self.logits, 0.7, value=known if given is None else given["y"], name="y")
        loc = self.loc + 2 * y[..., :1] if self.dependent else self.loc
        scale = self.scale * (1 + y[..., :1]) if self.dependent else self.scale
        value = None
        if given is not None:  # its value in a further run is not used, and must take no random numbers
            value = self.values if given["z"] is None else given["z"]
        elif self.labeled:
            value = unknot.partial(self.values, torch.tensor([False, True, False, False]))
        diagonal_site(self.family, q, loc, scale, name="z", value=value)
        if given is None:  # the draws themselves may come from other random numbers
            drawn = loc + scale * self.noise
            known_z = torch.tensor([False, True, False, False])[:, None] & self.labeled
            q["z"].value = torch.where(known_z, self.values, drawn).expand(q["z"].value.shape)
        return q

    def decode(self, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        p.concrete(torch.zeros(2, dtype=double), 0.7, value=q["y"], name="y")
        diagonal_site(
            self.family,
            p,
            torch.ones(D, dtype=double),
            torch.full((D,), 2.0, dtype=double),
            name="z",
            value=q["z"],
        )
        p.normal(torch.zeros((), dtype=double), 1.0, value=torch.ones(B, dtype=double), name="x")
        return p

    def numbers(self) -> dict[str, Tensor]:
        """Terms of every objective, what each dimension knows, and gradients."""
        torch.manual_seed(1)
        q = self.encode()
        p = self.decode(q)
        options: dict[str, Any] = {"dataset_size": N, "parents": {"z": []}}
        if self.dependent:
            options |= {"parents": {"z": ["y"]}, "encoder": self.encode, "pairs": B - 1, "draws": 3}
        found: dict[str, Tensor] = {}
        objectives: dict[str, Callable[..., Any]] = {
            "decompose": decompose,
            "hfvae": hfvae,
            "beta_tcvae": beta_tcvae,
            "semi_supervised": lambda *pair, **more: semi_supervised(
                *pair, within=3.0, information=0.5, **more
            ),
        }
        for name, objective in objectives.items():
            torch.manual_seed(2)
            terms = objective(q, p, **options)
            found |= {f"{name}, {term}": value for term, value in terms.items()}
            found[f"{name}, loss"] = terms.loss
            slopes = torch.autograd.grad(terms.loss, self.leaves, retain_graph=True)
            found |= {f"{name}, gradient {place}": slope for place, slope in enumerate(slopes)}
        torch.manual_seed(2)
        told = information(q, **options)
        found |= {"joint": told.joint, "total correlation": told.total_correlation, "z": told.dimensions["z"]}
        return found


@pytest.mark.parametrize("labeled", [False, True], ids=["", "labeled"])
@pytest.mark.parametrize(
    ("dependent", "samples"),
    [(False, None), (False, 2), (True, None)],
    ids=["one draw", "two draws", "a relaxed parent"],
)
def test_a_diagonal_covariance_gives_the_numbers_of_a_normal(
    dependent: bool, labeled: bool, samples: int | None
) -> None:
    wanted = Diagonal("normal", dependent, labeled, samples).numbers()
    for family in ALIKE:
        found = Diagonal(family, dependent, labeled, samples).numbers()
        assert found.keys() == wanted.keys()
        for name, value in found.items():
            torch.testing.assert_close(value, wanted[name], rtol=1e-8, atol=1e-8, msg=f"{family}: {name}")


def test_a_low_rank_covariance_gives_the_numbers_of_the_full_one() -> None:
    loc, factor = torch.randn(B, D, dtype=double), torch.randn(B, D, 2, dtype=double)
    diagonal, noise = torch.rand(B, D, dtype=double) + 0.2, torch.randn(B, D, dtype=double)
    full = td.MultivariateNormal(loc, factor @ factor.mT + torch.diag_embed(diagonal))
    found = []
    for dist in (td.LowRankMultivariateNormal(loc, factor, diagonal), full):
        q, p = unknot.Trace(), unknot.Trace()
        q.variable(dist, name="z")
        q["z"].value = loc + noise
        p.normal(torch.zeros((), dtype=double), 1.0, value=q["z"], name="z")
        found.append(decompose(q, p, N))
    for name, value in found[0].items():
        torch.testing.assert_close(value, found[1][name])


def test_several_multivariate_normals_at_one_site() -> None:
    """Two of them for each item, (B, 2, D): six leaves, and their numbers are those of two sites in one group."""
    loc, noise = torch.randn(B, 2, D, dtype=double), torch.randn(B, 2, D, dtype=double)
    spread = torch.eye(D, dtype=double) + torch.randn(B, 2, D, D, dtype=double).tril(-1)
    q, p, apart, prior = (unknot.Trace() for _ in range(4))
    q.multivariate_normal(loc, scale_tril=spread, name="z", event_dims=2)
    q["z"].value = loc + noise
    p.normal(torch.zeros((), dtype=double), 1.0, value=q["z"], name="z")
    for m in range(2):
        apart.multivariate_normal(loc[:, m], scale_tril=spread[:, m], name=f"z{m}")
        apart[f"z{m}"].value = loc[:, m] + noise[:, m]
        prior.normal(torch.zeros((), dtype=double), 1.0, value=apart[f"z{m}"], name=f"z{m}")
    one, two = (
        decompose(q, p, N),
        decompose(apart, prior, N, {"z": ["z0", "z1"]}, parents={"z0": []}),
    )
    torch.testing.assert_close(one["marginal"], two["marginal"])
    torch.testing.assert_close(one["mutual_information"], two["mutual_information"])
    below = two["between[z]"] + two["within[z0]"] + two["within[z1]"]
    torch.testing.assert_close(one["within"], below)


# ---- other vectors --------------------------------------------------------------------------------------


def beta_log(value: float, first: float, second: float) -> float:
    constant = math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
    return constant + (first - 1) * math.log(value) + (second - 1) * math.log(1 - value)


def mixture(b: int, logs: list[float]) -> float:
    weights = weight_loop("stratified", N, B, range(B))[b]
    return math.log(sum(weight * math.exp(log) for weight, log in zip(weights, logs, strict=True)))


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_shares_of_a_dirichlet_are_beta_variables_and_the_last_follows_from_the_others(
    classes: int,
) -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.dirichlet(torch.rand(B, classes, dtype=double) * 4 + 0.5, name="t")
    p.dirichlet(torch.full((classes,), 0.7, dtype=double), value=q["t"], name="t")
    terms = decompose(q, p, N)
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)
    shares, own = q["t"].value.tolist(), q["t"].dist.concentration.tolist()
    for b in range(B):
        whole = mixture(b, [dirichlet_log(shares[b], own[c]) for c in range(B)])
        single = prior = 0.0
        for k in range(classes - 1):
            single += mixture(
                b, [beta_log(shares[b][k], own[c][k], sum(own[c]) - own[c][k]) for c in range(B)]
            )
            prior += beta_log(shares[b][k], 0.7, 0.7 * (classes - 1))
        correlation = dirichlet_log(shares[b], [0.7] * classes) - prior - (whole - single)
        assert float(terms["within"][b]) == pytest.approx(correlation, abs=1e-9)
        assert float(terms["marginal"][b]) == pytest.approx(prior - single, abs=1e-9)
    assert len(information(q, N).dimensions["t"]) == classes - 1


def test_a_dirichlet_of_two_shares_is_a_beta_variable() -> None:
    first, second = torch.rand(B, dtype=double) + 0.5, torch.rand(B, dtype=double) + 0.5
    q, p, one, prior = (unknot.Trace() for _ in range(4))
    q.dirichlet(torch.stack([first, second], -1), name="t")
    p.dirichlet(torch.tensor([0.8, 1.2], dtype=double), value=q["t"], name="t")
    one.beta(first, second, name="t")
    one["t"].value = q["t"].value[:, 0]
    prior.beta(torch.tensor(0.8, dtype=double), 1.2, value=one["t"], name="t")
    for name, value in decompose(q, p, N).items():
        torch.testing.assert_close(value, decompose(one, prior, N)[name])


def gaussian_mixture(loc: Tensor, weights: Tensor) -> td.Distribution:
    """Two Gaussians (..., 2, D) with a diagonal covariance in common."""
    return td.MixtureSameFamily(td.Categorical(weights), td.Independent(td.Normal(loc, 0.7), 1))


def test_a_mixture_of_gaussians_in_q_by_loops() -> None:
    loc, weights = torch.randn(B, 2, D, dtype=double), torch.rand(B, 2, dtype=double)
    q, p = unknot.Trace(), unknot.Trace()
    q.variable(gaussian_mixture(loc, weights), name="z")
    p.normal(torch.zeros((), dtype=double), 1.0, value=q["z"], name="z")
    terms, z = decompose(q, p, N), q["z"].value.tolist()
    for b in range(B):

        def log_of(c: int, places: range | list[int], b: int = b) -> float:
            total = 0.0
            for m in range(2):
                share = float(weights[c, m] / weights[c].sum())
                total += share * math.exp(sum(normal_log(z[b][d], float(loc[c, m, d]), 0.49) for d in places))
            return math.log(total)

        whole = mixture(b, [log_of(c, range(D)) for c in range(B)])
        single = sum(mixture(b, [log_of(c, [d]) for c in range(B)]) for d in range(D))
        assert float(terms["within"][b]) == pytest.approx(single - whole, abs=1e-9)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_prior_that_is_the_same_mixture_of_numbers_in_every_dimension(dimensions: int) -> None:
    """A mixture of numbers: the dimensions are independent, also where there are as many as components."""
    components = td.Normal(torch.tensor([-3.0, 2.0], dtype=double), 0.8)
    prior = td.MixtureSameFamily(td.Categorical(torch.tensor([0.3, 0.7], dtype=double)), components)
    q, p, plain = (unknot.Trace() for _ in range(3))
    q.normal(torch.randn(B, dimensions, dtype=double), 0.5, name="z")
    p.variable(prior, q["z"], name="z")
    plain.normal(torch.zeros((), dtype=double), 1.0, value=q["z"], name="z")
    torch.testing.assert_close(decompose(q, p, N)["within"], decompose(q, plain, N)["within"])


@pytest.mark.parametrize("family", ["multivariate", "independent"])
def test_a_map_of_every_dimension_changes_no_correlation(family: str) -> None:
    loc, spread = torch.randn(B, D, dtype=double), torch.eye(D, dtype=double) + 0.5
    if family == "multivariate":
        base = td.MultivariateNormal(loc, spread.expand(B, D, D))
        prior = td.MultivariateNormal(torch.zeros(D, dtype=double), spread)
    else:
        base = td.Independent(td.Normal(loc, 0.8), 1)
        prior = td.Independent(td.Normal(torch.zeros(D, dtype=double), torch.ones(D, dtype=double)), 1)
    value, found = base.sample(), []
    for transforms in ([], [td.AffineTransform(0.5, 2.0), td.ExpTransform()]):
        q, p = unknot.Trace(), unknot.Trace()
        seen = value
        for transform in transforms:
            seen = transform(seen)
        q.variable(td.TransformedDistribution(base, transforms) if transforms else base, name="z")
        q["z"].value = seen
        p.variable(td.TransformedDistribution(prior, transforms) if transforms else prior, q["z"], name="z")
        found.append(decompose(q, p, N))
    for name, term in found[0].items():
        torch.testing.assert_close(found[1][name], term)


@pytest.mark.parametrize("site", ["one_hot", "relaxed", "straight_through", "soft"])
def test_several_classes_at_one_site_are_a_leaf_each(site: str) -> None:
    """Two one-of-K variables for each item, (B, 2, K): the numbers of two sites in one group."""
    logits = torch.randn(B, 2, 3, dtype=double)

    def write(trace: unknot.Trace, logits: Tensor, name: str, value: Any = None) -> None:
        if site == "one_hot":
            trace.one_hot_categorical(logits=logits, value=value, name=name, event_dims=logits.ndim - 1)
        else:
            way = {"relaxed": "concrete", "straight_through": "straight_through", "soft": "plug_in"}[site]
            trace.concrete(logits, 0.7, value=value, name=name, gradient=way, event_dims=logits.ndim - 1)

    zeros = torch.zeros(3, dtype=double)
    q, p, apart, prior = (unknot.Trace() for _ in range(4))
    write(q, logits, "y")
    p.one_hot_categorical(logits=zeros, value=q["y"], name="y") if site == "one_hot" else p.concrete(
        zeros, 0.7, value=q["y"], name="y"
    )
    for m in range(2):
        write(apart, logits[:, m], f"y{m}")
        node = apart[f"y{m}"]
        node.value = q["y"].value[:, m]
        node.unbounded = None if q["y"].unbounded is None else q["y"].unbounded[:, m]
        prior.one_hot_categorical(
            logits=zeros, value=node, name=f"y{m}"
        ) if site == "one_hot" else prior.concrete(zeros, 0.7, value=node, name=f"y{m}")
    one, two = decompose(q, p, N), decompose(apart, prior, N, {"y": ["y0", "y1"]}, parents={"y0": []})
    torch.testing.assert_close(one["marginal"], two["marginal"])
    torch.testing.assert_close(one["within"], two["between[y]"])
    torch.testing.assert_close(one["mutual_information"], two["mutual_information"])


# ---- no closed form -------------------------------------------------------------------------------------


class Shear(td.Transform):
    """z -> (z_1, z_2 + z_1², ...): single dimensions of the result have no closed form."""

    domain = codomain = td.constraints.real_vector
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        return torch.cat([x[..., :1], x[..., 1:] + x[..., :1] ** 2], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return torch.cat([y[..., :1], y[..., 1:] - y[..., :1] ** 2], -1)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[:-1])


class Flow(td.TransformedDistribution):
    """A normal around ``loc``, sheared."""

    def __init__(self, loc: Tensor, validate_args: bool | None = None) -> None:
        self.loc = loc
        super().__init__(td.Independent(td.Normal(loc, 0.5), 1), [Shear()], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Flow:
        return Flow(self.loc.expand(*batch_shape, *self.event_shape))


def no_closed_form() -> dict[str, td.Distribution]:
    loc = torch.randn(B, D, dtype=double)
    return {
        "flow": Flow(loc),
        "mixture of flows": td.MixtureSameFamily(
            td.Categorical(torch.ones(B, 2, dtype=double)), Flow(loc[:, None].expand(B, 2, D))
        ),
        "logistic normal": td.LogisticNormal(loc, torch.ones(B, D, dtype=double)),
        "multinomial": td.Multinomial(5, logits=loc, validate_args=False),
        "wishart": td.Wishart(torch.tensor(4.0, dtype=double), torch.eye(2, dtype=double).expand(B, 2, 2)),
    }


@pytest.mark.parametrize("family", no_closed_form())
@pytest.mark.parametrize("second", [False, True], ids=["alone", "beside a class"])
def test_single_dimensions_without_closed_form_are_refused_by_name(family: str, second: bool) -> None:
    dist = no_closed_form()[family]
    q, p = unknot.Trace(), unknot.Trace()
    if second:
        q.categorical(logits=torch.zeros(B, 2, dtype=double), name="y")
        p.categorical(logits=torch.zeros(2, dtype=double), value=q["y"], name="y")
    matrices = torch.eye(2, dtype=double).expand(B, 2, 2)  # torch warns of any draw of a Wishart distribution
    q.variable(dist, matrices if family == "wishart" else None, name="strange")
    p.variable(dist, q["strange"], name="strange")
    for objective in (decompose, hfvae, beta_tcvae):
        with pytest.raises(SpecError, match=r"site 'strange': .* closed form") as refused:
            objective(q, p, dataset_size=N, parents={name: [] for name in q}, prior_parents={})
        assert "\n" not in str(refused.value)
    with pytest.raises(SpecError, match="site 'strange'"):
        information(q, N, parents={name: [] for name in q})


@pytest.mark.parametrize("dependent", [False, True], ids=["", "dependent"])
def test_terms_at_the_root_need_no_closed_form(dependent: bool) -> None:
    """``between`` and ``information`` are those of the base variable: an invertible map of z leaves them."""
    loc = torch.randn(B, D, dtype=double)
    found = []
    for map_it in (False, True):

        def encode(given: Any = None, map_it: bool = map_it) -> unknot.Trace:
            q = unknot.Trace()
            value = None if given is None else given["y"]
            y = q.one_hot_categorical(
                logits=loc[:, :2], value=value, name="y", gradient="enumerate" if value is None else None
            )
            mean = loc + 2 * y[..., :1] if dependent else loc
            q.variable(Flow(mean) if map_it else td.Independent(td.Normal(mean, 0.5), 1), name="z")
            drawn = mean + 0.5 * torch.linspace(-1, 1, B * D, dtype=double).reshape(B, D)
            q["z"].value = (Shear()(drawn) if map_it else drawn).reshape(q["z"].value.shape)
            return q

        q, p = encode(), unknot.Trace()
        p.one_hot_categorical(logits=torch.zeros(2, dtype=double), value=q["y"], name="y")
        prior = td.Independent(td.Normal(torch.zeros(D, dtype=double), 0.5), 1)
        p.variable(Flow(torch.zeros(D, dtype=double)) if map_it else prior, q["z"], name="z")
        p.normal(torch.zeros((), dtype=double), 1.0, value=torch.zeros(B, dtype=double), name="x")
        options: dict[str, Any] = {"dataset_size": N, "parents": {"z": ["y"]} if dependent else {"z": []}}
        found.append(
            [
                semi_supervised(q, p, between=3.0, **options)["between"],
                semi_supervised(q, p, between={"y, z": 3.0}, **options)["between[y, z]"],
                semi_supervised(q, p, information={"z": 3.0}, **options)["information[z]"],
            ]
        )
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_a_prior_without_closed_form_is_refused_by_name_where_it_is_needed() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.one_hot_categorical(logits=torch.randn(B, 2, dtype=double), name="y", gradient="enumerate")
    q.normal(torch.randn(B, D, dtype=double), 0.5, name="z", event_dims=1)
    p.one_hot_categorical(logits=torch.zeros(2, dtype=double), value=q["y"], name="y")
    p.variable(Flow(torch.zeros(D, dtype=double)), q["z"], name="z")
    with pytest.raises(SpecError, match=r"site 'z': .* closed form .* p's Flow"):
        decompose(q, p, N, parents={name: [] for name in q})
    same(
        semi_supervised(q, p, between=2.0, dataset_size=N, parents={name: [] for name in q})["between"],
        semi_supervised(q, p, between=2.0, dataset_size=N, parents={"z": ["y"]})["between"].tolist(),
    )


def test_a_vector_of_one_number_is_a_leaf_whatever_its_family() -> None:
    """With one dimension the joint is the marginal: nothing is refused, and nothing is within."""
    loc = torch.randn(B, 1, dtype=double)
    q, p = unknot.Trace(), unknot.Trace()
    q.variable(Flow(loc), name="z")
    p.variable(Flow(torch.zeros(1, dtype=double)), q["z"], name="z")
    same(decompose(q, p, N)["within"], [0.0] * B)


def test_marginals_of_a_multivariate_normal_integrate_its_joint() -> None:
    """A sum over a fine grid of the other dimension: the leaf is the density that the joint implies."""
    covariance, value = [[1.2, 0.7], [0.7, 0.9]], [0.4, -0.8]
    step = 0.01
    for d in range(2):
        total = 0.0
        for place in range(-1000, 1001):
            point = [place * step, place * step]
            point[d] = value[d]
            total += step * math.exp(gaussian_log(point, [0.1, 0.2], covariance))
        assert math.log(total) == pytest.approx(
            normal_log(value[d], [0.1, 0.2][d], covariance[d][d]), abs=1e-9
        )
    q = unknot.Trace()
    q.multivariate_normal(
        torch.tensor([[0.1, 0.2]], dtype=double), torch.tensor(covariance).double(), name="z"
    )
    q["z"].value = torch.tensor([value], dtype=double)
    found = information(q, 1, estimator="exact")
    wanted = gaussian_log(value, [0.1, 0.2], covariance) - sum(
        normal_log(value[d], [0.1, 0.2][d], covariance[d][d]) for d in range(2)
    )
    assert float(found.total_correlation) == pytest.approx(wanted, abs=1e-6)
