"""Helpers around torch distributions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import scipy.stats
import torch
import torch.distributions as td
from torch import Tensor
from torch.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Distribution,
    ExpTransform,
    Gamma,
    Independent,
    LogNormal,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
    RelaxedOneHotCategorical,
    TransformedDistribution,
)

import unknot
from tests.statistics import assert_frequencies
from unknot.core import distributions
from unknot.core.distributions import map_parameters, match_dtype, stick_breaking_count
from unknot.core.relaxed import Concrete
from unknot.errors import SpecError

# ---- distribution_parameters


B = 3
EYE = torch.eye(2).expand(B, 2, 2)


def ones(*shape: int) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, torch.Size(shape).numel()).reshape(shape)


@pytest.mark.parametrize(
    "dist",
    [
        Normal(ones(B, 2), 1.0),
        Independent(Normal(ones(B, 2), ones(B, 2)), 1),
        Gamma(ones(B, 2), ones(B, 2)),
        Beta(ones(B, 2), ones(B, 2)),
        LogNormal(ones(B, 2), ones(B, 2)),
        Categorical(logits=ones(B, 4)),
        Categorical(probs=ones(B, 4)),
        RelaxedOneHotCategorical(torch.tensor(0.66), logits=ones(B, 4)),
        Concrete(ones(B, 4), torch.tensor(0.66)),
        MultivariateNormal(ones(B, 2), scale_tril=EYE),
        MultivariateNormal(ones(B, 2), covariance_matrix=EYE),
        MixtureSameFamily(Categorical(logits=ones(B, 4)), Normal(ones(B, 4), ones(B, 4))),
    ],
    ids=lambda dist: type(dist).__name__,
)
def test_doubling_the_items_doubles_the_log_probabilities(dist: Distribution) -> None:
    torch.manual_seed(0)
    value = dist.sample()
    if isinstance(dist, Categorical | MultivariateNormal):  # fill the caches of the other parametrizations
        _ = (
            getattr(dist, "probs", None),
            getattr(dist, "logits", None),
            getattr(dist, "precision_matrix", None),
        )
    twice = map_parameters(dist, lambda parameter: torch.cat([parameter, parameter.flip(0)]))
    assert twice.batch_shape == (2 * B, *dist.batch_shape[1:])
    expected = torch.cat([dist.log_prob(value), dist.log_prob(value)])
    torch.testing.assert_close(
        twice.log_prob(torch.cat([value, value.flip(0)])), expected[[0, 1, 2, 5, 4, 3]]
    )


def test_a_distribution_that_forgets_its_arguments_is_refused() -> None:
    dist = TransformedDistribution(Normal(ones(B), ones(B)), [ExpTransform()])
    with pytest.raises(SpecError, match="base_distribution"):
        map_parameters(dist, lambda parameter: parameter)


# ---- Plain numbers as parameters keep the digits of what they score.


X = torch.tensor([0.2, 0.45, 0.7], dtype=torch.float64)
CASES: dict[str, tuple[tuple[float, ...], Callable[[Any], Any]]] = {
    "normal": ((0.1, 0.3), lambda x: scipy.stats.norm.logpdf(x, 0.1, 0.3)),
    "log_normal": ((0.1, 0.3), lambda x: scipy.stats.lognorm.logpdf(x, 0.3, scale=2.718281828459045**0.1)),
    "laplace": ((0.1, 0.3), lambda x: scipy.stats.laplace.logpdf(x, 0.1, 0.3)),
    "student_t": ((4.1, 0.1, 0.3), lambda x: scipy.stats.t.logpdf(x, 4.1, 0.1, 0.3)),
    "uniform": ((-0.1, 3.3), lambda x: scipy.stats.uniform.logpdf(x, -0.1, 3.4)),
    "beta": ((0.7, 0.3), lambda x: scipy.stats.beta.logpdf(x, 0.7, 0.3)),
    "gamma": ((2.1, 0.3), lambda x: scipy.stats.gamma.logpdf(x, 2.1, scale=1 / 0.3)),
}


@pytest.mark.parametrize("given", ["data", "node", "partial"])
@pytest.mark.parametrize("family", CASES)
def test_sixteen_digits_stay_sixteen(family: str, given: str) -> None:
    """Against scipy, for what is observed, reused and partly known."""
    numbers, truth = CASES[family]
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(X, 1.0, value=X, name="x")
    value = {"data": X, "node": q["x"], "partial": unknot.partial(X)}[given]
    getattr(p, family)(*numbers, value=value, name="x")
    torch.testing.assert_close(p["x"].log_prob, torch.as_tensor(truth(X.numpy())), rtol=1e-13, atol=1e-13)


def test_tensors_stay_as_they_are() -> None:
    loc = torch.zeros(3)
    assert match_dtype(X, loc, 1.0)[0] is loc
    assert match_dtype(torch.tensor([1, 2]), 1.0)[0].dtype == torch.get_default_dtype()  # type: ignore[union-attr]


# ---- Half-precision networks, full-precision densities.


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_every_kind_of_site_scores_half_precision_parameters_in_float32(dtype: torch.dtype) -> None:
    logits = torch.randn(4, 3).to(dtype)
    x = torch.rand(4, 3)
    p = unknot.Trace()
    p.normal(logits, torch.ones(4, 3, dtype=dtype), value=x, name="n")
    p.bernoulli(logits=logits, value=x.round(), name="b")
    p.concrete(logits, 0.66, value=torch.tensor([0, 1, 2, 0]), name="c")
    p.one_hot_categorical(logits=logits, value=torch.tensor([0, 1, 2, 0]), name="o")
    p.variable(td.Gumbel(logits, torch.ones(4, 3, dtype=dtype)), x, name="g")
    for node in p.nodes():
        assert node.log_prob.dtype == torch.float32, node.name
    expected = td.Normal(logits.float(), 1.0).log_prob(x).sum(-1)
    torch.testing.assert_close(p["n"].log_prob, expected)


def test_a_long_sum_keeps_its_digits() -> None:
    """784 pixels sum to about -540 nats; in bfloat16 neighboring numbers there are 2 to 4 apart."""
    torch.manual_seed(0)
    logits, x = torch.randn(8, 784).bfloat16(), torch.rand(8, 784)
    p = unknot.Trace()
    p.bernoulli(logits=logits, value=x, name="x")
    exact = td.Bernoulli(logits=logits.double(), validate_args=False).log_prob(x.double()).sum(-1)
    torch.testing.assert_close(p["x"].log_prob.double(), exact, rtol=1e-5, atol=0)


def test_draws_of_half_precision_parameters_carry_gradient_back_to_them() -> None:
    loc = torch.zeros(4, 2, dtype=torch.bfloat16, requires_grad=True)
    z = unknot.Trace().normal(loc, torch.ones(4, 2, dtype=torch.bfloat16), name="z")
    assert z.dtype == torch.float32
    z.sum().backward()
    assert loc.grad is not None
    assert (loc.grad == 1).all()


# ---- The two busiest distributions are torch's own, whatever their arguments.


TENSOR = torch.tensor([[0.5, -1.0], [2.0, 0.1]])


@pytest.mark.parametrize(
    ("loc", "scale"),
    [
        (TENSOR, TENSOR.exp()),
        (TENSOR, 2.0),
        (0.0, TENSOR.exp()),
        (0.0, 1.0),
        (TENSOR, torch.tensor([1.0, 2.0])),
    ],
    ids=["same shape", "number", "number first", "numbers", "broadcast"],
)
def test_normal(loc: Tensor | float, scale: Tensor | float) -> None:
    ours, torchs = distributions.normal(loc, scale), Normal(loc, scale)
    assert type(ours) is Normal
    assert ours.batch_shape == torchs.batch_shape
    torch.testing.assert_close(ours.log_prob(TENSOR), torchs.log_prob(TENSOR))
    torch.testing.assert_close(ours.expand((3, 2, 2)).mean, torchs.expand((3, 2, 2)).mean)


@pytest.mark.parametrize(
    "arguments",
    [{"logits": TENSOR}, {"probs": TENSOR.sigmoid()}, {"probs": 0.3}, {"logits": 0.3}],
    ids=["logits", "probs", "one probability", "one logit"],
)
def test_bernoulli(arguments: dict[str, Tensor | float]) -> None:
    given = {"probs": None, "logits": None, **arguments}
    ours, torchs = distributions.bernoulli(**given), Bernoulli(**arguments)
    assert type(ours) is Bernoulli
    assert ours.batch_shape == torchs.batch_shape
    value = torch.ones(2, 2)
    torch.testing.assert_close(ours.log_prob(value), torchs.log_prob(value))
    torch.testing.assert_close(ours.probs, torchs.probs)


# ---- The number of turns: probabilities by hand, labels, turns that cannot be missed, extreme log-odds.


STOPS = torch.tensor([[0.3, -1.2, 0.8], [2.0, 0.0, -0.5]], dtype=torch.float64)


def by_coins(stops: list[float]) -> list[float]:
    """P(n) by going through all 2^K ways in which K coins can fall: n is where the first of them says stop."""
    found = [0.0] * (len(stops) + 1)
    for coins in itertools.product([False, True], repeat=len(stops)):
        chance = 1.0
        for stopped, odds in zip(coins, stops, strict=True):
            chance *= 1 / (1 + math.exp(-odds)) if stopped else 1 / (1 + math.exp(odds))
        found[coins.index(True) if any(coins) else len(stops)] += chance
    return found


def test_probabilities_are_those_of_the_first_stop() -> None:
    expected = torch.tensor([by_coins(row) for row in STOPS.tolist()], dtype=torch.float64)
    torch.testing.assert_close(stick_breaking_count(STOPS).probs, expected)


def test_probs_say_the_same_as_logits() -> None:
    one, two = unknot.Trace(), unknot.Trace()
    label = torch.tensor([3, 0])
    one.stick_breaking_count(logits=STOPS, value=label, name="n")
    two.stick_breaking_count(STOPS.sigmoid(), value=label, name="n")
    torch.testing.assert_close(one.log_prob(), two.log_prob())


def test_draws_have_these_frequencies() -> None:
    torch.manual_seed(0)
    drawn = unknot.Trace().stick_breaking_count(logits=STOPS[:1].expand(4000, 3), name="n")
    assert_frequencies(torch.bincount(drawn, minlength=4), torch.tensor(by_coins(STOPS[0].tolist())))


def test_a_turn_that_cannot_be_missed() -> None:
    """-inf: at least one turn. That state counts nothing, and its gradient is no NaN."""
    free = torch.zeros(5, 2, requires_grad=True)
    q, p = unknot.Trace(), unknot.Trace()
    logits = torch.cat([torch.full((5, 1), -float("inf")), free], -1)
    count = q.stick_breaking_count(logits=logits, name="n", gradient="enumerate")
    assert count.shape == (4, 1, 1)
    assert q["n"].weight[:, 0, 0].tolist() == pytest.approx([0, 0.5, 0.25, 0.25])
    p.stick_breaking_count(logits=torch.zeros(3), value=q["n"], name="n")
    terms = unknot.objectives.elbo(q, p)
    terms.loss.backward()
    assert free.grad is not None
    assert bool(free.grad.isfinite().all())


@pytest.mark.parametrize("odds", [-200.0, 200.0])
def test_extreme_odds_stay_finite(odds: float) -> None:
    logits = torch.full((1, 3), odds, requires_grad=True)
    dist = stick_breaking_count(logits)
    dist.log_prob(torch.tensor([3 if odds < 0 else 0])).sum().backward()
    assert dist.probs[0, 3 if odds < 0 else 0] == 1
    assert logits.grad is not None
    assert bool(logits.grad.isfinite().all())


def test_labels_are_numbers_of_turns() -> None:
    known = unknot.partial(torch.tensor([2, -1]))
    q = unknot.Trace()
    q.stick_breaking_count(logits=STOPS, value=known, name="n", gradient="enumerate")
    assert q["n"].weight[:, 0, 0].tolist() == [0, 0, 1, 0]
    torch.testing.assert_close(q["n"].weight[:, 0, 1].sum(), torch.tensor(1.0, dtype=torch.float64))
    with pytest.raises(unknot.UnknotError, match=r"at item 0 is 4, but .* whole numbers from 0 to 3"):
        unknot.Trace().stick_breaking_count(logits=STOPS, value=torch.tensor([4, 0]), name="n")
