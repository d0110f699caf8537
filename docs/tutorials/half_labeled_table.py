# %% [markdown]
# # A half-labeled table
#
# 569 patients, 30 measurements each, two of every five cells missing, and a diagnosis for 80 patients. We fit a model,
# read its error on labels that it was not trained on, predict the other patients with sets that hold the truth nine
# times in ten, and fill in the missing cells.

# %%
import numpy as np
from sklearn.datasets import load_breast_cancer

import unknot

table, truth = load_breast_cancer(as_frame=True, return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(table))
table, truth = table.iloc[order].reset_index(drop=True), np.array(["malignant", "benign"])[truth.iloc[order]]
incomplete = table.mask(rng.random(table.shape) < 0.4)
diagnosis = [name if i < 80 else None for i, name in enumerate(truth)]
incomplete.iloc[:3, :4]

# %% [markdown]
# Missing cells and missing labels are `NaN` or `None`. Nothing has to be imputed or scaled first.

# %%
vae = unknot.StructuredVAE(steps=200, verbose=False).fit(incomplete[:400], diagnosis=diagnosis[:400])

# %% [markdown]
# The model was trained on all 80 labels. Its error is estimated on labels that were hidden in turn (cross-fitting), and
# a linear model on the same folds stands beside it.

# %%
estimate = vae.trained_.out_of_fold["diagnosis"]
low, high = estimate.interval()
print(
    f"estimated error: {estimate.error:.1%} ({low:.1%} to {high:.1%}); linear model: {estimate.linear_error:.1%}"
)

# %% [markdown]
# Here we know the truth for the other patients, so we can look at how good the estimate is.

# %%
new, known = incomplete[400:], truth[400:]
print(f"error on {len(new)} new patients: {np.mean(vae.predict(new) != known):.1%}")

# %% [markdown]
# **How sure is it?** Probabilities are calibrated on the hidden labels. `predict_set` returns the classes that cannot be
# ruled out; nine sets in ten hold the true class.

# %%
sets = vae.predict_set(new, level=0.9)
covered = np.mean([name in one for name, one in zip(known, sets, strict=True)])
print(
    f"share of sets with the true class: {covered:.1%}; sets with both classes: {np.mean([len(s) == 2 for s in sets]):.1%}"
)

# %% [markdown]
# **Missing cells.** `impute` fills them with what the model expects given the other cells of the row. Known cells stay as
# they are.

# %%
filled = vae.impute(new)
spread = table[:400].std().to_numpy()
missing = new.isna().to_numpy()
wrong = ((filled.to_numpy() - table[400:].to_numpy()) / spread)[missing]
mean = ((table[:400].mean().to_numpy() - table[400:].to_numpy()) / spread)[missing]
print(
    f"root mean square error in standard deviations: {np.sqrt(np.mean(wrong**2)):.2f}; column means: {np.sqrt(np.mean(mean**2)):.2f}"
)

# %% [markdown]
# `vae.report("report.html")` writes all of this as one page, and `unknot fit table.csv --label diagnosis` does it from a
# file.
