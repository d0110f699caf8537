"""Single dimensions of a prior in closed form: against integrals, and refused where there is none."""

import pytest
import torch
from torch.distributions import (
    Categorical,
    Independent,
    LowRankMultivariateNormal,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
    Transform,
    TransformedDistribution,
    constraints,
)

import unknot
from tests.objectives.marginal.structured_programs import B, D, Encoder, N, covariance, data, decoder
from tests.objectives.prior.test_prior_marginal import encoder_of
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo

double = torch.float64


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
    plain, correlated = (
        decompose(q, decoder(x, q, c), N, parents={name: [] for name in q}) for c in (False, True)
    )
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
    tied = LowerCholeskyAffine(torch.zeros(D), torch.eye(D))
    flow = TransformedDistribution(Independent(Normal(torch.zeros(D), 1.0), 1), [tied])
    p.variable(flow, q["z"], name="z")
    with pytest.raises(SpecError, match=r"site 'z': no closed form .* p's TransformedDistribution"):
        decompose(q, p, N)


class LowerCholeskyAffine(Transform):
    """z -> loc + L z: one event, which is not taken apart."""

    domain = codomain = constraints.real_vector
    bijective = True

    def __init__(self, loc: torch.Tensor, spread: torch.Tensor) -> None:
        super().__init__()
        self.loc, self.spread = loc, spread

    def _inverse(self, y: torch.Tensor) -> torch.Tensor:
        return (y - self.loc) @ self.spread.inverse().mT

    def log_abs_det_jacobian(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.spread.logdet().expand(x.shape[:-1])


def test_one_leaf_in_q_is_one_leaf_in_p():
    q, p = unknot.Trace(), unknot.Trace()
    q.one_hot_categorical(logits=torch.randn(B, 4, requires_grad=True), name="t")
    p.one_hot_categorical(logits=torch.zeros(4), value=q["t"], name="t")
    terms = decompose(q, p, N)
    torch.testing.assert_close(terms["within"], torch.zeros(B))
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)


@pytest.mark.parametrize("gradient", ["concrete", "straight_through", "plug_in"])
@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("labeled", [False, True])
def test_a_relaxed_binary_vector_that_is_its_prior_costs_nothing(
    gradient: str, samples: int | None, labeled: bool
) -> None:
    """q = p: every term of a drawn item is zero, and the prior's dimensions are scored as q's are."""
    logits = torch.tensor([0.3, -1.2, 2.0], dtype=double)
    values = torch.tensor([[1.0, 0.0, 1.0]] * 5, dtype=double)
    known = torch.tensor([True, False, False, True, False])
    q, p = unknot.Trace(samples), unknot.Trace()
    value = unknot.partial(values, known) if labeled else None
    q.relaxed_bernoulli(0.4, logits=logits.expand(5, 3), value=value, gradient=gradient, name="z")
    p.relaxed_bernoulli(0.4, logits=logits, value=q["z"], name="z")
    p.normal(0.0, 1.0, value=torch.zeros(5, dtype=double), name="x")
    terms = decompose(q, p, dataset_size=5)
    drawn = ~known if labeled else torch.ones(5, dtype=torch.bool)
    for name in ("mutual_information", "between", "within", "marginal"):
        if name in terms:
            torch.testing.assert_close(terms[name][drawn], torch.zeros(int(drawn.sum()), dtype=double))
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)
