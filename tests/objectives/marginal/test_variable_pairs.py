"""From traces to pairwise densities: every family of site, labels by mass, draws by density."""

import pytest
import torch
from torch import Tensor
from torch.distributions import Distribution

import unknot
from unknot.errors import SpecError
from unknot.objectives.marginal.variable_pairs import item_distribution, variable_pairs
from unknot.objectives.marginal.weights import stratified

B, N, double = 5, 30, torch.float64


def randn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=double)


def write(site: str, q: unknot.Trace, value=None) -> None:
    """One site ``v`` of a family, with parameters of its own for each item."""
    positive = randn(B, 3).exp()
    families = {
        "normal": lambda: q.normal(randn(B, 3), positive, value=value, name="v"),
        "matrix of normals": lambda: q.normal(randn(B, 2, 3), 1.0, value=value, name="v"),
        "scalar normal": lambda: q.normal(randn(B), 1.0, value=value, name="v"),
        "shared scale": lambda: q.normal(randn(B, 3), torch.ones(3, dtype=double), value=value, name="v"),
        "laplace": lambda: q.laplace(randn(B, 3), positive, value=value, name="v"),
        "gamma": lambda: q.gamma(positive, positive, value=value, name="v"),
        "dirichlet": lambda: q.dirichlet(positive[:, :2], value=value, name="v"),
        "categorical": lambda: q.categorical(logits=randn(B, 4), value=value, name="v"),
        "one hot": lambda: q.one_hot_categorical(logits=randn(B, 4), value=value, name="v"),
        "bernoulli": lambda: q.bernoulli(logits=randn(B, 3), value=value, name="v"),
        "poisson": lambda: q.poisson(positive, value=value, name="v"),
        "concrete": lambda: q.concrete(randn(B, 4), 0.66, value=value, name="v"),
        "hard concrete": lambda: q.concrete(
            randn(B, 4), 0.66, value=value, name="v", gradient="straight_through"
        ),
        "relaxed bernoulli": lambda: q.relaxed_bernoulli(0.5, logits=randn(B, 3), value=value, name="v"),
    }
    families[site]()


SITES = [
    "normal",
    "matrix of normals",
    "scalar normal",
    "shared scale",
    "laplace",
    "gamma",
    "dirichlet",
    "categorical",
    "one hot",
    "bernoulli",
    "poisson",
    "concrete",
    "hard concrete",
    "relaxed bernoulli",
]


def one_item(dist: Distribution, c: int, lead: int) -> Distribution:
    """The distribution of item c, by rebuilding it from that item's parameters."""
    from unknot.core.distributions import map_parameters

    return map_parameters(dist, lambda tensor: tensor[c])


def log_prob(node, b: int | tuple[int, int], c: int) -> Tensor:
    """log q(v_b | x_c) for each leaf, density for draws and mass for labels."""
    dist = one_item(node.dist, c, 1)
    item = b if isinstance(b, int) else b[1]
    label = node.known is True or (node.known is not False and bool(node.known[item]))
    if node.scored_by == "density" and not label:
        return dist.log_density(node.unbounded[b]).reshape(-1)
    return dist.log_prob(node.value[b]).reshape(-1)


def mixture(logs: Tensor, own: int) -> Tensor:
    """Stratified mixture over columns (C, D), one column at a time."""
    total = torch.zeros(logs.shape[-1], dtype=double)
    for c in range(B):
        total += (1 / N if c == own else (N - 1) / (N * (B - 1))) * logs[c].exp()
    return total.log()


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("samples", [None, 2])
def test_every_family_is_scored_as_its_own_log_prob(site, samples):
    q = unknot.Trace(samples=samples)
    write(site, q)
    check(q["v"], samples)


@pytest.mark.parametrize("site", ["normal", "concrete", "relaxed bernoulli", "categorical", "one hot"])
@pytest.mark.parametrize("known", [[True] * B, [True, False, True, False, False]], ids=["all", "some"])
def test_labels_are_scored_as_the_site_scores_them(site, known):
    values = {
        "normal": randn(B, 3),
        "relaxed bernoulli": torch.randint(0, 2, (B, 3)).double(),
    }.get(site, torch.randint(0, 4, (B,)))
    q = unknot.Trace()
    write(site, q, values if all(known) else unknot.partial(values, known))
    check(q["v"], None)


def check(node, samples: int | None) -> None:
    pairs = variable_pairs(node, item_distribution(node, B), stratified(N, B, torch.arange(B)))
    rows = range(B) if samples is None else [(s, b) for s in range(samples) for b in range(B)]
    for row in rows:
        item = row if isinstance(row, int) else row[1]
        logs = torch.stack([log_prob(node, row, c) for c in range(B)]).detach()
        torch.testing.assert_close(pairs.joint[row], logs.sum(-1), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(pairs.marginals[row], mixture(logs, item), rtol=1e-9, atol=1e-9)
    own = torch.stack([pairs.joint[row][row if isinstance(row, int) else row[1]] for row in rows])
    torch.testing.assert_close(own, node.log_prob.reshape(-1), rtol=1e-9, atol=1e-9)


def test_parameters_shared_by_all_items_are_repeated():
    q = unknot.Trace(samples=2)
    q.normal(randn(B, 3), 1.0, name="u")
    q.normal(torch.zeros(3, dtype=double), 1.0, name="v", event_dims=1)
    assert item_distribution(q["v"], B).batch_shape == (B, 3)


def test_parameters_that_vary_over_samples_are_refused():
    q = unknot.Trace(samples=2)
    u = q.normal(randn(B, 3), 1.0, name="u")
    q.normal(2 * u, 1.0, name="v")
    with pytest.raises(SpecError, match="axis of samples"):
        item_distribution(q["v"], B)
