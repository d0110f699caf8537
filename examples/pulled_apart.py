"""Codes without labels, and scores for how well they come apart; `python examples/pulled_apart.py [steps]`.

White bars of which length, height and place are known, read by an HFVAE and by principal components. The scores take
arrays, whoever made them.
"""

import sys

import numpy as np
from sklearn.decomposition import PCA

from unknot import StructuredVAE, metrics

draw = np.random.default_rng(0)
length, height, place = (draw.integers(0, 6, 3000) for _ in range(3))
across = np.arange(16)
wide = np.abs(across - 4 - 1.4 * place[:, None]) <= 1 + 0.7 * length[:, None]  # (N, 16)
tall = across < 3 + 2 * height[:, None]
images = (tall[:, :, None] & wide[:, None, :]).astype(np.float32)[:, None]  # (N, 1, 16, 16)
factors = {"length": length, "height": height, "place": place}

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
objective = {"name": "hfvae", "beta": 4.0, "gamma": 2.0}
vae = StructuredVAE(style=5, objective=objective, steps=steps, verdict=False).fit(images)
for name, codes in {
    "HFVAE": vae.transform(images),
    "principal components": PCA(5).fit_transform(images.reshape(3000, -1)),
}.items():
    print(name)
    print(metrics.table(codes, factors, only=["mig", "dci", "infomec"], resamples=4))
