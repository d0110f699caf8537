# %% [markdown]
# # Metrics for your own codes
#
# The scores take arrays: codes `(N, D)` of any model and factors `(N,)`. Here the codes are made by hand, so that we know
# what a score should say.

# %%
import numpy as np

from unknot import metrics

rng = np.random.default_rng(0)
factors = {"shape": rng.integers(0, 3, 4000), "scale": rng.integers(0, 6, 4000), "angle": rng.random(4000)}
columns = np.stack([(f - f.mean()) / f.std() for f in factors.values()], 1)
noise = 0.1 * rng.standard_normal((4000, 3))

aligned = columns + noise  # one code for each factor
turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
mixed = columns @ turn + noise  # the same information, rotated

# %%
for name, codes in {"aligned": aligned, "rotated": mixed}.items():
    print(name)
    print(metrics.table(codes, factors, only=["mig", "dci", "infomec", "sap"], resamples=4))

# %% [markdown]
# A rotation loses nothing: every factor can be predicted from the rotated codes as well (explicitness, `InfoE`). But no single
# code belongs to one factor any more, and MIG, DCI, InfoM and SAP fall. [Metrics](../metrics.md) says what each of
# them cannot see; `unknot metrics codes.npz` prints the same table from a file.
