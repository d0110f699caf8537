# %% [markdown]
# # Your own model in the language
#
# A model is two programs in plain PyTorch. This is the program of the papers' slides: a digit `y`, a style `z`, an image
# `x`, on scikit-learn's 8x8 digits of which 100 are labeled.

# %%
import torch
from sklearn.datasets import load_digits
from torch import nn

import unknot


class Encoder(nn.Module):
    """q(y | x) q(z | x, y)."""

    def __init__(self):
        super().__init__()
        self.h = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
        self.y_log_weights = nn.Linear(128, 10)
        self.z = nn.Linear(128 + 10, 2 * 4)

    def forward(self, x, y_values=None):
        q = unknot.Trace()
        h = self.h(x)
        y = q.concrete(self.y_log_weights(h), 0.66, value=y_values, name="y")
        mean, log_std = self.z(unknot.cat([h, y])).chunk(2, -1)
        q.normal(mean, log_std.exp(), name="z")
        return q


class Decoder(nn.Module):
    """p(y) p(z) p(x | y, z)."""

    def __init__(self):
        super().__init__()
        self.x = nn.Sequential(nn.Linear(10 + 4, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x, q):
        p = unknot.Trace()
        y = p.concrete(torch.zeros(10), 0.66, value=q["y"], name="y")
        z = p.normal(torch.zeros(4), torch.ones(4), value=q["z"], name="z")
        p.bernoulli(logits=self.x(unknot.cat([y, z])), value=x, name="x")
        return p


# %% [markdown]
# The graph is read from the programs, not declared a second time.

# %%
torch.manual_seed(0)
images, digits = (torch.as_tensor(a) for a in load_digits(return_X_y=True))
images = images.float() / 16
encoder, decoder = Encoder(), Decoder()
unknot.graph(encoder, decoder, images[:4])

# %% [markdown]
# **Supervision is a value at a site**, known for some items. `unknot.trace` runs a program and remembers it;
# `semi_supervised` is S17's objective (Eqs. 2-8) for whatever graph the two traces have.

# %%
known = torch.arange(len(images)) < 100
q = unknot.trace(encoder, images[98:102], unknot.partial(digits[98:102], known[98:102]))
p = unknot.trace(decoder, images[98:102], q)
print(q)
print(unknot.objectives.semi_supervised(q, p, alpha=50.0))

# %% [markdown]
# The training loop is ordinary PyTorch.

# %%
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
for _ in range(600):
    rows = torch.cat([torch.randint(100, (50,)), torch.randint(1400, (150,))])
    q = unknot.trace(encoder, images[rows], unknot.partial(digits[rows], known[rows]))
    p = unknot.trace(decoder, images[rows], q)
    optimizer.zero_grad()
    unknot.objectives.semi_supervised(q, p, alpha=20.0).loss.backward()
    optimizer.step()

with torch.no_grad():
    predicted = encoder(images[1400:])["y"].dist.logits.argmax(-1)
print(f"error on new images: {(predicted != digits[1400:]).float().mean():.1%}")

# %% [markdown]
# `unknot.train.fit` runs the same step with checkpoints, progress and several processes; a spec file may name the program
# (`model: {program: file.py:Class}`). [The language](../language.md) has the rest: enumeration, missing data, handlers,
# sequences and recipes.
