"""Priors that do not factorise: closed forms, sampled marginals, refusals."""

import pytest
import torch
from torch import Tensor
from torch.distributions import (
    Categorical,
    Dirichlet,
    Independent,
    LowRankMultivariateNormal,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
)

import unknot
from tests.objectives.marginal.structured_programs import B, D, Encoder, N, covariance, data, decoder
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo
from unknot.objectives.prior.enumeration import combinations

double = torch.float64


def encoder_of(x: Tensor, *names: str) -> unknot.Trace:
    """Independent Normal codes (B, D) of x, one for each name."""
    q = unknot.Trace()
    for shift, name in enumerate(names):
        loc = x[:, :D] * torch.full((D,), 1.0 + shift, dtype=double, requires_grad=True)
        q.normal(loc, 0.4, name=name)
    return q


def with_prior(q: unknot.Trace, prior: torch.distributions.Distribution) -> unknot.Trace:
    p = unknot.Trace()
    p.variable(prior, q["z"], name="z")
    return p


def mixture() -> MixtureSameFamily:
    components = Independent(Normal(torch.randn(3, D, dtype=double), 0.7), 1)
    return MixtureSameFamily(Categorical(torch.tensor([0.2, 0.3, 0.5], dtype=double)), components)


def test_a_multivariate_normal_prior_has_normal_marginals():
    x = data()
    q = Encoder()(x)
    plain, correlated = (decompose(q, decoder(x, q, c), N) for c in (False, True))
    z = q["z"].value
    joint = MultivariateNormal(torch.arange(float(D)).double(), covariance()).log_prob(z)
    single = Normal(torch.arange(float(D)).double(), covariance().diagonal().sqrt()).log_prob(z)
    independent = Normal(torch.zeros((), dtype=double), 1.0).log_prob(z)
    torch.testing.assert_close(correlated["within"] - plain["within"], joint - single.sum(-1))
    torch.testing.assert_close(correlated["marginal"] - plain["marginal"], (single - independent).sum(-1))


@pytest.mark.parametrize(
    "prior",
    [
        MultivariateNormal(torch.zeros(D, dtype=double), covariance()),
        LowRankMultivariateNormal(
            torch.zeros(D).double(), 0.7**0.5 * torch.ones(D, 1).double(), torch.ones(D).double()
        ),
        mixture(),
    ],
    ids=["multivariate", "low_rank", "mixture"],
)
def test_closed_form_marginals_integrate_out_the_other_dimensions(prior):
    """Σ over a fine grid of the joint over the other two dimensions."""
    x = data()
    q = encoder_of(x, "z")
    terms = decompose(q, with_prior(q, prior), N)
    flat = decompose(q, with_prior(q, Independent(Normal(torch.zeros(D, dtype=double), 1.0), 1)), N)
    standard = Normal(0.0, torch.ones((), dtype=double)).log_prob(q["z"].value).sum(-1)
    single = terms["marginal"] - flat["marginal"] + standard
    grid = torch.linspace(-12, 12, 241, dtype=double)
    cell = (grid[1] - grid[0]) ** 2
    for b in range(B):
        total = 0.0
        for d in range(D):
            a, c = torch.meshgrid(grid, grid, indexing="ij")
            points = [a, c]
            points.insert(d, torch.full_like(a, q["z"].value[b, d].item()))
            total += torch.log(prior.log_prob(torch.stack(points, -1)).exp().sum() * cell)
        torch.testing.assert_close(single[b], total, rtol=1e-6, atol=1e-6)


def test_a_prior_without_closed_form_is_refused():
    q = unknot.Trace()
    q.variable(Normal(torch.zeros(B, D), 1.0), name="z")
    p = unknot.Trace()
    flow = torch.distributions.TransformedDistribution(
        MultivariateNormal(torch.zeros(D), torch.eye(D)), torch.distributions.AffineTransform(0.0, 2.0)
    )
    p.variable(flow, q["z"], name="z")
    with pytest.raises(SpecError, match="no closed form"):
        decompose(q, p, N)


def test_one_leaf_in_q_is_one_leaf_in_p():
    q, p = unknot.Trace(), unknot.Trace()
    q.dirichlet(torch.full((B, 4), 2.0, requires_grad=True), name="t")
    p.dirichlet(torch.ones(4), value=q["t"], name="t")
    terms = decompose(q, p, N)
    torch.testing.assert_close(terms["within"], torch.zeros(B))
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)
    assert isinstance(q["t"].dist, Dirichlet)


class Program:
    """y -> z -> v in the prior: a mixture prior whose component is drawn, and a further site that follows z."""

    def __init__(self) -> None:
        self.means = torch.tensor([[-2.0] * D, [0.0] * D, [2.0] * D], dtype=double)
        self.logits = torch.tensor([0.2, 0.3, 0.5], dtype=double).log()

    def __call__(self, q) -> unknot.Trace:
        p = unknot.Trace()
        y = p.one_hot_categorical(logits=self.logits, value=q["y"], name="y")
        z = p.normal(y @ self.means, 0.7, value=q["z"], name="z", event_dims=1)
        p.normal(0.5 * z, 1.0, value=q["v"], name="v", event_dims=1)
        return p

    def encode(self, x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        weight = torch.eye(3, dtype=double, requires_grad=True)
        q.one_hot_categorical(logits=x[:, :3] @ weight, name="y", gradient="straight_through")
        q.normal(x[:, :D] @ weight, 0.5, name="z")
        q.normal(x[:, 1 : D + 1] @ weight, 0.5, name="v")
        return q

    def log_z(self, z: Tensor) -> Tensor:
        return torch.logsumexp(self.logits + Normal(self.means, 0.7).log_prob(z[:, None]).sum(-1), -1)

    def log_zv(self, z: Tensor, v: Tensor) -> Tensor:
        return self.log_z(z) + Normal(0.5 * z, 1.0).log_prob(v).sum(-1)


def test_sites_that_depend_on_each_other_in_the_prior_need_the_program():
    program, x = Program(), data()
    q = program.encode(x)
    with pytest.raises(SpecError, match="z, v depend on other latent sites"):
        decompose(q, program(q), N)


@pytest.mark.parametrize(
    "tree", [["y", "z", "v"], {"a": ["y"], "b": ["z", "v"]}, {"a": ["z", "y"], "b": ["v"]}]
)
def test_sampled_marginals_leave_the_sum_at_the_elbo(tree):
    program, x = Program(), data()
    q = program.encode(x)
    p = program(q)
    terms = decompose(q, p, N, tree, prior=program, prior_draws=16)
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)


def shares_of_p(program: Program, q: unknot.Trace, tree, draws: int) -> dict[str, Tensor]:
    """What the prior adds to every term: the terms minus those under a prior equal to q(z | x), which factorises."""
    flat = unknot.Trace()
    for node in q.variables():
        flat.variable(node.dist, q[node.name], name=node.name)
    with_p = decompose(q, program(q), N, tree, prior=program, prior_draws=draws)
    with_q = decompose(q, flat, N, tree)
    return {name: with_p[name] - with_q[name] for name in with_p if name != "reconstruction"}


def test_marginals_over_a_discrete_site_are_exact():
    program, x = Program(), data()
    q = program.encode(x)
    p, z, v = program(q), q["z"].value, q["v"].value
    tree = {"y": ["y"], "zv": ["z", "v"]}
    found = shares_of_p(program, q, tree, draws=1)
    joint, pair = p.log_prob(), program.log_zv(z, v)
    torch.testing.assert_close(found["between"], joint - p["y"].log_prob - pair)
    single = torch.logsumexp(program.logits[:, None] + Normal(program.means, 0.7).log_prob(z[:, None]), -2)
    # q(z | x) as a prior has independent dimensions: its share of within[z] is zero
    torch.testing.assert_close(found["within[z]"], program.log_z(z) - single.sum(-1))


def test_marginals_over_a_continuous_site_are_sampled():
    """v follows z, which is continuous: log p(v) has an error that falls with the number of draws."""
    program, x = Program(), data()
    q = program.encode(x)
    v = q["v"].value
    spread = Normal(0.5 * program.means, (1 + 0.25 * 0.7**2) ** 0.5)
    exact = torch.logsumexp(program.logits + spread.log_prob(v[:, None]).sum(-1), -1)
    want = program(q).log_prob() - program.log_z(q["z"].value) - program(q)["y"].log_prob - exact
    errors = [
        (shares_of_p(program, q, ["y", "z", "v"], draws)["between"] - want).abs() for draws in (20, 20_000)
    ]
    assert errors[1].max() < 0.1
    assert errors[1].mean() < 0.2 * errors[0].mean()


def test_a_relaxed_parent_has_no_list_of_values():
    q = Encoder()(data())
    assert combinations([q["y"]]) is None
    assert combinations([q["z"]]) is None
    hard = Encoder("straight_through")(data())["y"]
    listed = combinations([hard])
    assert listed is not None
    torch.testing.assert_close(listed["y"], torch.eye(4, dtype=double))
    assert combinations([hard] * 7) is None  # 4^7 are too many


def test_a_prior_that_depends_on_the_input_alone_factorises():
    x = data()
    q = encoder_of(x, "z", "w")
    p = unknot.Trace()
    for name in ("z", "w"):
        p.normal(x[:, :D], 1.0, value=q[name], name=name)
    torch.testing.assert_close(decompose(q, p, N).per_item, elbo(q, p).per_item)


def test_labels_and_a_repeated_constant_prior_do_not_look_like_a_dependence():
    x = data()
    q = Encoder()(x, torch.zeros(B, dtype=torch.long))
    p = unknot.Trace()
    p.concrete(torch.zeros(B, 4, dtype=double), 0.66, value=q["y"], name="y")
    p.normal(torch.zeros(B, D, dtype=double), 1.0, value=q["z"], name="z")
    p.normal(0.0, 1.0, value=q["w"], name="w")
    terms = decompose(q, p, N, parents={})
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)
