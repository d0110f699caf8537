"""A table with holes and few labels: told, filled and looked over; `python examples/half_labelled_table.py [steps]`."""

import sys

import numpy as np
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unknot import StructuredVAE

rows, kinds = load_wine(return_X_y=True)
draw = np.random.default_rng(0)
order = draw.permutation(len(rows))
rows, kinds = rows[order], kinds[order]
holes = draw.random(rows.shape) < 0.3
table = np.where(holes, np.nan, rows)  # three entries in ten are missing
labels = kinds.copy()
labels[30:] = -1  # and of 118 wines to learn from 30 have a label

steps = int(sys.argv[1]) if len(sys.argv) > 1 else None
vae = StructuredVAE(steps=steps).fit(table[:118], kind=labels[:118])
print(f"right on 60 new wines: {vae.score(table[118:], kind=kinds[118:]):.1%}")

usual = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(table[:30], kinds[:30])
print(f"logistic regression on the same labels: {usual.score(table[118:], kinds[118:]):.1%}")

unit = rows[:118].std(0)
wrong = (vae.impute(table[118:]) - rows[118:]) / unit
mean = (SimpleImputer().fit(table[:118]).transform(table[118:]) - rows[118:]) / unit
print(f"holes filled, off by {np.sqrt(np.mean(wrong[holes[118:]] ** 2)):.2f} standard deviations; "
      f"by the mean {np.sqrt(np.mean(mean[holes[118:]] ** 2)):.2f}")  # fmt: skip

odd = table[118:].copy()
odd[0] = np.nanmax(table, axis=0)  # a wine with the most of everything
print("the strangest of the new wines:", vae.score_samples(odd).argmin())
