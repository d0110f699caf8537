"""CCVAE (Joy et al. 2021): every label has a latent of its own, and the label is predicted from it.

    encoder    q(z | x) prod_i q(c_i | x) q(y_i | c_i)          decoder    p(z) prod_i p(y_i) p(c_i | y_i), p(x | c, z)

The probability of a label depends on the draw of c_i, so draws are weighted by it, for each item by the labels that it
has: :func:`unknot.objectives.semi_supervised` with ``alpha=0`` is the objective of the paper, except that log q(y | x),
the logarithm of a mean over draws, is bounded by the mean of the logarithms (S17 Eq. 7). ``alpha`` adds to its weight.
"""

import torch
from torch import Tensor, nn

import unknot

LABELS, CODES, FEATURES = ("shape", "color"), 2, 6


class Encoder(nn.Module):
    def __init__(self, samples: int = 8) -> None:
        super().__init__()
        self.samples = samples
        self.z = nn.Linear(FEATURES, 2 * CODES)
        self.c = nn.ModuleDict({name: nn.Linear(FEATURES, 2 * CODES) for name in LABELS})
        self.y = nn.ModuleDict({name: nn.Linear(CODES, 2) for name in LABELS})

    def forward(self, x: Tensor, labels: dict[str, unknot.Partial]) -> unknot.Trace:
        q = unknot.Trace(self.samples)
        loc, raw = self.z(x).chunk(2, -1)
        q.normal(loc, raw.sigmoid(), name="z")
        for name in LABELS:
            with q.scope(name):
                loc, raw = self.c[name](x).chunk(2, -1)
                c = q.normal(loc, raw.sigmoid(), name="c")
                q.categorical(logits=self.y[name](c), value=labels.get(name), gradient="enumerate", name="y")
        return q


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.loc = nn.ParameterDict({name: nn.Parameter(torch.randn(2, CODES)) for name in LABELS})
        self.x = nn.Linear((len(LABELS) + 1) * CODES, FEATURES)

    def forward(self, x: Tensor | None, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        codes = [p.normal(torch.zeros(CODES), torch.ones(CODES), value=q["z"], name="z")]
        for name in LABELS:
            with p.scope(name):
                y = p.categorical(logits=torch.zeros(2), value=q[f"{name}.y"], name="y")
                codes.append(p.normal(self.loc[name][y], torch.ones(CODES), value=q[f"{name}.c"], name="c"))
        p.normal(self.x(unknot.cat(codes)), 0.5, value=x, name="x")
        return p


def main(steps: int = 300) -> float:
    """Two binary factors, 10 % of the labels of each; return the accuracy of both predictions together."""
    torch.manual_seed(0)
    truth = torch.randint(2, (500, 2))
    x = (2 * truth - 1).float() @ torch.randn(2, FEATURES) + 0.5 * torch.randn(500, FEATURES)
    known = torch.where(torch.rand(500, 2) < 0.1, truth, -1)
    encoder, decoder = Encoder(), Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    for _ in range(steps):
        labels = {name: unknot.partial(known[:, i]) for i, name in enumerate(LABELS)}
        q = unknot.trace(encoder, x, labels)
        p = unknot.trace(decoder, x, q)
        optimizer.zero_grad()
        unknot.objectives.semi_supervised(q, p, alpha=10.0).loss.backward()
        optimizer.step()
    means = [encoder.c[name](x).chunk(2, -1)[0] for name in LABELS]
    logits = [encoder.y[name](mean) for name, mean in zip(LABELS, means, strict=True)]
    predicted = torch.stack([one.argmax(-1) for one in logits], -1)
    return (predicted == truth).float().mean().item()


if __name__ == "__main__":
    print(f"accuracy with 10 % of the labels: {main():.1%}")
