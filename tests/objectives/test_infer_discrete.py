"""The posterior of enumerated sites: against sums over all assignments, forward-backward and Viterbi by loops."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

import unknot
from unknot.errors import SpecError

double = torch.float64


class Chain:
    """A hidden Markov model with K states and Gaussian emissions, and an encoder that knows nothing."""

    def __init__(
        self, steps: int, states: int, items: int, labels: Tensor | None = None, seed: int = 0
    ) -> None:
        make = torch.Generator().manual_seed(seed)
        self.steps, self.states = steps, states
        self.start = torch.randn(states, dtype=double, generator=make)
        self.move = torch.randn(states, states, dtype=double, generator=make)
        self.mean = torch.randn(states, dtype=double, generator=make) * 2
        self.x = torch.randn(items, steps, dtype=double, generator=make)
        self.labels = labels  # (B, T), -1 where unknown

    def traces(self) -> tuple[unknot.Trace, unknot.Trace]:
        q, p = unknot.Trace(), unknot.Trace()
        items = len(self.x)
        for t in q.markov(range(self.steps)):
            given = None if self.labels is None else unknot.partial(self.labels[:, t])
            logits = torch.zeros(items, self.states, dtype=double)
            q.categorical(logits=logits, value=given, gradient="enumerate", name="k")
        before = None
        for t in p.markov(range(self.steps)):
            logits = self.start if before is None else self.move[before]
            before = p.categorical(logits=logits, value=q[f"step[{t}].k"], name="k")
            p.normal(self.mean[before], 1.0, value=self.x[:, t], name="x")
        return q, p

    def log_joint(self, item: int, states: tuple[int, ...]) -> float:
        total = float(self.start.log_softmax(-1)[states[0]])
        for before, after in itertools.pairwise(states):
            total += float(self.move[before].log_softmax(-1)[after])
        for t, state in enumerate(states):
            total += float(Normal(self.mean[state], 1.0).log_prob(self.x[item, t]))
        return total

    def allowed(self, item: int) -> list[tuple[int, ...]]:
        every = itertools.product(range(self.states), repeat=self.steps)
        if self.labels is None:
            return list(every)
        row = self.labels[item].tolist()
        return [s for s in every if all(label in (-1, state) for label, state in zip(row, s, strict=True))]


@pytest.mark.parametrize(("steps", "states", "items"), [*itertools.product([1, 2, 3], repeat=3)])
@pytest.mark.parametrize("labeled", [False, True])
def test_marginals_and_modes_are_those_of_all_assignments(
    steps: int, states: int, items: int, labeled: bool
) -> None:
    make = torch.Generator().manual_seed(steps)
    labels = torch.randint(-1, states, (items, steps), generator=make) if labeled else None
    chain = Chain(steps, states, items, labels)
    q, p = chain.traces()
    marginals, modes = unknot.infer_discrete(q, p), unknot.infer_discrete(q, p, "mode")
    for item in range(items):
        every = chain.allowed(item)
        logs = torch.tensor([chain.log_joint(item, states) for states in every], dtype=double)
        weight = logs.softmax(0)
        best = every[int(logs.argmax())]
        for t in range(steps):
            expected = torch.zeros(states, dtype=double)
            for share, assignment in zip(weight, every, strict=True):
                expected[assignment[t]] += share
            torch.testing.assert_close(marginals[f"step[{t}].k"][item], expected)
            assert int(modes[f"step[{t}].k"][item]) == best[t]


def test_samples_have_the_frequencies_of_the_posterior() -> None:
    """A chi-square test of the joint of three steps at a level of one in a thousand, with a fixed seed."""
    chain = Chain(3, 2, 1)
    chain.x = chain.x.expand(4000, -1)
    q, p = chain.traces()
    torch.manual_seed(0)
    drawn = unknot.infer_discrete(q, p, "sample")
    joint = sum(drawn[f"step[{t}].k"] * 2**t for t in range(3))
    every = [tuple((code >> t) & 1 for t in range(3)) for code in range(8)]
    expected = torch.tensor([chain.log_joint(0, states) for states in every]).softmax(0) * 4000
    counts = torch.bincount(joint, minlength=8)
    statistic = float(((counts - expected).square() / expected).sum())
    assert statistic < 24.32  # chi-square with 7 degrees of freedom, upper tail .001


def test_a_long_chain_is_forward_backward() -> None:
    chain = Chain(200, 3, 2)
    q, p = chain.traces()
    move, emit = chain.move.log_softmax(-1), Normal(chain.mean, 1.0).log_prob(chain.x[..., None])
    forward = [chain.start.log_softmax(-1) + emit[:, 0]]
    for t in range(1, 200):
        forward.append((forward[-1][:, :, None] + move).logsumexp(1) + emit[:, t])
    backward = [torch.zeros(2, 3, dtype=double)]
    for t in range(199, 0, -1):
        backward.append((move + (emit[:, t] + backward[-1])[:, None, :]).logsumexp(2))
    expected = (forward[70] + backward[::-1][70]).softmax(-1)
    torch.testing.assert_close(unknot.infer_discrete(q, p)["step[70].k"], expected)


def test_draws_are_weighted_by_importance() -> None:
    """y enumerated and z drawn from its prior: Σ_s p(x | y, z_s) p(y), normalized over y."""
    torch.manual_seed(0)
    q, p = unknot.Trace(samples=50), unknot.Trace()
    z = q.normal(torch.zeros(2, dtype=double), 1.0, name="z")
    y = q.categorical(logits=torch.zeros(2, 3, dtype=double), gradient="enumerate", name="y")
    prior = torch.tensor([0.1, -0.5, 1.0], dtype=double)
    p.normal(torch.zeros(2, dtype=double), 1.0, value=q["z"], name="z")
    p.categorical(logits=prior, value=q["y"], name="y")
    x = torch.tensor([0.3, 2.0], dtype=double)
    p.normal(z + y.double(), 1.0, value=x, name="x")
    for item in range(2):
        logs = torch.stack([Normal(z[:, item] + k, 1.0).log_prob(x[item]).logsumexp(0) for k in range(3)])
        expected = (logs + prior.log_softmax(-1)).softmax(0)
        torch.testing.assert_close(unknot.infer_discrete(q, p)["y"][item], expected)


def test_mistakes_are_refused() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.zeros(2), 1.0, name="z")
    p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    with pytest.raises(SpecError, match="no site of q is enumerated"):
        unknot.infer_discrete(q, p)
    with pytest.raises(SpecError, match="kind is one of"):
        unknot.infer_discrete(q, p, "viterbi")
