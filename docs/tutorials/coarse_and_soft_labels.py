# %% [markdown]
# # Coarse, partial and noisy labels
#
# Often a label says less than the class: "an even digit", "a 3 or an 8", "not a 7", or what three raters voted. Such a
# label is evidence about the class. Unknot uses it exactly, in the same objective as ordinary labels
# ([equations](../equations.md)).
#
# Here 30 of scikit-learn's digits have a label of their own, three per class, and 400 more say even or odd.

# %%
import numpy as np
from sklearn.datasets import load_digits

import unknot
from unknot.data import Votes

images, digits = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(digits))
x, y = images[order] / 16, digits[order].astype(str)
tree = {"even": ["0", "2", "4", "6", "8"], "odd": ["1", "3", "5", "7", "9"]}
parity = np.where(digits[order] % 2 == 0, "even", "odd")

fine = np.full(len(y), None, dtype=object)
for digit in "0123456789":
    fine[np.flatnonzero(y[:1000] == digit)[:3]] = digit
coarse = fine.copy()
coarse[[i for i in range(430) if fine[i] is None]] = parity[[i for i in range(430) if fine[i] is None]]

# %% [markdown]
# `classes=` names the tree. A label may be any node of it.

# %%
settings = {"steps": 300, "cross_fit": 0, "verbose": False, "verdict": False, "classes": {"digit": tree}}
errors = {}
for name, labels in {"30 fine labels": fine, "and 400 coarse ones": coarse}.items():
    vae = unknot.StructuredVAE("ensemble", **settings).fit(x[:1000], digit=labels[:1000])
    errors[name] = np.mean(vae.predict(x[1000:]) != y[1000:])
    print(f"{name}: error on new images {errors[name]:.1%}")

# %% [markdown]
# Predictions exist at every depth, and they agree: the probability of "even" is the sum over its digits.

# %%
print(vae.predict(x[1000:1005]), vae.predict(x[1000:1005], depth=1))
print(vae.predict_proba(x[1000:1003], depth=1).round(3))

# %% [markdown]
# **Other forms.** A list of classes means "one of these", a mapping gives weights, `"!7"` means "not a 7":

# %%
labels = fine[:1000].copy()
labels[:4] = [
    ["3", "8"],
    {y[1]: 0.7, "5": 0.3},
    "!7" if y[2] != "7" else "!1",
    "odd" if parity[3] == "odd" else "even",
]
vae = unknot.StructuredVAE("ensemble", **(settings | {"steps": 20})).fit(x[:1000], digit=labels)

# %% [markdown]
# **Several raters.** Each rater errs in a way of their own. `Votes` takes what they said; the model learns a confusion matrix for
# each of them together with everything else, without any true label.

# %%
rng = np.random.default_rng(1)
said = {
    name: np.where(rng.random(300) < wrong, rng.integers(0, 10, 300).astype(str), y[:300]).tolist()
    for name, wrong in {"careful": 0.05, "hasty": 0.3, "careless": 0.6}.items()
}
unknown = [None] * 700
votes = Votes({name: words + unknown for name, words in said.items()})
vae = unknot.StructuredVAE("ensemble", steps=300, verbose=False, verdict=False).fit(x[:1000], digit=votes)
for name, matrix in vae.rater_confusion_["digit"].items():
    true = np.mean(np.array(said[name]) == y[:300])
    print(f"{name}: learned share of right answers {np.diag(matrix).mean():.2f}, true {true:.2f}")
print(f"error on new images: {np.mean(vae.predict(x[1000:]) != y[1000:]):.1%}")

# %% [markdown]
# In a table the cells of the label column say the same: `even/*`, `3|8`, `!7`; `unknot fit table.csv --label digit --tree tree.yaml`,
# or `--rater rater_1 --rater rater_2`. In the language it is `value=unknot.partial(allowed=...)` and its like
# ([labels as evidence](../language.md)).
