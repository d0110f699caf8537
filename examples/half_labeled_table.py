"""A table with missing values and few labels: predictions, imputation, outliers.

Run `python examples/half_labeled_table.py [steps]`.
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unknot import StructuredVAE

rows, diagnoses = load_breast_cancer(return_X_y=True)
draw = np.random.default_rng(0)
order = draw.permutation(len(rows))
rows, diagnoses = rows[order], diagnoses[order]
missing = draw.random(rows.shape) < 0.4
table = np.where(missing, np.nan, rows)  # two entries in five are missing
labels = diagnoses.copy()
labels[100:] = -1  # and of 400 patients to learn from 100 have a label

steps = int(sys.argv[1]) if len(sys.argv) > 1 else None
vae = StructuredVAE(steps=steps).fit(table[:400], diagnosis=labels[:400])
print(f"right on new patients: {vae.score(table[400:], diagnosis=diagnoses[400:]):.1%}")

usual = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(
    table[:100], diagnoses[:100]
)
print(f"logistic regression on the same labels: {usual.score(table[400:], diagnoses[400:]):.1%}")

unit = rows[:400].std(0)
wrong = (vae.impute(table[400:]) - rows[400:]) / unit
mean = (SimpleImputer().fit(table[:400]).transform(table[400:]) - rows[400:]) / unit
print(f"missing values imputed, off by {np.sqrt(np.mean(wrong[missing[400:]] ** 2)):.2f} standard deviations; "
      f"by the mean {np.sqrt(np.mean(mean[missing[400:]] ** 2)):.2f}")  # fmt: skip

odd = table[400:].copy()
odd[0] = rows[range(30), range(30)]  # every entry from another patient
print("the strangest of the new ones:", vae.score_samples(odd).argmin())
