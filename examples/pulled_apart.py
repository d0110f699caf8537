"""Codes without labels, and scores for how well they come apart; `python examples/pulled_apart.py [steps]`.

White squares of which place and size are known, read by an HFVAE and by principal components. The scores take arrays,
from any model.
"""

import sys

import numpy as np
from sklearn.decomposition import PCA

from unknot import StructuredVAE, metrics

draw = np.random.default_rng(0)
right, down, size = draw.random((3, 3000))
pixels = np.arange(16)
across = np.abs(pixels - 4 - 7 * right[:, None])[
    :, None, :
]  # (N, 1, 16): how far each column is from the middle
along = np.abs(pixels - 4 - 7 * down[:, None])[:, :, None]
half = (1.5 + 2.5 * size)[:, None, None]
images = np.clip(half + 0.5 - np.maximum(across, along), 0, 1).astype(np.float32)[:, None]  # (N, 1, 16, 16)
factors = {"right": right, "down": down, "size": size}

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
objective = {"name": "hfvae", "gamma": 6.0}
vae = StructuredVAE(style=5, objective=objective, steps=steps, learning_rate=2e-3, verdict=False).fit(images)
for name, codes in {
    "HFVAE": vae.transform(images),
    "principal components": PCA(5).fit_transform(images.reshape(3000, -1)),
}.items():
    print(name)
    print(metrics.table(codes, factors, only=["mig", "dci", "infomec"], resamples=4))
