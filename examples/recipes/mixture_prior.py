"""A mixture prior (GMVAE): p(y) p(z | y) p(x | z), with the cluster y summed exactly.

The encoder is q(y | x) q(z | x, y). ``gradient="enumerate"`` gives y an axis of its own: the networks after it run for
all K clusters at once, and the objective weights them by q(y | x). Known clusters are observed at the same site.
"""

import torch
from torch import Tensor, nn

import unknot

CLUSTERS, CODES, FEATURES = 3, 2, 5


class Encoder(nn.Module):
    """q(y | x) q(z | x, y)."""

    def __init__(self) -> None:
        super().__init__()
        self.h = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU())
        self.y = nn.Linear(32, CLUSTERS)
        self.z = nn.Linear(32 + CLUSTERS, 2 * CODES)

    def forward(self, x: Tensor, labels: unknot.Partial | None = None) -> unknot.Trace:
        q = unknot.Trace()
        h = self.h(x)
        # (K, 1, B, K): every cluster, an axis of samples of size one, the items, one-hot vectors
        y = q.one_hot_categorical(logits=self.y(h), value=labels, gradient="enumerate", name="y")
        loc, log_scale = self.z(unknot.cat([h, y])).chunk(2, -1)
        q.normal(loc, log_scale.exp(), name="z")  # (K, 1, B, D)
        return q


class Decoder(nn.Module):
    """p(y) p(z | y) p(x | z)."""

    def __init__(self) -> None:
        super().__init__()
        self.y_logits = nn.Parameter(torch.zeros(CLUSTERS))
        self.z = nn.Linear(CLUSTERS, 2 * CODES, bias=False)  # one mean and log-scale per cluster
        self.x = nn.Sequential(nn.Linear(CODES, 32), nn.ReLU(), nn.Linear(32, FEATURES))
        self.x_log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor | None, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        y = p.one_hot_categorical(logits=self.y_logits, value=q["y"], name="y")
        loc, log_scale = self.z(y).chunk(2, -1)
        z = p.normal(loc, log_scale.exp(), value=q["z"], name="z")
        p.normal(self.x(z), self.x_log_scale.exp(), value=x, name="x")
        return p


def main(steps: int = 300) -> float:
    """Three noisy groups of items, two labels for each group; return the accuracy of the clusters.

    Six labels among 600 items need a weight (``gamma``): with weight one, two clusters merge, as they often do when
    ``unknot.objectives.elbo`` trains the same programs without labels.
    """
    torch.manual_seed(0)
    group = torch.arange(600) % CLUSTERS
    x = torch.randn(CLUSTERS, FEATURES)[group] + 0.3 * torch.randn(600, FEATURES)
    known = torch.where(torch.arange(600) < 2 * CLUSTERS, group, -1)
    encoder, decoder = Encoder(), Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
    for _ in range(steps):
        q = unknot.trace(encoder, x, unknot.partial(known))
        p = unknot.trace(decoder, x, q)
        optimizer.zero_grad()
        unknot.objectives.semi_supervised(q, p, alpha=10.0, gamma=20.0).loss.backward()
        optimizer.step()
    return (encoder.y(encoder.h(x)).argmax(-1) == group).float().mean().item()


if __name__ == "__main__":
    print(f"accuracy with six labels: {main():.1%}")
