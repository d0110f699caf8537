"""Two views of the same items, of which the second is missing for some: p(z) p(x1 | z) p(x2 | z).

The encoder is the product of the prior and a Gaussian expert for each view that is present (Wu & Goodman 2018), so one
network serves items with and without the second view. The decoder has two ways to write a missing view:

* ``with p.where(seen)``: the site counts zero for items without the view. Use it to leave data out.
* ``value=unknot.partial(x2, seen)``: missing views are drawn from p(x2 | z). The bound is the same, since a site that q
  does not have is its own proposal. Use it to fill in missing values, or where later sites need a value.
"""

import torch
from torch import Tensor, nn

import unknot

CODES, FEATURES = 2, 4


class Encoder(nn.Module):
    """q(z | x1, x2) or q(z | x1): a product of Gaussian experts."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(FEATURES, 2 * CODES), nn.Linear(FEATURES, 2 * CODES)

    def forward(self, x1: Tensor, x2: Tensor, seen: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        shift, log_precision = self.first(x1).chunk(2, -1)  # precision times mean, logarithm of the precision
        shift2, log_precision2 = self.second(x2.nan_to_num()).chunk(2, -1)
        precision = 1 + log_precision.exp() + torch.where(seen[:, None], log_precision2.exp(), 0.0)
        shift = shift + torch.where(seen[:, None], shift2, 0.0)
        q.normal(shift / precision, precision.rsqrt(), name="z")
        return q


class Decoder(nn.Module):
    """p(z) p(x1 | z) p(x2 | z)."""

    def __init__(self, fill_in: bool = False) -> None:
        super().__init__()
        self.fill_in = fill_in
        self.first, self.second = nn.Linear(CODES, FEATURES), nn.Linear(CODES, FEATURES)
        self.log_scale = nn.Parameter(torch.zeros(2))

    def forward(self, x1: Tensor, x2: Tensor, seen: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(CODES), torch.ones(CODES), value=q["z"], name="z")
        p.normal(self.first(z), self.log_scale[0].exp(), value=x1, name="x1")
        if self.fill_in:
            p.normal(self.second(z), self.log_scale[1].exp(), value=unknot.partial(x2, seen), name="x2")
        else:
            with p.where(seen):
                p.normal(self.second(z), self.log_scale[1].exp(), value=x2, name="x2")
        return p


def main(steps: int = 500) -> float:
    """Fill in the second view of half of the items; return the share of its variance that is explained."""
    torch.manual_seed(0)
    z = torch.randn(400, CODES)
    x1, x2 = (z @ torch.randn(CODES, FEATURES) + 0.3 * torch.randn(400, FEATURES) for _ in range(2))
    seen = torch.arange(400) % 2 == 0
    truth, x2 = x2, torch.where(seen[:, None], x2, torch.nan)
    encoder, decoder = Encoder(), Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    for _ in range(steps):
        q = unknot.trace(encoder, x1, x2, seen)
        p = unknot.trace(decoder, x1, x2, seen, q)
        optimizer.zero_grad()
        unknot.objectives.elbo(q, p).loss.backward()
        optimizer.step()
    decoder.fill_in = True
    with torch.no_grad(), unknot.modes():
        q = encoder(x1, x2, seen)
        filled = decoder(x1, x2, seen, q)["x2"].value
    return (1 - (filled - truth)[~seen].var() / truth[~seen].var()).item()


if __name__ == "__main__":
    print(f"variance of the missing views that is explained: {main():.1%}")
