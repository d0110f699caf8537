"""Relaxed and continuous parents: unbiased for q(z_G), on a Gaussian chain whose marginals are known."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

import unknot
from benchmarks import dependent_step
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo, hfvae, information
from unknot.objectives.marginal.inference_marginal import InferenceMarginal

B = N = 6
X = torch.linspace(-1, 1, B, dtype=torch.float64)


def chain(values, x: Tensor = X) -> unknot.Trace:
    """a ~ N(x, .5), b ~ N(2a, .3), c ~ N(a + b, .4)."""
    q = unknot.Trace()
    a = q.normal(x, 0.5, value=values.get("a"), name="a", event_dims=0)
    b = q.normal(2 * a, 0.3, value=values.get("b"), name="b", event_dims=0)
    q.normal(a + b, 0.4, value=values.get("c"), name="c", event_dims=0)
    return q


def exact(q: unknot.Trace, names: tuple[str, ...]) -> Tensor:
    """q(z_G) of every row, from the Gaussian's moments: mean (1, 2, 3) x and the covariance of the chain."""
    a, b, c = 0.25, 4 * 0.25 + 0.09, 9 * 0.25 + 0.09 + 0.16
    covariance = torch.tensor(
        [[a, 2 * a, 3 * a], [2 * a, b, 6 * a + 0.09], [3 * a, 6 * a + 0.09, c]]
    ).double()
    pick = ["abc".index(name) for name in names]
    mean = X[:, None] * torch.tensor([1.0, 2.0, 3.0]).double()[pick]
    joint = torch.distributions.MultivariateNormal(mean, covariance[pick][:, pick])
    rows = torch.stack([q[name].value for name in names], -1)
    return joint.log_prob(rows[:, None]).exp().mean(-1)


@pytest.mark.parametrize("names", [("b",), ("c",), ("b", "c"), ("a", "c")])
def test_the_estimate_of_every_set_is_unbiased(names):
    """The mean over further runs, and over which items a draw meets, is q(z_G): within five standard errors."""
    torch.manual_seed(7)
    with torch.no_grad():
        q = chain({})
        found = []
        for _ in range(30):
            order = torch.randperm(B)  # the items that a shift of m meets
            moved = unknot.Trace()
            for node in q.variables():
                moved.normal(node.dist.loc[order], node.dist.scale[order], name=node.name, event_dims=0)
                moved[node.name].value, moved[node.name]._log_prob = node.value[order], None
            how = InferenceMarginal(N, encoder=lambda given, x=X[order]: chain(given, x), pairs=2, draws=2)
            rest = [name for name in "abc" if name not in names]
            tree = how.tree(moved, {"set": list(names), "rest": rest})
            found.append(tree.parts["set"].log_q.exp()[order.argsort()])
        values = torch.stack(found)
    error = values.std(0) / math.sqrt(len(values))
    assert ((values.mean(0) - exact(q, names)).abs() <= 5 * error + 1e-9).all()


def test_a_set_with_all_its_ancestors_and_every_pair_is_exact():
    q = chain({})
    tree = InferenceMarginal(N, encoder=chain, all_pairs=True).tree(q, ["a", "b", "c"])
    torch.testing.assert_close(tree.log_q.exp(), exact(q, ("a", "b", "c")), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("samples", [None, 2])
def test_the_slides_program_works(samples):
    """z read from a Concrete y, with labels for some: the terms add up to the ELBO, gradients flow."""
    torch.manual_seed(0)
    x, weight = torch.randn(8, 3), torch.randn(6, 2, requires_grad=True)

    def encode(values=None, samples=None):
        q = unknot.Trace(samples=samples)
        y = q.concrete(x, 0.66, value=values, name="y")
        q.normal(unknot.cat([x, y], -1) @ weight, 0.5, name="z")
        return q

    q = encode(unknot.partial(torch.tensor([0, -1, 2, -1, -1, -1, 1, -1])), samples)
    p = unknot.Trace()
    p.concrete(torch.zeros(3), 0.66, value=q["y"], name="y")
    p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    terms = hfvae(q, p, 100, encoder=lambda given: encode(given["y"]))
    parts = decompose(q, p, 100, encoder=lambda given: encode(given["y"]))
    torch.testing.assert_close(parts.per_item, elbo(q, p).per_item, rtol=1e-4, atol=1e-4)
    terms.loss.backward()
    assert weight.grad is not None
    assert bool(weight.grad.isfinite().all())


def test_the_slides_program_is_the_number_written_by_hand():
    """The benchmark's two sides: loss and gradients."""
    nets, x = dependent_step.Networks(), dependent_step.batch()[0]
    found = []
    for loss in (dependent_step.traced, partial(dependent_step.by_hand, in_step=True)):
        torch.manual_seed(2)
        value = loss(nets, x)
        found.append([value, *torch.autograd.grad(value, list(nets.parameters()))])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("samples", [None, 2])
@pytest.mark.parametrize("all_pairs", [False, True])
def test_all_pairs_in_one_run_are_the_runs_one_by_one(samples, all_pairs):
    """q(y, z): a set that holds its ancestors has nothing to draw, so both are one number, labels included."""
    torch.manual_seed(0)
    x, weight = torch.randn(8, 3), torch.randn(6, 2, requires_grad=True)
    runs = []

    def encode(values=None, samples=None):
        runs.append(values)
        q = unknot.Trace(samples=samples)
        y = q.concrete(x, 0.66, value=values, name="y")
        q.normal(unknot.cat([x, y], -1) @ weight, 0.5, name="z")
        return q

    q = encode(unknot.partial(torch.tensor([0, -1, 2, -1, -1, -1, 1, -1])), samples)
    found = []
    for together in (False, True):
        runs.clear()
        how = InferenceMarginal(
            100, encoder=lambda g: encode(g["y"]), parents={"z": ["y"]}, pairs=5, all_pairs=all_pairs,
            vectorized=together,
        )  # fmt: skip
        torch.manual_seed(1)
        log_q = how.tree(q, {"both": ["y", "z"]}).log_q
        found.append((log_q, torch.autograd.grad(log_q.sum(), weight, retain_graph=True)[0], len(runs)))
    torch.testing.assert_close(found[0][0], found[1][0])
    torch.testing.assert_close(found[0][1], found[1][1])
    assert found[1][2] == 1 + (samples or 1)  # one for q(z), one for all pairs of every sample
    assert found[0][2] == 8 + (samples or 1) * (7 if all_pairs else 5)


@pytest.mark.parametrize("names", [("b",), ("c",), ("a", "b")])
def test_runs_together_are_unbiased_too(names):
    torch.manual_seed(3)
    with torch.no_grad():
        q = chain({})
        how = InferenceMarginal(N, encoder=chain, all_pairs=True, draws=3, vectorized=True)
        rest = [name for name in "abc" if name not in names]
        values = torch.stack(
            [how.tree(q, {"set": list(names), "rest": rest}).parts["set"].log_q.exp() for _ in range(200)]
        )
    error = values.std(0) / math.sqrt(len(values))
    assert ((values.mean(0) - exact(q, names)).abs() <= 5 * error + 1e-6).all()


def test_an_encoder_that_drops_the_nodes_is_refused():
    q = chain({})
    how = InferenceMarginal(
        N, encoder=lambda given: chain({}), parents={"b": ["a"], "c": ["a", "b"]}, vectorized=True
    )
    with pytest.raises(SpecError, match="with vectorized=True"):
        how.tree(q, ["a", "b", "c"])


def test_information_of_a_child_sums_its_parent_out():
    """I(x; b) of the chain: b given x is N(2x, 1.09), and with many items on a line the truth is a quadrature."""
    torch.manual_seed(1)
    with torch.no_grad():
        found = [
            information(chain({}), N, encoder=chain, pairs=1, draws=16).variables["b"] for _ in range(20)
        ]
    values = torch.stack(found)
    grid = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    each = Normal(2 * X[:, None], math.sqrt(1.09)).log_prob(grid)
    mixed = each.logsumexp(0) - math.log(B)
    truth = torch.trapezoid(each.exp() * (each - mixed), grid).mean()
    error = values.std() / math.sqrt(len(values))
    assert abs(values.mean() - truth) < 5 * error + 0.05  # Jensen: O(1/draws)


def test_counts_cannot_be_averaged_over():
    def encode(values):
        q = unknot.Trace()
        n = q.poisson(torch.ones(B), value=values["n"], name="n")
        q.normal(n, 1.0, name="z", event_dims=0)
        return q

    q = encode({"n": None})
    p = unknot.Trace()
    p.poisson(torch.ones(()), value=q["n"], name="n")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    with pytest.raises(SpecError, match="carry no gradient"):
        decompose(q, p, N, encoder=encode)
