"""A ladder of latents (VLAE, Zhao et al. 2017) whose groups form a tree (HFVAE, Esmaeili et al. 2019).

    encoder    prod_l q(z_l | h_l),  h_l = f_l(h_l-1),  h_0 = x          decoder    prod_l p(z_l),  p(x | z_1, z_2, z_3)

Deeper latents are read from deeper layers and pass through more layers of the decoder, so they tend to hold the more
abstract factors. ``hfvae`` weights how far the groups of a tree depend on each other in q(z), node by node:

    between          content against detail                               weight beta
    between[detail]  middle against bottom                                weight gamma, or by name
    within[z]        the dimensions of one latent against each other      weight gamma, or by name

``unknot.trace`` shows that no latent is computed from another, so q(z) is a mixture of products and nothing else needs
to be said.
"""

import torch
from torch import Tensor, nn

import unknot

TREE = {"content": ["top"], "detail": {"middle": ["middle"], "bottom": ["bottom"]}}
RUNGS, CODES, FEATURES, WIDTH = ("bottom", "middle", "top"), 2, 8, 16


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        sizes = [FEATURES, WIDTH, WIDTH]
        self.up = nn.ModuleList(nn.Sequential(nn.Linear(size, WIDTH), nn.Tanh()) for size in sizes)
        self.out = nn.ModuleList(nn.Linear(WIDTH, 2 * CODES) for _ in RUNGS)

    def forward(self, x: Tensor) -> unknot.Trace:
        q, h = unknot.Trace(), x
        for name, up, out in zip(RUNGS, self.up, self.out, strict=True):
            h = up(h)
            loc, raw = out(h).chunk(2, -1)
            q.normal(loc, nn.functional.softplus(raw), name=name)
        return q


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        sizes = [CODES, WIDTH + CODES, WIDTH + CODES]
        self.down = nn.ModuleList(nn.Sequential(nn.Linear(size, WIDTH), nn.Tanh()) for size in sizes)
        self.x = nn.Linear(WIDTH, FEATURES)

    def forward(self, x: Tensor | None, q: unknot.Trace) -> unknot.Trace:
        p, parts = unknot.Trace(), []
        for name, down in zip(reversed(RUNGS), self.down, strict=True):
            parts.append(p.normal(torch.zeros(CODES), torch.ones(CODES), value=q[name], name=name))
            parts = [down(unknot.cat(parts))]
        p.normal(self.x(parts[0]), 0.3, value=x, name="x")
        return p


def main(steps: int = 300, beta: float = 20.0) -> float:
    """Train on items around a circle; return the total correlation of content and detail, in nats.

    There is one factor, the angle. With ``beta=1`` content and detail both depend on it.
    """
    torch.manual_seed(0)
    angle = 2 * torch.pi * torch.rand(300, 1)
    circle = torch.cat([angle.cos(), angle.sin()], -1)
    x = 2 * circle @ torch.randn(2, FEATURES) + 0.3 * torch.randn(300, FEATURES)
    encoder, decoder = Encoder(), Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    for _ in range(steps):
        q = unknot.trace(encoder, x)
        p = unknot.trace(decoder, x, q)
        terms = unknot.objectives.hfvae(q, p, dataset_size=300, beta=beta, gamma=1.0, groups=TREE)
        optimizer.zero_grad()
        terms.loss.backward()
        optimizer.step()
    return -terms["between"].mean().item()


if __name__ == "__main__":
    for beta in (1.0, 20.0):
        print(f"beta = {beta}: total correlation of content and detail {main(beta=beta):.3f} nats")
