"""Hidden Markov models as programs, and two references that use no trace: all paths, and forward-backward.

Both references return the same four quantities from tables of log-probabilities, so that one comparison serves both:

    log p(x, y),    E_q[log p(x, z) / q(z | x)],    Eq. 8 of S17,    p(z_t | x, y),

where z are the states of all steps, and y the labels of some of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unknot.core.evidence import partial
from unknot.core.trace import Trace

IMPOSSIBLE = -1e5  # its exponential is zero, and its gradient, unlike that of -inf, is never NaN


class HiddenMarkov(nn.Module):
    """A hidden Markov model of symbols, with an encoder q(z_t | z_{t-1}, x_t) that is a Markov chain as well.

    Parameters
    ----------
    states : int
        K, the number of states.
    symbols : int
        V, the number of symbols that a state may emit.
    """

    def __init__(self, states: int, symbols: int) -> None:
        super().__init__()
        self.states = states
        self.start = nn.Parameter(torch.randn(states))
        self.move = nn.Parameter(torch.randn(states, states))
        self.emit = nn.Parameter(torch.randn(states, symbols))
        self.guess_start = nn.Parameter(torch.randn(symbols, states))
        self.guess = nn.Parameter(torch.randn(states, symbols, states))

    def encode(self, x: Tensor, labels: Tensor | None = None, lengths: Tensor | None = None) -> Trace:
        """The encoder for symbols ``(B, T)``; labels ``(B, T)`` are -1 where a state is not known."""
        q = Trace()
        state: Tensor | None = None
        for t in q.markov(range(x.shape[1]), lengths=lengths):
            logits = self.guess_start[x[:, t]] if state is None else self.guess[state, x[:, t]]
            known = None if labels is None else partial(labels[:, t])
            state = q.categorical(logits=logits, value=known, gradient="enumerate", name="state")
        return q

    def propose(self, x: Tensor, labels: Tensor | None = None) -> Trace:
        """An encoder that knows nothing: the exact log evidence and the posterior do not need another."""
        q = Trace()
        logits = self.start.new_zeros(len(x), self.states)
        for t in q.markov(range(x.shape[1])):
            known = None if labels is None else partial(labels[:, t])
            q.categorical(logits=logits, value=known, gradient="enumerate", name="state")
        return q

    def decode(self, x: Tensor, q: Trace, lengths: Tensor | None = None) -> Trace:
        """The hidden Markov model at the states of q."""
        p = Trace()
        logits: Tensor = self.start
        for t in p.markov(range(x.shape[1]), lengths=lengths):
            state = p.categorical(logits=logits, value=q[f"step[{t}].state"], name="state")
            p.categorical(logits=self.emit[state], value=x[:, t], name="symbol")
            logits = self.move[state]
        return p

    def tables(self, x: Tensor, lengths: Tensor) -> tuple[ChainTable, ChainTable]:
        """The log-probabilities of decoder and encoder as tables; steps past the end are the same in both."""
        emitted = self.emit.log_softmax(-1).T[x]  # (B, T, K)
        moved = self.move.log_softmax(-1) + emitted[:, 1:, None]  # (B, T - 1, K, K)
        guessed = self.guess.log_softmax(-1)[:, x[:, 1:]].permute(1, 2, 0, 3)  # (B, T - 1, K, K)
        alive = torch.arange(1, x.shape[1]) < lengths[:, None]  # (B, T - 1)
        stay = torch.zeros(self.states, self.states, dtype=moved.dtype).log_softmax(-1)
        return (
            ChainTable(self.start.log_softmax(-1) + emitted[:, 0], _where(alive, moved, stay)),
            ChainTable(self.guess_start.log_softmax(-1)[x[:, 0]], _where(alive, guessed, stay)),
        )


def _where(alive: Tensor, table: Tensor, otherwise: Tensor) -> Tensor:
    return torch.where(alive[..., None, None], table, otherwise)


@dataclass(frozen=True)
class ChainTable:
    """Log-probabilities of a Markov chain per item: ``first`` state ``(B, K)``, and ``moves`` ``(B, T - 1, K, K)``."""

    first: Tensor
    moves: Tensor

    @property
    def steps(self) -> int:
        return self.moves.shape[1] + 1

    def at(self, paths: Tensor) -> Tensor:
        """The log-probability of every path ``(P, T)``, for each item: ``(B, P)``."""
        total = self.first[:, paths[:, 0]]
        for t in range(1, self.steps):
            total = total + self.moves[:, t - 1, paths[:, t - 1], paths[:, t]]
        return total

    def plus(self, evidence: Tensor) -> ChainTable:
        """The chain with log-evidence ``(B, T, K)`` of each state added."""
        return ChainTable(self.first + evidence[:, 0], self.moves + evidence[:, 1:, None])


@dataclass(frozen=True)
class Quantities:
    """What the references compute, per item; ``marginals`` are ``(B, T, K)``."""

    evidence: Tensor
    elbo: Tensor
    eq8: Tensor
    marginals: Tensor


def by_all_paths(p: ChainTable, q: ChainTable, labels: Tensor, alpha: float) -> Quantities:
    """Sums over all K^T paths."""
    states = p.first.shape[-1]
    paths = torch.tensor(list(itertools.product(range(states), repeat=p.steps)))  # (P, T)
    agrees = ((labels[:, None] == paths) | (labels[:, None] < 0)).all(-1)  # (B, P)
    log_p, log_q = p.at(paths), q.at(paths)
    joint = torch.where(agrees, log_p, -torch.inf)
    posterior = joint.softmax(-1)
    log_label = torch.where(agrees, log_q, -torch.inf).logsumexp(-1)
    given = torch.where(agrees, log_q, -torch.inf).softmax(-1)  # q(z | x, y)
    marginals = [
        (posterior[..., None] * (paths[:, t, None] == torch.arange(states))).sum(1) for t in range(p.steps)
    ]
    return Quantities(
        evidence=joint.logsumexp(-1),
        elbo=(log_q.exp() * (log_p - log_q)).sum(-1),
        eq8=(given * (log_p - log_q)).sum(-1) + (1 + alpha) * log_label,
        marginals=torch.stack(marginals, 1),
    )


def by_forward_backward(p: ChainTable, q: ChainTable, labels: Tensor, alpha: float) -> Quantities:
    """The same by messages, at a cost of K² T."""
    states = torch.arange(p.first.shape[-1])
    agrees = (labels[..., None] == states) | (labels[..., None] < 0)  # (B, T, K)
    labeled = torch.where(agrees, 0.0, IMPOSSIBLE).to(p.first.dtype)
    evidence, first, pairs = messages(p.plus(labeled))
    _, *free = messages(q)
    log_label, *given = messages(q.plus(labeled))
    return Quantities(
        evidence=evidence,
        elbo=_mean_log_ratio(p, q, *free),
        eq8=_mean_log_ratio(p, q, *given) + (1 + alpha) * log_label,
        marginals=torch.cat([first[:, None], pairs.sum(-2)], 1),
    )


def messages(chain: ChainTable) -> tuple[Tensor, Tensor, Tensor]:
    """log Z ``(B,)``, marginals of the first state ``(B, K)``, and of pairs of successive states ``(B, T - 1, K, K)``.

    Messages are normalized at every step, which keeps rounding errors small in long sequences.
    """
    log_total = chain.first.logsumexp(-1)
    forward, backward = [chain.first.log_softmax(-1)], [torch.zeros_like(chain.first)]
    for move in chain.moves.unbind(1):
        message = (forward[-1][:, :, None] + move).logsumexp(1)
        log_total = log_total + message.logsumexp(-1)
        forward.append(message.log_softmax(-1))
    for move in reversed(chain.moves.unbind(1)):
        backward.append((move + backward[-1][:, None]).logsumexp(2).log_softmax(-1))
    backward.reverse()
    first = (forward[0] + backward[0]).softmax(-1)
    if chain.steps == 1:
        return log_total, first, torch.zeros_like(chain.moves)
    before, after = torch.stack(forward[:-1], 1), torch.stack(backward[1:], 1)  # (B, T - 1, K)
    pairs = before[..., None] + chain.moves + after[..., None, :]
    return log_total, first, pairs.flatten(2).softmax(-1).reshape(pairs.shape)


def _mean_log_ratio(p: ChainTable, q: ChainTable, first: Tensor, pairs: Tensor) -> Tensor:
    """The mean of log p - log q under marginals of the first state and of pairs."""
    return (first * (p.first - q.first)).sum(-1) + (pairs * (p.moves - q.moves)).sum((1, 2, 3))
