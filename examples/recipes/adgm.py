"""An auxiliary deep generative model (ADGM, Maaløe et al. 2016): an auxiliary latent makes the encoder more flexible.

    encoder    q(a | x) q(y | x, a) q(z | x, a, y)          decoder    p(y) p(z) p(x | y, z) p(a | x, y, z)

The marginal q(y, z | x), with a integrated out, is an infinite mixture. The decoder predicts a from everything else, so
p(x, y, z) is that without a. With one sample, ``semi_supervised`` is the objective of the paper; y is enumerated.
"""

import torch
from torch import Tensor, nn

import unknot

CLASSES, CODES, FEATURES = 2, 2, 2


def network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


def parameters(outputs: Tensor) -> tuple[Tensor, Tensor]:
    loc, log_scale = outputs.chunk(2, -1)
    return loc, log_scale.clamp(-5, 5).exp()


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = network(FEATURES, 2 * CODES)
        self.y = network(FEATURES + CODES, CLASSES)
        self.z = network(FEATURES + CODES + CLASSES, 2 * CODES)

    def forward(self, x: Tensor, labels: unknot.Partial | None = None) -> unknot.Trace:
        q = unknot.Trace()
        a = q.normal(*parameters(self.a(x)), name="a")
        logits = self.y(unknot.cat([x, a]))
        y = q.one_hot_categorical(logits=logits, value=labels, gradient="enumerate", name="y")
        q.normal(*parameters(self.z(unknot.cat([x, a, y]))), name="z")
        return q


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.x = network(CLASSES + CODES, FEATURES)
        self.a = network(FEATURES + CLASSES + CODES, 2 * CODES)

    def forward(self, x: Tensor | None, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        y = p.one_hot_categorical(logits=torch.zeros(CLASSES), value=q["y"], name="y")
        z = p.normal(torch.zeros(CODES), torch.ones(CODES), value=q["z"], name="z")
        x = p.normal(self.x(unknot.cat([y, z])), 0.2, value=x, name="x")
        p.normal(*parameters(self.a(unknot.cat([x, y, z]))), value=q["a"], name="a")
        return p


def main(steps: int = 400) -> float:
    """Two half moons with three labels each; return the accuracy on all items."""
    from sklearn.datasets import make_moons

    torch.manual_seed(0)
    moons, truth = (torch.as_tensor(array) for array in make_moons(400, noise=0.05, random_state=0))
    x, labels = moons.float(), torch.full((400,), -1)
    for k in range(CLASSES):  # both ends of the moon and its middle
        rows = (truth == k).nonzero()[:, 0]
        labels[rows[x[rows, 0].argsort()][[5, 100, 194]]] = k
    encoder, decoder = Encoder(), Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    for _ in range(steps):
        q = unknot.trace(encoder, x, unknot.partial(labels))
        p = unknot.trace(decoder, x, q)
        optimizer.zero_grad()
        unknot.objectives.semi_supervised(q, p, alpha=10.0, gamma=20.0).loss.backward()
        optimizer.step()
    predicted = unknot.trace(encoder, x)["y"].dist.probs.argmax(-1)
    return (predicted.flatten() == truth).float().mean().item()


if __name__ == "__main__":
    print(f"accuracy with six labels: {main():.1%}")
