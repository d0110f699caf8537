"""Filling hidden entries: a model that knows them, beside the mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from tests.report.tables import DATA, X, answers, model
from unknot.report.imputation import imputation


def test_each_column_has_its_error_beside_that_of_the_mean() -> None:
    one = model()
    (section,) = imputation(one, DATA, answers({}))
    assert section.table is not None
    hide = np.random.default_rng(0).random((60, 3)) < 0.2
    filled = one.reconstruct(torch.where(torch.from_numpy(hide), torch.nan, X)).numpy()
    name, hidden, ours, mean = section.table.rows[1]
    truth, shown = X[:, 1].numpy()[hide[:, 1]], X[:, 1].numpy()[~hide[:, 1]]
    assert (name, hidden) == ("weight", str(hide[:, 1].sum()))
    assert ours == f"{np.sqrt(((filled[hide[:, 1], 1] - truth) ** 2).mean()):.3g}"
    assert mean == f"{np.sqrt(((shown.mean() - truth) ** 2).mean()):.3g}"
    blood = section.table.rows[2]
    assert blood[2].endswith(" %")


def test_only_tables_have_gaps_to_fill() -> None:
    assert imputation(model(), replace(DATA, table=()), answers({})) == []
