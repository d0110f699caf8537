import pytest
import torch
from torch import Tensor
from torch.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Distribution,
    Gamma,
    Independent,
    LogNormal,
    LowRankMultivariateNormal,
    MixtureSameFamily,
    Multinomial,
    MultivariateNormal,
    Normal,
    OneHotCategorical,
    Poisson,
    RelaxedOneHotCategorical,
)
from torch.distributions.relaxed_categorical import ExpRelaxedCategorical

from tests.references.pairwise import joint_and_marginals, pair_loop, weight_loop
from unknot.errors import SpecError
from unknot.objectives.marginal.pairwise import (
    Labels,
    Pairs,
    concrete,
    distribution_joint,
    distribution_pairs,
    evaluated,
    mass,
    normal,
)
from unknot.objectives.marginal.weights import Mixture, exact, stratified

N, B, K, TAU = 40, 5, 4, 0.66
WEIGHTS = weight_loop("stratified", N, B, range(B))


@pytest.fixture(name="weights")
def fixture_weights() -> Mixture:
    return stratified(N, B, torch.arange(B))


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def assert_same(pairs: Pairs, logs: Tensor, joint_logs: Tensor | None = None) -> None:
    """Against log q(z_bd | x_c), (R, C, D); ``joint_logs`` (R, C) where they do not add up to that of the vector."""
    joint, marginals = joint_and_marginals(logs, WEIGHTS)
    torch.testing.assert_close(pairs.joint.double(), joint if joint_logs is None else joint_logs)
    assert pairs.marginals is not None
    torch.testing.assert_close(pairs.marginals.double(), marginals)


def test_concrete_density_agrees_with_the_double_loop(weights: Mixture) -> None:
    logits, u = 3 * random(B, K), random(B, K, seed=1).log_softmax(-1)
    temperature = torch.tensor(TAU, dtype=torch.float64)
    logs = pair_loop(
        B, B, lambda b, c: ExpRelaxedCategorical(temperature, logits=logits[c]).log_prob(u[b])[None]
    )
    assert_same(concrete(u, logits, TAU, weights), logs)
    assert_same(concrete(u, logits, temperature, weights), logs)


PARENT = torch.tensor([2, 0, 2, 1, 0])


def test_concrete_density_under_a_discrete_parent(weights: Mixture) -> None:
    logits, u = random(3, B, K), random(B, K, seed=1).log_softmax(-1)
    temperature = torch.tensor(TAU, dtype=torch.float64)

    def log_prob(b: int, c: int) -> Tensor:
        return ExpRelaxedCategorical(temperature, logits=logits[PARENT[b], c]).log_prob(u[b])[None]

    assert_same(concrete(u, logits, TAU, weights, PARENT), pair_loop(B, B, log_prob))


@pytest.mark.parametrize("spread", [1.0, 30.0, 150.0, 1000.0, 5000.0])
def test_concrete_density_stays_finite_and_right_for_confident_encoders(spread: float) -> None:
    batch, classes = 64, 10
    logits = spread * torch.rand(batch, classes, generator=torch.Generator().manual_seed(0))
    gumbel = -torch.empty(batch, classes).exponential_(generator=torch.Generator().manual_seed(1)).log()
    u = ((logits + gumbel) / TAU).log_softmax(-1)
    ours = [u.clone().requires_grad_(), logits.clone().requires_grad_()]
    theirs = [u.double().requires_grad_(), logits.double().requires_grad_()]
    joint = concrete(*ours, TAU, exact(batch, batch)).joint
    temperature = torch.tensor(TAU, dtype=torch.float64)
    truth = ExpRelaxedCategorical(temperature, logits=theirs[1]).log_prob(theirs[0][:, None])
    torch.testing.assert_close(joint.double(), truth, rtol=1e-4, atol=1e-4)
    joint.logsumexp(1).sum().backward()
    truth.logsumexp(1).sum().backward()
    for single, double in zip(ours, theirs, strict=True):
        assert single.grad is not None
        assert double.grad is not None
        torch.testing.assert_close(single.grad.double(), double.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("spread", [100.0, 339.0, 341.0, 1000.0, 1e4])
def test_a_single_item_tells_nothing_about_itself(spread: float) -> None:
    """With one item q(u) is q(u | x), however sure the encoder is."""
    logits = torch.linspace(0.0, spread, 4, dtype=torch.float64)[None]
    u = ((logits + random(1, 4)) / TAU).log_softmax(-1)
    pairs = concrete(u, logits, TAU, exact(1, 1))
    temperature = torch.tensor(TAU, dtype=torch.float64)
    own = ExpRelaxedCategorical(temperature, logits=logits).log_prob(u)
    torch.testing.assert_close(pairs.marginals[:, 0], own, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("tables", [None, 3], ids=["no parent", "parent"])
def test_masked_classes_are_no_classes(tables: int | None) -> None:
    """Logits of -inf in one class: the densities are those of the classes that are left, gradients included."""
    logits = (random(B, K) if tables is None else random(tables, B, K)).requires_grad_()
    parent = None if tables is None else PARENT
    u = random(B, K - 1, seed=1).log_softmax(-1)
    nowhere = torch.full((B, 1), -torch.inf, dtype=torch.float64)
    masked = torch.cat([logits[..., :-1], torch.full_like(logits[..., :1], -torch.inf)], -1)
    ours = concrete(torch.cat([u, nowhere], -1), masked, TAU, exact(B, B), parent)
    fewer = concrete(u, logits[..., :-1], TAU, exact(B, B), parent)
    torch.testing.assert_close(ours.joint, fewer.joint)
    torch.testing.assert_close(ours.marginals, fewer.marginals)
    slopes = [torch.autograd.grad(pairs.marginals.sum(), logits)[0] for pairs in (ours, fewer)]
    torch.testing.assert_close(*slopes)


def test_labels_are_scored_by_mass_and_pass_no_nan(weights: Mixture) -> None:
    logits = random(B, K).requires_grad_()
    u = random(B, K, seed=1).log_softmax(-1)
    labeled = torch.tensor([True, False, False, True, False])
    one_hot = torch.nn.functional.one_hot(torch.tensor([1, 0, 0, 3, 0]), K).double()
    u.requires_grad_()
    mixed = concrete(u, logits, TAU, weights, labels=Labels(one_hot, labeled))
    density, by_mass = concrete(u, logits, TAU, weights), mass(one_hot, logits, weights)
    torch.testing.assert_close(mixed.joint[labeled], by_mass.joint[labeled])
    torch.testing.assert_close(mixed.joint[~labeled], density.joint[~labeled])
    mixed.marginals.sum().backward()
    for leaf in (logits, u):
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()
    assert u.grad is not None
    assert (u.grad[labeled] == 0).all()  # the draw behind a label counts nothing


@pytest.mark.parametrize("tables", [None, 3], ids=["no parent", "parent"])
def test_relaxed_gradients_agree_with_finite_differences(tables: int | None, weights: Mixture) -> None:
    logits = random(B, K) if tables is None else random(tables, B, K)
    parent = None if tables is None else PARENT
    u, y = random(B, K, seed=1).log_softmax(-1), random(B, K, seed=2).softmax(-1)
    leaves = [tensor.requires_grad_() for tensor in (u, y, logits)]

    def outputs(u: Tensor, y: Tensor, logits: Tensor) -> tuple[Tensor, ...]:
        first, second = concrete(u, logits, TAU, weights, parent), mass(y, logits, weights, parent)
        return first.joint, first.marginals, second.joint, second.marginals

    assert torch.autograd.gradcheck(outputs, leaves)


def test_mass_under_a_parent_and_with_impossible_classes(weights: Mixture) -> None:
    logits = random(3, B, K)
    logits[:, 0, 2] = -torch.inf  # item 0 can never be of class 2
    index = torch.tensor([1, 0, 2, 3, 2])
    value = torch.nn.functional.one_hot(index, K).double()
    pairs = mass(value, logits, weights, PARENT)
    for b in range(B):
        for c in range(B):
            expected = logits[PARENT[b], c].log_softmax(-1)[index[b]]
            got = pairs.joint[b, c]
            if expected == -torch.inf:
                assert got < -1e300
            else:
                torch.testing.assert_close(got, expected)
    assert pairs.marginals.isfinite().all()


def positive(*shape: int) -> Tensor:
    return random(*shape).exp() + 0.1


def families() -> dict[str, Distribution]:
    return {
        "normal": Normal(random(B, 3), positive(B, 3)),
        "normal of a matrix": Normal(random(B, 2, 3), positive(B, 2, 3)),
        "independent normal": Independent(Normal(random(B, 3), positive(B, 3)), 1),
        "gamma": Gamma(positive(B, 3), positive(B, 3)),
        "beta": Beta(positive(B, 2), positive(B, 2)),
        "log-normal": LogNormal(random(B, 2), positive(B, 2)),
        "poisson": Poisson(positive(B, 3)),
        "bernoulli": Bernoulli(logits=random(B, 3)),
        "scalar gamma": Gamma(positive(B), positive(B)),
        "categorical": Categorical(logits=random(B, 4)),
        "several categoricals": Categorical(logits=random(B, 3, 4)),
        "one-hot categorical": OneHotCategorical(logits=random(B, 4)),
        "relaxed one-hot": RelaxedOneHotCategorical(torch.tensor(TAU).double(), logits=random(B, 4)),
        "mixture": MixtureSameFamily(
            Categorical(logits=random(B, 2, 4)), Normal(random(B, 2, 4), positive(B, 2, 4))
        ),
    }


def leaf_logs(dist: Distribution, value: Tensor, index: tuple[int, ...]) -> Tensor:
    """log q(z_d | x_c) of every leaf of one item, by asking for all items and picking one."""
    base = dist.base_dist if isinstance(dist, Independent) else dist
    return base.log_prob(value.expand(base.batch_shape + base.event_shape))[index].reshape(-1)


@pytest.mark.parametrize("family", families())
def test_any_distribution_agrees_with_the_double_loop(family: str, weights: Mixture) -> None:
    dist = families()[family]
    torch.manual_seed(0)
    value = dist.sample()
    logs = pair_loop(B, B, lambda b, c: leaf_logs(dist, value[b], (c,)))
    assert_same(distribution_pairs(dist, value, weights), logs)
    sampled = dist.sample(torch.Size((2,)))
    twice = distribution_pairs(dist, sampled, weights)
    assert twice.joint.shape == (2, B, B)
    second = distribution_pairs(dist, sampled[1], weights)
    torch.testing.assert_close(twice.joint[1], second.joint)
    torch.testing.assert_close(twice.marginals[1], second.marginals)


@pytest.mark.parametrize(
    "dist",
    [
        Normal(random(3, B, 2), positive(3, B, 2)),
        Gamma(positive(3, B, 2), positive(3, B, 2)),
        Categorical(logits=random(3, B, 4)),
        OneHotCategorical(logits=random(3, B, 4)),
    ],
    ids=lambda dist: type(dist).__name__,
)
def test_any_distribution_under_a_discrete_parent(dist: Distribution, weights: Mixture) -> None:
    torch.manual_seed(0)
    value = dist.sample()[0]
    logs = pair_loop(B, B, lambda b, c: leaf_logs(dist, value[b], (int(PARENT[b]), c)))
    assert_same(distribution_pairs(dist, value, weights, PARENT), logs)


def vectors(*lead: int) -> dict[str, tuple[Distribution, Distribution, int]]:
    """Vectors, the distribution of their single dimensions, and how many of these are leaves."""
    spread = random(*lead, 3, 3).tril(-1) + torch.diag_embed(positive(*lead, 3))
    covariance = spread @ spread.mT
    loc, shares = random(*lead, 3), positive(*lead, 4)
    factor, diagonal = random(*lead, 3, 2), positive(*lead, 3)
    deviation = covariance.diagonal(dim1=-2, dim2=-1).sqrt()
    low_rank = (factor.square().sum(-1) + diagonal).sqrt()
    return {
        "multivariate normal": (MultivariateNormal(loc, covariance), Normal(loc, deviation), 3),
        "low rank": (LowRankMultivariateNormal(loc, factor, diagonal), Normal(loc, low_rank), 3),
        "dirichlet": (Dirichlet(shares), Beta(shares, shares.sum(-1, keepdim=True) - shares), 3),
    }


@pytest.mark.parametrize("family", vectors(B))
@pytest.mark.parametrize("tables", [0, 3], ids=["", "under a discrete parent"])
def test_a_vector_has_its_joint_density_and_those_of_its_dimensions(
    family: str, tables: int, weights: Mixture
) -> None:
    dist, single, leaves = vectors(*(tables, B) if tables else (B,))[family]
    torch.manual_seed(0)
    value = dist.sample()[0] if tables else dist.sample()

    def at(b: int, c: int) -> tuple[int, ...]:
        return (int(PARENT[b]), c) if tables else (c,)

    logs = pair_loop(B, B, lambda b, c: single.log_prob(value[b])[at(b, c)][:leaves])
    joint = pair_loop(B, B, lambda b, c: dist.log_prob(value[b])[at(b, c)][None]).squeeze(-1)
    parent = PARENT if tables else None
    assert_same(distribution_pairs(dist, value, weights, parent), logs, joint)
    torch.testing.assert_close(distribution_joint(dist, value, weights, parent), joint)
    twice = distribution_pairs(dist, torch.stack([value, value]), weights, parent)
    assert twice.marginals is not None
    assert_same(Pairs(twice.joint[1], twice.marginals[1]), logs, joint)


def test_a_vector_without_closed_form_has_no_leaves(weights: Mixture) -> None:
    dist = Multinomial(3, logits=random(B, 4), validate_args=False)
    pairs = distribution_pairs(dist, dist.sample(), weights)
    assert pairs.marginals is None
    assert pairs.joint.shape == (B, B)


def test_a_score_of_ones_own(weights: Mixture) -> None:
    dist, value = Normal(random(B, 2), positive(B, 2)), random(B, 2, seed=1)
    ours = distribution_pairs(dist, value, weights, score=lambda d, v: 2 * d.log_prob(v))
    torch.testing.assert_close(ours.joint, 2 * distribution_pairs(dist, value, weights).joint)


def test_densities_evaluated_pair_by_pair(weights: Mixture) -> None:
    logs = random(B, B, 3)
    assert_same(evaluated(logs, weights), logs)
    assert_same(evaluated(logs[..., :1], weights), logs[..., :1])


def test_the_objective_compiles_without_graph_breaks(weights: Mixture) -> None:
    def loss(z: Tensor, loc: Tensor, scale: Tensor, u: Tensor, logits: Tensor) -> Tensor:
        style, content = normal(z, loc, scale, weights), concrete(u, logits, TAU, weights)
        return style.marginals.sum() + (style.joint + content.joint).logsumexp(-1).sum()

    arguments = [
        random(B, 3),
        random(B, 3, seed=1),
        positive(B, 3),
        random(B, K).log_softmax(-1),
        random(B, K),
    ]
    leaves = [tensor.requires_grad_() for tensor in arguments]
    eager = torch.autograd.grad(loss(*leaves), leaves)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for ours, theirs in zip(torch.autograd.grad(compiled(*leaves), leaves), eager, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_mixed_precision_does_not_reach_the_densities(weights: Mixture) -> None:
    logits, u = random(B, K).float(), random(B, K, seed=1).log_softmax(-1).float()
    full = mass(u.exp(), logits, weights).joint, concrete(u, logits, TAU, weights).joint
    with torch.autocast("cpu", torch.bfloat16):
        mixed = mass(u.exp(), logits, weights).joint, concrete(u, logits, TAU, weights).joint
    torch.testing.assert_close(mixed, full)
    assert concrete(u.bfloat16(), logits.bfloat16(), TAU, weights).joint.dtype == torch.float32


def test_parameters_of_the_wrong_number_of_items_are_refused(weights: Mixture) -> None:
    with pytest.raises(SpecError, match="5 reference items"):
        normal(random(B, 2), random(B + 1, 2), positive(B + 1, 2), weights)
    with pytest.raises(SpecError, match="Gamma"):
        distribution_pairs(Gamma(positive(4, 2), positive(4, 2)), positive(B, 2), weights)
    with pytest.raises(SpecError, match="parent values"):
        concrete(random(B, K), random(B, K), TAU, weights, PARENT)
    with pytest.raises(SpecError, match="same size"):
        mass(random(B, K + 1), random(B, K), weights)
