"""Priors that do not factorize: closed forms, sampled marginals, refusals."""

import pytest
import torch
from torch import Tensor
from torch.distributions import (
    Normal,
)

import unknot
from tests.objectives.marginal.structured_programs import B, D, Encoder, N, data
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo

double = torch.float64


def encoder_of(x: Tensor, *names: str) -> unknot.Trace:
    """Independent Normal codes (B, D) of x, one for each name."""
    q = unknot.Trace()
    for shift, name in enumerate(names):
        loc = x[:, :D] * torch.full((D,), 1.0 + shift, dtype=double, requires_grad=True)
        q.normal(loc, 0.4, name=name)
    return q


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
        decompose(q, program(q), N, parents={name: [] for name in q})


@pytest.mark.parametrize(
    "tree", [["y", "z", "v"], {"a": ["y"], "b": ["z", "v"]}, {"a": ["z", "y"], "b": ["v"]}]
)
def test_sampled_marginals_leave_the_sum_at_the_elbo(tree):
    program, x = Program(), data()
    q = program.encode(x)
    p = program(q)
    terms = decompose(q, p, N, tree, parents={name: [] for name in q}, prior=program, prior_draws=16)
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)


def shares_of_p(program: Program, q: unknot.Trace, tree, draws: int) -> dict[str, Tensor]:
    """What the prior adds to every term: the terms minus those under a prior equal to q(z | x), which factorizes."""
    flat = unknot.Trace()
    for node in q.variables():
        flat.variable(node.dist, q[node.name], name=node.name)
    with_p = decompose(
        q, program(q), N, tree, parents={name: [] for name in q}, prior=program, prior_draws=draws
    )
    with_q = decompose(q, flat, N, tree, parents={name: [] for name in q}, prior_parents={})
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


def test_a_prior_that_depends_on_the_input_alone_factorizes():
    x = data()
    q = encoder_of(x, "z", "w")
    p = unknot.Trace()
    for name in ("z", "w"):
        p.normal(x[:, :D], 1.0, value=q[name], name=name)
    torch.testing.assert_close(
        decompose(q, p, N, parents={name: [] for name in q}, prior_parents={}).per_item, elbo(q, p).per_item
    )


def test_labels_and_a_repeated_constant_prior_are_no_dependence_if_so_stated():
    x = data()
    q = Encoder()(x, torch.zeros(B, dtype=torch.long))
    p = unknot.Trace()
    p.concrete(torch.zeros(B, 4, dtype=double), 0.66, value=q["y"], name="y")
    p.normal(torch.zeros(B, D, dtype=double), 1.0, value=q["z"], name="z")
    p.normal(0.0, 1.0, value=q["w"], name="w")
    with pytest.raises(SpecError, match="prior_parents"):
        decompose(q, p, N, parents={name: [] for name in q})
    terms = decompose(q, p, N, parents={name: [] for name in q}, prior_parents={})
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)


@pytest.mark.parametrize("draws", [D, D + 1])
def test_as_many_draws_as_dimensions_are_no_riddle(draws: int) -> None:
    """A prior vector of D numbers, run for D draws: it is one vector and not a number for each draw."""

    def prior(q) -> unknot.Trace:
        p = unknot.Trace()
        v = p.normal(torch.zeros(D, dtype=torch.float64), 1.0, value=q["v"], name="v")
        p.normal(v, 1.0, value=q["z"], name="z")
        return p

    x = data()
    q = encoder_of(x, "v", "z")
    terms = decompose(q, prior(q), N, parents={name: [] for name in q}, prior=prior, prior_draws=draws)
    torch.testing.assert_close(terms.per_item, elbo(q, prior(q)).per_item)
