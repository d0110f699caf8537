"""Laws of the decomposition that need no reference: every family, gradient, sample axis, tree and mode."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

import unknot
from unknot.objectives import decompose, information

B = 5
double = torch.float64
FAMILIES = {
    "normal": lambda t, v, b: t.normal(torch.zeros(b, 2), torch.ones(b, 2), value=v, name="f"),
    "laplace": lambda t, v, b: t.variable(
        torch.distributions.Laplace(torch.zeros(b, 2), torch.ones(b, 2)), v, name="f", event_dims=1
    ),
    "uniform": lambda t, v, b: t.uniform(torch.zeros(b, 2), torch.ones(b, 2), value=v, name="f"),
    "beta": lambda t, v, b: t.beta(torch.full((b, 2), 2.0), torch.ones(b, 2), value=v, name="f"),
    "gamma": lambda t, v, b: t.gamma(torch.full((b, 2), 2.0), torch.ones(b, 2), value=v, name="f"),
    "dirichlet": lambda t, v, b: t.dirichlet(torch.full((b, 3), 2.0), value=v, name="f"),
    "multivariate": lambda t, v, b: t.multivariate_normal(torch.zeros(b, 2), torch.eye(2), value=v, name="f"),
    "concrete": lambda t, v, b: t.concrete(torch.zeros(b, 3), 0.66, value=v, name="f"),
    "straight_through": lambda t, v, b: t.concrete(
        torch.zeros(b, 3), 0.66, value=v, name="f", gradient="straight_through"
    ),
    "relaxed_bernoulli": lambda t, v, b: t.relaxed_bernoulli(0.5, logits=torch.zeros(b), value=v, name="f"),
    "enumerated": lambda t, v, b: t.categorical(
        logits=torch.zeros(b, 3), value=v, name="f", gradient="enumerate"
    ),
    "score_function": lambda t, v, b: t.categorical(logits=torch.zeros(b, 3), value=v, name="f"),
    "detached": lambda t, v, b: t.categorical(
        logits=torch.zeros(b, 3), value=v, name="f", gradient="detached"
    ),
    "poisson": lambda t, v, b: t.poisson(torch.ones(b), value=v, name="f"),
}
MODES = {
    "gradients": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "unchecked": lambda: unknot.validation(False),
}


def with_a_class(family, values, batch: int, samples: int | None = None) -> unknot.Trace:
    """A site of the family, and a class y with a normal z read from it."""
    trace = unknot.Trace(samples=samples)
    FAMILIES[family](trace, values["f"], batch)
    y = trace.one_hot_categorical(
        logits=torch.zeros(batch, 2), value=values["y"], name="y", gradient="enumerate"
    )
    trace.normal(y @ torch.tensor([[-2.0, 0.0], [2.0, 1.0]]), 0.5, value=values["z"], name="z", event_dims=1)
    return trace


class Nothing(dict):
    def __missing__(self, name: str) -> None:
        return None


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("samples", [None, 2])
@pytest.mark.parametrize(
    "tree", [None, {"a": ["z", "f"], "b": ["y"]}, {"a": {"c": ["z"], "d": ["y"]}, "b": ["f"]}]
)
@pytest.mark.parametrize("mode", MODES)
def test_q_equal_to_p_makes_every_term_zero(family, samples, tree, mode):
    with MODES[mode]():
        q = with_a_class(family, Nothing(), B, samples)
        p = with_a_class(family, q, B)
        options = {
            "prior": lambda given: with_a_class(family, given, given.batch),
            "encoder": lambda given: with_a_class(family, given, B),
        }
        terms = decompose(q, p, 40, tree, **options)
    for name, value in terms.items():
        assert value.detach().abs().max() < 2e-5, name


def encode(x: Tensor, given=None, order=("y", "w"), samples=None) -> unknot.Trace:
    """y, z read from y, and w alone, in either order of the independent ones."""
    given = given or Nothing()
    q = unknot.Trace(samples=samples)
    for name in order:
        if name == "w":
            q.normal(x[:, 1:3], torch.full((2,), 0.5, dtype=double), value=given["w"], name="w")
        else:
            y = q.categorical(logits=x[:, :3], value=given["y"], name="y")
            q.normal(
                x[:, 3:] + y[..., None], torch.ones(2, dtype=double), value=given["z"], name="z", event_dims=1
            )
    return q


def scored(x: Tensor, values) -> tuple[unknot.Trace, unknot.Trace]:
    """q and p at fixed draws: values as those of a trace that drew them."""
    return encode(x, values), decode(values)


def decode(q) -> unknot.Trace:
    p = unknot.Trace()
    p.categorical(logits=torch.zeros(3, dtype=double), value=q["y"], name="y")
    for name in ("z", "w"):
        p.normal(torch.zeros(2, dtype=double), torch.ones(2, dtype=double), value=q[name], name=name)
    return p


def data() -> Tensor:
    return torch.randn(B, 5, dtype=double, generator=torch.Generator().manual_seed(0))


def terms_of(q: unknot.Trace, x: Tensor, **more) -> dict[str, Tensor]:
    found = decompose(q, decode(q), B, encoder=lambda given: encode(x, given), **more)
    return {name: value.detach() for name, value in found.items()}


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("samples", [None, 2])
def test_the_mode_changes_nothing(samples):
    x, found = data(), {}
    for name, mode in MODES.items():
        with mode():
            torch.manual_seed(1)
            found[name] = {k: v.clone() for k, v in terms_of(encode(x, samples=samples), x).items()}
    for one, other in itertools.pairwise(found.values()):
        assert_same(one, other)


def moved(q: unknot.Trace, order: Tensor) -> unknot.Trace:
    """The same draws in another order of the items."""
    twin = encode(data()[order])
    for node in twin.variables():
        node.value, node._log_prob = q[node.name].value[order], None
        node.dist = type(node.dist)(**parameters(q[node.name].dist, order))
    return twin


def parameters(dist, order: Tensor) -> dict[str, Tensor]:
    names = ("logits",) if isinstance(dist, torch.distributions.Categorical) else ("loc", "scale")
    return {name: getattr(dist, name)[order] for name in names}


def test_a_permutation_of_the_batch_permutes_the_terms():
    x, order = data(), torch.tensor([3, 0, 4, 1, 2])
    q = encode(x)
    one, other = terms_of(q, x), terms_of(moved(q, order), x[order])
    assert_same({name: value[order] for name, value in one.items()}, other)


def test_the_order_of_independent_sites_changes_nothing():
    x = data()
    q = encode(x)
    other = encode(x, order=("w", "y"))
    for node in other.variables():
        node.value, node.dist, node._log_prob = q[node.name].value, q[node.name].dist, None
    tree = ["y", "z", "w"]
    assert_same(terms_of(q, x, groups=tree), terms_of(other, x, groups=tree))


def test_splitting_an_independent_variable_changes_no_sum():
    """w of two dimensions, or two sites of one: their correlation is `within` or `between`, the rest stays."""
    x = data()
    q = encode(x)
    split, p = unknot.Trace(), unknot.Trace()
    for name in ("y", "z"):
        split._store(name, q[name])
        p._store(name, decode(q)[name])
    for d in range(2):
        loc, scale = q["w"].dist.loc[:, d], q["w"].dist.scale[:, d]
        split.normal(loc, scale, name=f"w{d}", event_dims=0)
        node = split[f"w{d}"]
        node.value, node._log_prob = q["w"].value[:, d], None
        p.normal(torch.zeros((), dtype=double), torch.ones((), dtype=double), value=node, name=f"w{d}")
    parents = {"z": ["y"]}
    again = {"encoder": lambda given: encode(x, given), "parents": parents}
    one = decompose(q, decode(q), B, {"a": ["y", "z"], "b": ["w"]}, **again)
    two = decompose(split, p, B, {"a": ["y", "z"], "b": ["w0", "w1"]}, **again)
    for name in ("mutual_information", "between", "between[a]", "marginal", "within[z]"):
        torch.testing.assert_close(one[name], two[name])
    torch.testing.assert_close(one["within[w]"], two["between[b]"])


def test_an_invertible_map_of_a_latent_leaves_the_information():
    """z -> exp(z): a log-normal of the same draws keeps as much of x, and is as correlated with y."""
    x = data()
    q = encode(x)
    mapped = unknot.Trace()
    for name in ("y", "w"):
        mapped._store(name, q[name])
    dist = torch.distributions.LogNormal(q["z"].dist.loc, q["z"].dist.scale)
    mapped.variable(dist, name="z", event_dims=1)
    mapped["z"].value = q["z"].value.exp()

    def again(given):
        run = encode(x, Nothing(y=given["y"], w=given["w"]))
        other = unknot.Trace()
        for name in ("y", "w"):
            other._store(name, run[name])
        other.variable(
            torch.distributions.LogNormal(run["z"].dist.loc, run["z"].dist.scale),
            given["z"],
            name="z",
            event_dims=1,
        )
        return other

    how = {"parents": {"z": ["y"]}}
    one = information(q, B, encoder=lambda given: encode(x, given), **how)
    two = information(mapped, B, encoder=again, **how)
    for name in ("joint", "total_correlation", "between"):
        torch.testing.assert_close(getattr(one, name), getattr(two, name))
    torch.testing.assert_close(one.variables["z"], two.variables["z"])
