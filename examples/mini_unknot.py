"""The design of unknot in plain PyTorch: a trace, partial observations and the objective of S17, Eqs. 2-8.

Nothing is imported from the library; ``tests/examples/test_mini_unknot.py`` shows that loss and gradients are the same.
Run ``python examples/mini_unknot.py [steps]`` to train a model of the 8x8 digits from 100 labels.

Four ideas:

1. A model is two programs. The encoder writes a trace q, the decoder a trace p. An objective is a function of the two
   traces: it reads names, log-probabilities and masks, so it holds for any graph.
2. A site's ``value=`` is None (draw), a tensor (observe), a node of another trace (reuse) or a partial observation
   (observe the known items, draw the others).
3. Axes are ``(samples, batch, event)``. The first draw adds the sample axis; networks before it run once.
4. The log-probability of the labels under q, at each draw, is the importance weight of that draw.

The library adds more distributions and gradient estimators, enumeration, scopes and loops, handlers and E19.
"""

import math
import sys
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Normal


@dataclass
class Partial:
    values: Tensor  # (B, ...)
    known: Tensor  # (B,)


def partial(values: Tensor) -> Partial:
    """Mark -1 (classes) and NaN (numbers) as unknown."""
    if not values.is_floating_point():
        return Partial(values.clamp_min(0), values >= 0)
    return Partial(values.nan_to_num(), ~values.isnan().flatten(1).any(1))


@dataclass
class Node:
    """One site of a program."""

    value: Tensor  # (S, B, D)
    log_prob: Tensor  # (S, B)
    known: Tensor  # observed items, (B,), or one flag for all of them
    log_value: Tensor | None = None  # of a Concrete draw, where the value itself may round to zero


class Trace(dict[str, Node]):
    """Nodes by name, in the order in which a program makes them. One item's value is a vector of size D."""

    def __init__(self, samples: int = 1) -> None:
        super().__init__()
        self.samples = samples

    def normal(
        self, loc: Tensor, scale: Tensor, value: Tensor | Node | Partial | None = None, *, name: str
    ) -> Tensor:
        """Gaussian with independent dimensions; draws are reparameterized."""
        known = torch.tensor(isinstance(value, Tensor))
        if isinstance(value, Node):
            value, known = value.value, value.known
        elif not isinstance(value, Tensor):
            drawn = loc + scale * torch.randn(self._shape(loc), dtype=loc.dtype)
            if isinstance(value, Partial):
                drawn, known = torch.where(value.known[:, None], value.values, drawn), value.known
            value = drawn
        return self._store(name, value, Normal(loc, scale).log_prob(value).sum(-1), known)

    def concrete(
        self, logits: Tensor, temperature: float, value: Node | Partial | None = None, *, name: str
    ) -> Tensor:
        """One of K classes, relaxed: draws lie on the simplex, labels at its vertices.

        A draw is scored by the density of its logarithm, ``log y = log_softmax((logits + Gumbel) / temperature)``
        (Maddison et al. 2017, App. C.3), a label by the categorical probability.
        """
        classes = logits.shape[-1]
        if isinstance(value, Node):
            y, log_y, known = value.value, value.log_value, value.known
        else:
            noise = torch.empty(self._shape(logits), dtype=logits.dtype).exponential_()
            log_y = ((logits - noise.log()) / temperature).log_softmax(-1)
            y, known = log_y.exp(), torch.tensor(False)
            if isinstance(value, Partial):
                label = nn.functional.one_hot(value.values, classes).to(y.dtype)
                y, known = torch.where(value.known[:, None], label, y), value.known
        constant = math.lgamma(classes) + (classes - 1) * math.log(temperature)
        density = (logits - temperature * log_y).log_softmax(-1).sum(-1) + constant
        mass = (y * logits.log_softmax(-1)).sum(-1)
        return self._store(name, y, torch.where(known, mass, density), known, log_y)

    def bernoulli(self, logits: Tensor, value: Tensor, *, name: str) -> Tensor:
        """Observed pixels between 0 and 1."""
        log_prob = Bernoulli(logits=logits, validate_args=False).log_prob(value).sum(-1)
        return self._store(name, value, log_prob, torch.tensor(True))

    def _shape(self, parameter: Tensor) -> tuple[int, ...]:
        """The shape of a draw: ``(B, D)`` becomes ``(S, B, D)``."""
        return (self.samples, *parameter.shape[-2:])

    def _store(
        self, name: str, value: Tensor, log_prob: Tensor, known: Tensor, log_value: Tensor | None = None
    ) -> Tensor:
        if name in self:
            raise KeyError(f"site '{name}' exists already")
        self[name] = Node(value, log_prob, known, log_value)
        return value


def cat(tensors: list[Tensor]) -> Tensor:
    """Concatenate along the last axis; leading axes broadcast, ``(B, D)`` to ``(S, B, D)``."""
    leading = torch.broadcast_shapes(*(tensor.shape[:-1] for tensor in tensors))
    return torch.cat([tensor.expand(*leading, tensor.shape[-1]) for tensor in tensors], -1)


def semi_supervised(
    q: Trace, p: Trace, alpha: float = 1.0, beta: float = 1.0, gamma: float = 1.0
) -> dict[str, Tensor]:
    """The objective of S17 for a batch in which every item may have other labels, to be maximized.

    With y the labels of an item and z its draws, an item with labels contributes (Eqs. 4-8)

        sum_s v_s log[p(x, y, z_s) / q(y, z_s | x)] + (1 + alpha) / S sum_s log w_s,    v_s = w_s / sum_s w_s,

    where ``w_s = q(y, z_s | x) / q(z_s | x)`` is the product of the labeled sites' probabilities at draw s (Eq. 6).
    Without labels w_s = 1, and what remains is the ELBO (Eq. 1). ``gamma`` is the weight of items with labels (Eq. 2),
    ``beta`` the weight of the KL divergence. Returns one value per item for each term, and the loss.
    """
    data = sum(node.log_prob for name, node in p.items() if name not in q)  # (S, B)
    divergence, log_w, labeled = 0.0, 0.0, False
    for name, node in q.items():
        divergence = divergence + p[name].log_prob - torch.where(node.known, 0.0, node.log_prob)
        log_w = log_w + torch.where(node.known, node.log_prob, 0.0)
        labeled = labeled | node.known
    v = log_w.softmax(0)
    terms = {
        "reconstruction": (v * data).sum(0),
        "kl": (v * (divergence - log_w)).sum(0) + log_w.mean(0),
        "classifier": log_w.mean(0),  # Eq. 7
    }
    per_item = terms["reconstruction"] + beta * terms["kl"] + alpha * terms["classifier"]
    return {**terms, "loss": -(torch.where(labeled, gamma, 1.0) * per_item).mean()}


class Encoder(nn.Module):
    """q(y | x) q(z | x, y): the digit, and its style."""

    def __init__(self) -> None:
        super().__init__()
        self.h = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
        self.y, self.z = nn.Linear(128, 10), nn.Linear(128 + 10, 2 * 4)

    def forward(self, x: Tensor, labels: Partial | None = None, samples: int = 1) -> Trace:
        q, h = Trace(samples), self.h(x)
        y = q.concrete(self.y(h), 0.66, value=labels, name="y")
        loc, log_scale = self.z(cat([h, y])).chunk(2, -1)
        q.normal(loc, log_scale.exp(), name="z")
        return q


class Decoder(nn.Module):
    """p(y) p(z) p(x | y, z)."""

    def __init__(self) -> None:
        super().__init__()
        self.x = nn.Sequential(nn.Linear(10 + 4, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x: Tensor, q: Trace) -> Trace:
        p = Trace(q.samples)
        y = p.concrete(torch.zeros(10), 0.66, value=q["y"], name="y")
        z = p.normal(torch.zeros(4), torch.ones(4), value=q["z"], name="z")
        p.bernoulli(self.x(cat([y, z])), value=x, name="x")
        return p


def main(steps: int = 500) -> float:
    """Train on the 8x8 digits with 100 labels; return the accuracy on the last 397 images."""
    from sklearn.datasets import load_digits

    torch.manual_seed(0)
    images, digits = (torch.as_tensor(array) for array in load_digits(return_X_y=True))
    images, labels = images.float() / 16, torch.where(torch.arange(len(digits)) < 100, digits, -1)
    encoder, decoder = Encoder(), Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
    for _ in range(steps):
        rows = torch.cat([torch.randint(100, (50,)), torch.randint(1400, (150,))])
        q = encoder(images[rows], partial(labels[rows]))
        loss = semi_supervised(q, decoder(images[rows], q), alpha=20.0)["loss"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    predicted = encoder.y(encoder.h(images[1400:])).argmax(-1)
    return (predicted == digits[1400:]).float().mean().item()


if __name__ == "__main__":
    print(f"accuracy on new images: {main(int(sys.argv[1]) if len(sys.argv) > 1 else 500):.1%}")
