"""A new model: two programs, a loop of your own, S17 Eq. 8; `python examples/two_programs.py [steps]`."""

import sys

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

import unknot


def pixel_loss(made: Tensor, seen: Tensor) -> Tensor:
    return binary_cross_entropy(made, seen.expand_as(made), reduction="none").sum(-1)


class Encoder(nn.Module):
    """q(y | x) q(z | x, y): the digit, and whatever else there is to its image."""

    def __init__(self) -> None:
        super().__init__()
        self.h = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
        self.y = nn.Linear(128, 10)
        self.z = nn.Linear(128 + 10, 2 * 4)

    def forward(self, x: Tensor, y_values: unknot.Partial | None = None) -> unknot.Trace:
        q = unknot.Trace()
        h = self.h(x)
        y = q.concrete(self.y(h), 0.66, value=y_values, name="y")
        mean, spread = self.z(unknot.cat([h, y])).chunk(2, -1)
        q.normal(mean, spread.exp(), name="z")
        return q


class Decoder(nn.Module):
    """p(y) p(z) p(x | y, z)."""

    def __init__(self) -> None:
        super().__init__()
        self.x = nn.Sequential(nn.Linear(10 + 4, 128), nn.ReLU(), nn.Linear(128, 64), nn.Sigmoid())

    def forward(self, x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        y = p.concrete(torch.zeros(10), 0.66, value=q["y"], name="y")
        z = p.normal(torch.zeros(4), torch.ones(4), value=q["z"], name="z")
        p.loss(pixel_loss, self.x(unknot.cat([y, z])), x, name="x")
        return p


torch.manual_seed(0)
images, digits = (torch.as_tensor(a) for a in load_digits(return_X_y=True))
images = images.float() / 16
known = torch.arange(len(images)) < 100  # labels of the first hundred
encoder, decoder = Encoder(), Decoder()
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
    rows = torch.cat(
        [torch.randint(100, (50,)), torch.randint(1400, (150,))]
    )  # a quarter of each batch is labeled
    x = images[rows]
    q = encoder(x, unknot.partial(digits[rows], known[rows]))
    p = decoder(x, q)
    optimizer.zero_grad()
    unknot.objectives.semi_supervised(q, p, alpha=20.0).loss.backward()
    optimizer.step()

with torch.no_grad():
    read = encoder(images[1400:])["y"].dist.logits.argmax(-1)
print(f"right on new images: {(read == digits[1400:]).float().mean():.1%}")
print(unknot.graph(encoder, decoder, images[:2]).dot())
