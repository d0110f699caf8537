"""Concrete variables: densities, masses, draws, and finite numbers everywhere."""

import math

import pytest
import torch
from torch.distributions import RelaxedBernoulli, RelaxedOneHotCategorical
from torch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli

import unknot
from tests.statistics import assert_distribution, assert_frequencies
from unknot.core.relaxed import ArgmaxConcrete, BinaryConcrete, Concrete
from unknot.errors import TraceError

TEMPERATURES = [0.05, 0.3, 1.0, 3.0, 10.0]
EXTREME = [
    [0.0, 0.0, 0.0, 0.0],
    [1e4, -1e4, 0.0, 1.0],
    [1e4, 1e4, 1e4, 1e4],
    [-1e4, -1e4, -1e4, -1e4],
    [-1e4, 1e4, 1e4, -1e4],
    [3.0, -80.0, 100.0, 0.5],
]


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize(
    "gradient", ["concrete", "straight_through", "plug_in", "score_function", "enumerate", "detached"]
)
def test_values_and_gradients_are_finite(temperature: float, gradient: str) -> None:
    """Known and unknown items alike, for q and for p, at extreme logits."""
    logits = torch.tensor(EXTREME, requires_grad=True)
    prior = torch.tensor([1e4, -1e4, 0.0, 5.0], requires_grad=True)
    labels = torch.tensor([1, 1, -1, -1, 0, -1])
    for _ in range(20):
        q, p = unknot.Trace(samples=3), unknot.Trace()
        y = q.concrete(logits, temperature, value=unknot.partial(labels), name="y", gradient=gradient)
        p.concrete(prior, temperature, value=q["y"], name="y")
        total = (p.log_prob() - q.log_prob()).sum() + (y * torch.arange(4.0)).sum()
        gradients = torch.autograd.grad(total, (logits, prior))
        for tensor in (y, p.log_prob(), q.log_prob(), *gradients):
            assert bool(torch.isfinite(tensor).all())


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("gradient", ["concrete", "straight_through", "plug_in", "score_function"])
def test_binary_values_and_gradients_are_finite(temperature: float, gradient: str) -> None:
    logits = torch.tensor([0.0, 1e4, -1e4, 50.0, -50.0, 1.0], requires_grad=True)
    labels = torch.tensor([1, 0, 1, -1, -1, -1])
    for _ in range(20):
        q, p = unknot.Trace(samples=3), unknot.Trace()
        y = q.relaxed_bernoulli(
            temperature, logits=logits, value=unknot.partial(labels), name="y", gradient=gradient
        )
        p.relaxed_bernoulli(temperature, logits=torch.tensor(-1e4), value=q["y"], name="y")
        total = (p.log_prob() - q.log_prob() + y).sum()
        (slope,) = torch.autograd.grad(total, logits)
        for tensor in (y, p.log_prob(), q.log_prob(), slope):
            assert bool(torch.isfinite(tensor).all())


@pytest.mark.parametrize("temperature", [0.3, 0.66, 1.0, 3.0])
def test_density_is_torchs_up_to_the_jacobian(temperature: float) -> None:
    """p(u) = p(y) · Π_k y_k: torch's density lives on the simplex, ours on its logarithm."""
    logits = torch.randn(6, 5, dtype=torch.float64)
    dist = Concrete(logits, temperature)
    u = dist.sample_unbounded(torch.Size((50,)), 1)
    theirs = RelaxedOneHotCategorical(torch.tensor(temperature, dtype=torch.float64), logits=logits)
    # renormalize: torch checks that y sums to one
    y = u.exp() / u.exp().sum(-1, keepdim=True)
    torch.testing.assert_close(dist.log_density(u), theirs.log_prob(y) + u.sum(-1), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_density_of_two_classes_integrates_to_one(temperature: float) -> None:
    """On the 1-simplex y = (s, 1 - s), dy = ds and p(u) = p(y) y_1 y_2, so ∫ p(u) / (y_1 y_2) ds = 1."""
    logit = torch.linspace(
        -60, 60, 400_001, dtype=torch.float64
    )  # s = sigmoid(logit), ds = s (1 - s) d logit
    u = torch.stack([torch.nn.functional.logsigmoid(logit), torch.nn.functional.logsigmoid(-logit)], -1)
    density = Concrete(torch.tensor([0.7, -0.4], dtype=torch.float64), temperature).log_density(u).exp()
    assert torch.trapezoid(density, logit).item() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_binary_density_integrates_to_one_and_is_torchs(temperature: float) -> None:
    u = torch.linspace(-200, 200, 400_001, dtype=torch.float64)
    dist = BinaryConcrete(torch.tensor(0.8, dtype=torch.float64), temperature)
    assert torch.trapezoid(dist.log_density(u).exp(), u).item() == pytest.approx(1.0, abs=1e-6)
    theirs = LogitRelaxedBernoulli(torch.tensor(temperature), logits=torch.tensor(0.8, dtype=torch.float64))
    near = torch.linspace(-5, 5, 11, dtype=torch.float64)
    torch.testing.assert_close(dist.log_density(near), theirs.log_prob(near))


@pytest.mark.parametrize("temperature", [0.05, 0.66, 10.0])
def test_hard_draws_have_the_categorical_frequencies(temperature: float) -> None:
    """argmax of logits plus Gumbel noise is an exact draw, whatever the temperature."""
    dist = Concrete(torch.tensor([1.0, 0.0, -1.0, 0.5, 0.0]), temperature)
    draws = dist.rsample((100_000,)).argmax(-1)
    assert_frequencies(torch.bincount(draws, minlength=5), dist.probs)


@pytest.mark.parametrize("temperature", [0.05, 0.66, 10.0])
def test_hard_binary_draws_have_the_bernoulli_frequencies(temperature: float) -> None:
    dist = BinaryConcrete(torch.tensor(0.7), temperature)
    ones = int(dist.harden(dist.rsample((100_000,))).sum())
    assert_frequencies([100_000 - ones, ones], torch.stack([1 - dist.probs, dist.probs]))


@pytest.mark.parametrize("temperature", [0.3, 0.66, 3.0])
def test_draws_follow_their_density(temperature: float) -> None:
    """For two classes logit(y) is logistic around (l1 - l2)/τ with scale 1/τ."""
    dist = Concrete(torch.tensor([0.7, -0.4], dtype=torch.float64), temperature)
    u = dist.sample_unbounded(torch.Size((20_000,)), 1)
    assert_distribution(u[:, 0] - u[:, 1], lambda x: 1 / (1 + math.e ** -(temperature * x - 1.1)))
    binary = BinaryConcrete(torch.tensor(1.1, dtype=torch.float64), temperature)
    u = binary.sample_unbounded(torch.Size((20_000,)), 0)
    assert_distribution(u, lambda x: 1 / (1 + math.e ** -(temperature * x - 1.1)))
    assert torch.equal(binary.squash(u), u.sigmoid())


def test_labels_are_scored_by_their_mass() -> None:
    logits = torch.tensor([[2.0, 0.0, -1.0]])
    q = unknot.Trace()
    y = q.concrete(logits, 0.05, value=torch.tensor([2]), name="y")
    assert y.tolist() == [[0.0, 0.0, 1.0]]
    torch.testing.assert_close(q["y"].log_prob, logits.log_softmax(-1)[:, 2])
    b = q.relaxed_bernoulli(0.05, logits=torch.tensor([1.5]), value=torch.tensor([0.0]), name="b")
    assert b.item() == 0.0
    torch.testing.assert_close(q["b"].log_prob.exp(), 1 - torch.tensor([1.5]).sigmoid())


def test_ratio_of_densities_does_not_depend_on_where_they_live() -> None:
    """The Jacobian cancels: log q - log p is the same on the simplex and on its logarithm."""
    ours, prior = torch.randn(7, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    q, p = unknot.Trace(), unknot.Trace()
    y = q.concrete(ours, 0.8, name="y")
    p.concrete(prior, 0.8, value=q["y"], name="y")
    tau = torch.tensor(0.8, dtype=torch.float64)
    on_simplex = [RelaxedOneHotCategorical(tau, logits=logits).log_prob(y) for logits in (ours, prior)]
    torch.testing.assert_close(q.log_prob() - p.log_prob(), on_simplex[0] - on_simplex[1])

    b = q.relaxed_bernoulli(0.8, logits=ours, name="b")
    p.relaxed_bernoulli(0.8, logits=prior, value=q["b"], name="b")
    both = [RelaxedBernoulli(tau, logits=logits).log_prob(b).sum(-1) for logits in (ours, prior)]
    torch.testing.assert_close(q.log_prob("b") - p.log_prob("b"), both[0] - both[1])


def test_density_ignores_a_shift_of_the_logits() -> None:
    logits = torch.randn(3, 4, dtype=torch.float64)
    u = Concrete(logits, 0.5).sample_unbounded(torch.Size(), 1)
    torch.testing.assert_close(Concrete(logits, 0.5).log_density(u), Concrete(logits + 7, 0.5).log_density(u))


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_temperature_must_be_positive(temperature: float) -> None:
    with pytest.raises(TraceError, match="temperature of a relaxed site must be positive"):
        unknot.Trace().concrete(torch.zeros(2, 3), temperature, name="y")
    with pytest.raises(TraceError, match="temperature"):
        unknot.Trace().concrete(torch.zeros(2, 3), torch.tensor(temperature), name="y")


def test_temperature_is_one_number() -> None:
    with pytest.raises(TraceError, match=r"one temperature, but it was given a tensor of shape \(2, 1\)"):
        unknot.Trace().concrete(torch.zeros(2, 3), torch.ones(2, 1), name="y")


def test_a_learned_temperature_has_a_gradient() -> None:
    temperature = torch.tensor(0.7, requires_grad=True)
    q = unknot.Trace()
    y = q.concrete(torch.randn(5, 3), temperature, name="y")
    (slope,) = torch.autograd.grad((q.log_prob() + y[:, 0]).sum(), temperature)
    assert slope != 0


@pytest.mark.parametrize("gradient", ["concrete", "straight_through", "plug_in", "score_function"])
def test_a_masked_class_is_no_class(gradient: str) -> None:
    """Logits of -inf: the bound of the model with that class left out, at the same draws, and no NaN in gradients."""
    logits = torch.randn(5, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    labels = torch.tensor([1, -1, 0, -1, -1])
    prior = torch.tensor([0.1, 0.4, -0.3])
    out = torch.full((5, 1), -math.inf)

    def bound(last: bool) -> torch.Tensor:
        q, p = unknot.Trace(), unknot.Trace()
        torch.manual_seed(0)
        given = torch.cat([logits[:, :3], out], -1) if last else logits[:, :3]
        noise = torch.empty(5, 4).exponential_()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "unknot.core.relaxed.fill_noise", lambda shape, *_: noise[:, : shape[-1]].expand(shape)
            )
            y = q.concrete(given, 0.66, value=unknot.partial(labels), gradient=gradient, name="y")
        own = torch.cat([prior, torch.tensor([-math.inf])]) if last else prior
        p.concrete(own, 0.66, value=q["y"], name="y")
        p.normal((y[:, :3] * torch.arange(3.0)).sum(-1), 1.0, value=torch.zeros(5), name="x")
        return unknot.objectives.semi_supervised(q, p).loss

    masked, fewer = bound(True), bound(False)
    torch.testing.assert_close(masked, fewer)
    torch.testing.assert_close(torch.autograd.grad(masked, logits), torch.autograd.grad(fewer, logits))


def test_what_only_one_side_masks_is_impossible() -> None:
    u = torch.tensor([[0.5, 0.5, 0.0]]).log()
    assert Concrete(torch.zeros(1, 3), 0.66).log_density(u).tolist() == [-math.inf]
    assert Concrete(torch.tensor([[0.0, 0.0, -math.inf]]), 0.66).log_density(
        u.exp().add(1).log()
    ).tolist() == [-math.inf]


def test_swapped_arguments_are_told_so() -> None:
    """The two relaxed sites take their temperature in different places."""
    logits = torch.zeros(4, 3)
    with pytest.raises(TraceError, match=r"mind the order: concrete\(logits, temperature\)"):
        unknot.Trace().concrete(0.66, logits, name="y")  # type: ignore[arg-type]
    with pytest.raises(TraceError, match=r"relaxed_bernoulli\(temperature, logits=...\)"):
        unknot.Trace().relaxed_bernoulli(logits, 0.66, name="y")
    with pytest.raises(TraceError, match="takes logits of shape"):
        unknot.Trace().concrete(0.66, 0.66, name="y")  # type: ignore[arg-type]


# ---- scored at the largest entry -------------------------------------------------------------------------


def test_an_argmax_draw_is_scored_by_the_mass_of_its_largest_entry_in_both_traces() -> None:
    torch.manual_seed(0)
    logits = torch.randn(6, 3, requires_grad=True)
    q, p = unknot.Trace(), unknot.Trace()
    known = unknot.partial(torch.tensor([1, -1, -1, 0, -1, -1]))
    y = q.variable(ArgmaxConcrete(logits, 0.5), known, name="y", event_dims=1)
    p.variable(ArgmaxConcrete(torch.zeros(3), 0.5), q["y"], name="y", event_dims=1)
    best = y.argmax(-1)
    expected = logits.log_softmax(-1).gather(-1, best[:, None])[:, 0]
    torch.testing.assert_close(q["y"].log_prob, expected)
    torch.testing.assert_close(p["y"].log_prob, torch.full((6,), -math.log(3)))
    assert ((y > 0) & (y < 1)).all(-1)[[1, 2, 4, 5]].all()  # what the decoder sees is soft
    scored, _ = torch.autograd.grad(q["y"].log_prob.sum(), (logits, y), allow_unused=True)
    mine, _ = torch.autograd.grad(expected.sum(), (logits, y), allow_unused=True)
    torch.testing.assert_close(scored, mine)  # and nothing through the draw


def test_the_bound_of_an_argmax_draw_has_no_gradient_on_average_and_is_not_replaced_by_its_divergence() -> (
    None
):
    torch.manual_seed(1)
    logits = torch.randn(3, requires_grad=True)
    draws = 40_000
    q, p = unknot.Trace(), unknot.Trace()
    q.variable(ArgmaxConcrete(logits.expand(draws, 3), 0.66), name="y", event_dims=1)
    p.variable(ArgmaxConcrete(torch.zeros(3), 0.66), q["y"], name="y", event_dims=1)
    bound = unknot.objectives.elbo(q, p).loss
    (gradient,) = torch.autograd.grad(bound, logits)
    exact = torch.distributions.kl_divergence(
        torch.distributions.Categorical(logits=logits), torch.distributions.Categorical(logits=torch.zeros(3))
    )
    assert bound.item() == pytest.approx(exact.item(), abs=0.03)
    assert float(gradient.norm()) < 0.03  # seven standard errors; the exact gradient is larger
    assert float(torch.autograd.grad(exact, logits)[0].norm()) > 0.1


def test_pairs_of_argmax_draws_are_the_masses_at_their_largest_entries() -> None:
    from unknot.objectives import hfvae

    torch.manual_seed(2)
    logits = torch.randn(4, 3)
    q, p = unknot.Trace(), unknot.Trace()
    y = q.variable(ArgmaxConcrete(logits, 0.66), name="y", event_dims=1)
    p.variable(ArgmaxConcrete(torch.zeros(3), 0.66), q["y"], name="y", event_dims=1)
    p.normal(y.sum(-1, keepdim=True), 1.0, value=torch.zeros(4, 1), name="x")
    terms = hfvae(q, p, dataset_size=4, estimator="exact", reference=q)
    masses = logits.log_softmax(-1)
    mixture = torch.stack([masses[:, k].logsumexp(0) - math.log(4) for k in y.argmax(-1)])
    own = masses.gather(-1, y.argmax(-1, keepdim=True))[:, 0]
    torch.testing.assert_close(terms["mutual_information"], mixture - own)
