# %% [markdown]
# # Reading the terms of the ELBO: HFVAE
#
# E19 takes the ELBO apart: what the codes know of the data, how far they depend on each other, within and between groups,
# and how far each is from its prior. We train a VAE and an HFVAE on white squares of which place and size vary, and
# compare the terms.

# %%
import numpy as np
import torch

import unknot
from unknot import GraphicalModel, metrics, node
from unknot.data import from_arrays
from unknot.train import TrainConfig, fit

rng = np.random.default_rng(0)
right, down, size = rng.random((3, 2000))
pixels = np.arange(16)
across = np.abs(pixels - 4 - 7 * right[:, None])[:, None, :]
along = np.abs(pixels - 4 - 7 * down[:, None])[:, :, None]
half = (1.5 + 2.5 * size)[:, None, None]
images = np.clip(half + 0.5 - np.maximum(across, along), 0, 1).astype(np.float32)[:, None]


def train(objective):
    """Train a model with five numbers as its code."""
    torch.manual_seed(0)
    model = GraphicalModel(
        [
            node("z", "normal", 5, inferred_from=["x"]),
            node("x", "bernoulli", parents=["z"], encoder={"name": "conv", "channels": [16, 32]}),
        ],
        shape=(1, 16, 16),
    )
    config = TrainConfig(objective, steps=900, batch_size=128, learning_rate=2e-3, progress=False)
    fit(model, from_arrays(images), config)
    return model.eval()


vae, hfvae = train({"name": "elbo"}), train({"name": "hfvae", "gamma": 6.0})

# %% [markdown]
# `decompose` returns the terms per item. With weights of one they add up to the ELBO. `mutual_information` is what the code
# knows of the image, `within` the dependence of its numbers (minus the total correlation), `marginal` how far each is from its prior.
# HFVAE with `gamma=6` penalizes the dependence six times. With several groups of codes there is a term `between` them too.


# %%
def terms(model):
    """Return the terms of one batch, in nats per item."""
    x = torch.as_tensor(images[:512])
    with torch.no_grad():
        q = unknot.trace(model.encode, x)
        p = unknot.trace(model.decode, x, q)
        return unknot.objectives.decompose(q, p, dataset_size=len(images)).means()


left, right_ = terms(vae), terms(hfvae)
print(f"{'term':28} {'VAE':>8} {'HFVAE':>8}")
for name in left:
    print(f"{name:28} {left[name]:8.2f} {right_[name]:8.2f}")

# %% [markdown]
# Does the lower dependence go with codes that line up with the factors? Scores of [metrics](../metrics.md) take codes of
# any model.


# %%
def codes(model):
    """Return the means of the code."""
    with torch.no_grad():
        q = model.encode(torch.as_tensor(images))
    return q["z"].dist.mean.numpy()


factors = {"right": right, "down": down, "size": size}
for name, model in {"VAE": vae, "HFVAE": hfvae}.items():
    print(name)
    print(metrics.table(codes(model), factors, only=["mig", "dci"], resamples=2))
