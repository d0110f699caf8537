"""A loop that says before each turn whether there is another, written in three ways: the same numbers in all.

1. ``turns``: the turns first, their number at the end, K + 1 states on one axis;
2. ``categorical``: the same with the product probabilities worked out by hand;
3. ``stops``: a Bernoulli site before each turn, enumerated one by one, 2^K states.

And against a loop over the number of turns in plain PyTorch, which knows nothing of traces.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor
from torch.distributions import Bernoulli, Normal

import unknot
from tests.statistics import assert_mean
from unknot import objectives
from unknot.core.expectation import expect

TURNS, BATCH = 3, 5
PRIOR = torch.tensor([-0.4, 0.1, 0.6], dtype=torch.float64)
WAYS = ["turns", "categorical", "stops"]


class Loop:
    """Each turn draws a place, which moves a state; the state says whether there is another turn."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        self.weights = torch.randn(4, dtype=torch.float64, requires_grad=True)
        self.x = torch.randn(BATCH, dtype=torch.float64)

    def stop(self, state: Tensor) -> Tensor:
        return self.weights[0] + self.weights[1] * state

    def place(self, state: Tensor) -> tuple[Tensor, Tensor]:
        return self.weights[2] * state, self.weights[3].exp() + 0 * state

    def encode(self, way: str, labels: Tensor | None = None, samples: int | None = None) -> unknot.Trace:
        torch.manual_seed(7)
        q = unknot.Trace(samples)
        return self._stops(q, labels) if way == "stops" else self._turns(q, way, labels)

    def _turns(self, q: unknot.Trace, way: str, labels: Tensor | None) -> unknot.Trace:
        state, stops = self.x, []
        for k in range(TURNS):
            stops.append(self.stop(state))
            with q.scope("turn", k):
                state = state + q.normal(*self.place(state), name="place", event_dims=0)
        logits = torch.stack(torch.broadcast_tensors(*stops), -1)
        known = None if labels is None else unknot.partial(labels)
        if way == "turns":
            count = q.stick_breaking_count(logits=logits, value=known, name="count", gradient="enumerate")
        else:
            count = q.categorical(product(logits.sigmoid()), value=known, name="count", gradient="enumerate")
        for k in range(TURNS):
            q.keep_where(count > k, "turn", k)
        return q

    def _stops(self, q: unknot.Trace, labels: Tensor | None) -> unknot.Trace:
        state, going = self.x, torch.ones(BATCH, dtype=torch.bool)
        for k in range(TURNS):
            with q.where(going):
                known = None if labels is None else unknot.partial((labels == k).double(), labels >= k)
                stop = q.bernoulli(
                    logits=self.stop(state), value=known, name=f"stop{k}", gradient="enumerate", event_dims=0
                )
                going = going & (stop == 0)
            with q.scope("turn", k), q.where(going):
                state = state + q.normal(*self.place(state), name="place", event_dims=0)
        return q

    def decode(self, way: str, q: unknot.Trace) -> unknot.Trace:
        p, mean = unknot.Trace(), torch.zeros(())
        going: list[Tensor] = []
        if way == "stops":
            now = torch.ones(BATCH, dtype=torch.bool)
            for k in range(TURNS):
                with p.where(now):
                    stop = p.bernoulli(logits=PRIOR[k], value=q[f"stop{k}"], name=f"stop{k}")
                now = now & (stop == 0)
                going.append(now)
        elif way == "turns":
            count = p.stick_breaking_count(logits=PRIOR, value=q["count"], name="count")
            going = [count > k for k in range(TURNS)]
        else:
            count = p.categorical(product(PRIOR.sigmoid()), value=q["count"], name="count")
            going = [count > k for k in range(TURNS)]
        for k in range(TURNS):
            with p.scope("turn", k), p.where(going[k]):
                place = p.normal(0.0, 1.0, value=q[f"turn[{k}].place"], name="place", event_dims=0)
            mean = mean + going[k] * place
        p.normal(mean, 1.0, value=self.x, name="x", event_dims=0)
        return p


def product(stop: Tensor) -> Tensor:
    """The masses of n by multiplication."""
    masses, left = [], torch.ones_like(stop[..., 0])
    for k in range(TURNS):
        masses.append(left * stop[..., k])
        left = left * (1 - stop[..., k])
    return torch.stack([*masses, left], -1)


def both(loop: Loop, way: str, **given: object) -> tuple[unknot.Trace, unknot.Trace]:
    q = loop.encode(way, **given)  # type: ignore[arg-type]
    p = loop.decode(way, q)
    unknot.check(q, p)
    return q, p


OBJECTIVES = {
    "elbo": objectives.elbo,
    "semi_supervised": lambda q, p: objectives.semi_supervised(q, p, alpha=3.0, gamma=2.0),
    "importance_weighted": objectives.importance_weighted,
}


@pytest.mark.parametrize("samples", [None, 1, 3])
@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("labels", [None, [2, -1, 0, 3, -1]], ids=["no labels", "some labels"])
def test_three_ways_have_one_value_and_one_gradient(
    name: str, labels: list[int] | None, samples: int | None
) -> None:
    loop = Loop()
    known = None if labels is None else torch.tensor(labels)
    values, gradients = [], []
    for way in WAYS:
        terms = OBJECTIVES[name](*both(loop, way, labels=known, samples=samples))
        values.append(terms.per_item)
        gradients.append(torch.autograd.grad(terms.total, loop.weights)[0])
    for other in (1, 2):
        torch.testing.assert_close(values[other], values[0])
        torch.testing.assert_close(gradients[other], gradients[0])


def test_the_bound_is_that_of_a_loop_over_the_number_of_turns() -> None:
    loop = Loop()
    q, p = both(loop, "turns")
    places = [q[f"turn[{k}].place"].value for k in range(TURNS)]
    state, log_q, stops = loop.x, [], []
    for place in places:
        stops.append(Bernoulli(logits=loop.stop(state)))
        log_q.append(Normal(*loop.place(state)).log_prob(place))
        state = state + place
    total = torch.zeros(BATCH, dtype=torch.float64)
    prior = product(PRIOR.sigmoid())
    for n in range(TURNS + 1):
        chance = _chance(stops, n)
        mean = sum(places[:n], start=torch.zeros(BATCH, dtype=torch.float64))
        inside = Normal(mean, 1.0).log_prob(loop.x) + prior[n].log() - chance.log()
        for place, log in zip(places[:n], log_q, strict=False):
            inside = inside + Normal(0.0, 1.0).log_prob(place) - log
        total = total + chance * inside
    torch.testing.assert_close(objectives.elbo(q, p).per_item, total)


def _chance(stops: Sequence[Bernoulli], n: int) -> Tensor:
    chance = torch.ones(BATCH, dtype=torch.float64)
    for stop in stops[:n]:
        chance = chance * (1 - stop.probs)
    return chance * stops[n].probs if n < TURNS else chance


def test_states_are_as_many_as_turns_and_one_more() -> None:
    loop = Loop()
    assert loop.encode("turns").leading_shape == (TURNS + 1, 1, BATCH)
    assert loop.encode("stops").leading_shape == (2, 2, 2, 1, BATCH)


@pytest.mark.parametrize("gradient", ["score_function", "enumerate"])
@pytest.mark.parametrize("samples", [None, 3])
def test_choices_before_the_count_have_the_exact_gradient_on_average(
    gradient: str, samples: int | None
) -> None:
    """Yes-or-no choices by score function: the one that is masked away has still decided on the stops after it."""
    theta = torch.tensor([0.4, -0.7, 0.3])

    def exact() -> Tensor:
        t = theta.double().requires_grad_()
        total = torch.zeros((), dtype=torch.float64)
        for one in (0.0, 1.0):
            for two in (0.0, 1.0):
                first, second = Bernoulli(logits=t[0]), Bernoulli(logits=t[1] + one)
                logs = [first.log_prob(torch.tensor(one)), second.log_prob(torch.tensor(two))]
                stops = [(t[2] + 0.1).sigmoid(), (t[2] - one).sigmoid()]
                masses = [stops[0], (1 - stops[0]) * stops[1], (1 - stops[0]) * (1 - stops[1])]
                for n, mass in enumerate(masses):
                    f = n + 2.0 * sum([one, two][:n]) - 0.3 * (sum(logs[:n]) + mass.log())
                    total = total + (logs[0] + logs[1]).exp() * mass * f
        return torch.autograd.grad(total, t)[0]

    replicates = 20_000
    t = theta.expand(replicates, 3).clone().requires_grad_()
    torch.manual_seed(0)
    q = unknot.Trace(samples)
    with q.scope("turn", 0):
        one = q.bernoulli(logits=t[:, 0], name="choice")
    with q.scope("turn", 1):
        two = q.bernoulli(logits=t[:, 1] + one, name="choice", event_dims=0)
    stops = torch.stack(torch.broadcast_tensors(t[:, 2] + 0.1, t[:, 2] - one), -1)
    count = q.stick_breaking_count(logits=stops, name="count", gradient=gradient)
    for k in range(2):
        q.keep_where(count > k, "turn", k)
    f = count + 2.0 * ((count > 0) * one + (count > 1) * two) - 0.3 * q.log_prob()
    assert_mean(torch.autograd.grad(expect(q, f).sum(), t)[0], exact(), rounding=2e-4)


def test_the_loop_compiles_without_a_graph_break() -> None:
    loop = Loop()
    labels = torch.tensor([2, -1, 0, 3, -1])

    def step(weights: Tensor) -> Tensor:
        loop.weights = weights
        q = loop._turns(unknot.Trace(), "turns", labels)
        return objectives.semi_supervised(q, loop.decode("turns", q), alpha=3.0).loss

    weights = loop.weights
    values = []
    torch._dynamo.reset()
    with unknot.validation(False):
        for run in (step, torch.compile(step, fullgraph=True, backend="eager")):
            torch.manual_seed(0)
            values.append(run(weights))
    torch.testing.assert_close(values[0], values[1])


def test_the_graph_has_no_arrow_back_from_the_count() -> None:
    loop = Loop()

    def encode(x: Tensor) -> unknot.Trace:
        loop.x = x
        return loop._turns(unknot.Trace(), "turns", None)

    def decode(x: Tensor, q: unknot.Trace) -> unknot.Trace:
        loop.x = x
        return loop.decode("turns", q)

    found = unknot.graph(encode, decode, torch.randn(BATCH, dtype=torch.float64))
    read = {(e.source, e.target) for e in found.edges if e.model == "recognition"}
    assert ("turn[k].place", "count") in read
    assert ("count", "turn[k].place") not in read
    assert ("count", "turn[k].place") in {
        (e.source, e.target) for e in found.edges if e.model == "generative"
    }


def test_mistakes_are_refused() -> None:
    q = Loop().encode("turns")
    with pytest.raises(unknot.UnknotError, match=r"no site below 'turn\[7\]'"):
        q.keep_where(torch.ones(BATCH, dtype=torch.bool), "turn", 7)
    with pytest.raises(unknot.UnknotError, match=r"keep_where\(\) takes a mask of booleans"):
        q.keep_where(torch.ones(BATCH), "turn", 0)
