"""A hidden Markov model: p(k_1) prod_t p(k_t | k_t-1) p(x_t | k_t), trained by its exact log-likelihood.

The encoder enumerates the states; its probabilities do not matter, since all paths are summed. ``markov`` uses the axes
of earlier steps again, so the sum over K^T paths costs K^2 T. ``importance_weighted(q, p)["evidence"]`` is log p(x), as
by the forward algorithm; states that are known are observed, and it is then log p(x, known states).
``infer_discrete`` returns marginals (forward-backward), a sample, or the most likely path (Viterbi).
"""

import torch
from torch import Tensor, nn

import unknot


class HiddenMarkovModel(nn.Module):
    """K states that emit one of V symbols at each step."""

    def __init__(self, states: int, symbols: int) -> None:
        super().__init__()
        self.states = states
        self.start = nn.Parameter(torch.randn(states))
        self.transition = nn.Parameter(torch.randn(states, states))
        self.emission = nn.Parameter(torch.randn(states, symbols))

    def encode(self, x: Tensor, lengths: Tensor, labels: Tensor | None = None) -> unknot.Trace:
        """Enumerate the states of sequences ``(B, T)``; labels ``(B, T)`` are -1 where a state is unknown."""
        q = unknot.Trace()
        uniform = torch.zeros(len(x), self.states)
        for t in q.markov(range(x.shape[1]), lengths=lengths):
            known = None if labels is None else unknot.partial(labels[:, t])
            q.categorical(logits=uniform, value=known, gradient="enumerate", name="k")
        return q

    def decode(self, x: Tensor, lengths: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        logits: Tensor = self.start
        for t in p.markov(range(x.shape[1]), lengths=lengths):
            k = p.categorical(logits=logits, value=q[f"step[{t}].k"], name="k")
            p.categorical(logits=self.emission[k], value=x[:, t], name="x")
            logits = self.transition[k]
        return p

    def traces(
        self, x: Tensor, lengths: Tensor, labels: Tensor | None = None
    ) -> tuple[unknot.Trace, unknot.Trace]:
        q = unknot.trace(self.encode, x, lengths, labels)
        return q, unknot.trace(self.decode, x, lengths, q)


def draw(count: int, steps: int) -> tuple[Tensor, Tensor]:
    """Symbols and states of a chain with three states that tends to stay where it is; symbols are right in 80 %."""
    state, states = torch.randint(3, (count,)), []
    for _ in range(steps):
        state = torch.where(torch.rand(count) < 0.1, torch.randint(3, (count,)), state)
        states.append(state)
    k = torch.stack(states, 1)
    return torch.where(torch.rand(k.shape) < 0.2, torch.randint(3, k.shape), k), k


def main(steps: int = 60) -> float:
    """Train with 5 % of the states labeled; return the accuracy of the most likely paths."""
    torch.manual_seed(0)
    x, truth = draw(100, 30)
    labels = torch.where(torch.rand(truth.shape) < 0.05, truth, -1)
    lengths = torch.randint(10, 31, (100,))
    model = HiddenMarkovModel(3, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        q, p = model.traces(x, lengths, labels)
        optimizer.zero_grad()
        unknot.objectives.importance_weighted(q, p, alpha=0.0).loss.backward()
        optimizer.step()
    path = unknot.infer_discrete(*model.traces(x, lengths), "mode")
    predicted = torch.stack([path[f"step[{t}].k"] for t in range(30)], 1)
    alive = torch.arange(30) < lengths[:, None]
    return (predicted == truth)[alive].float().mean().item()


if __name__ == "__main__":
    print(f"accuracy of the most likely paths: {main():.1%}")
