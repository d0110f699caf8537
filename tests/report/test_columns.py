"""What changes with a factor, against varying by hand."""

from __future__ import annotations

import numpy as np
import torch

from tests.report.tables import DATA, SIZE, X, answers, model
from unknot.report.columns import moved_columns


def test_shifts_are_means_over_varied_rows_in_standard_deviations() -> None:
    one = model()
    kind, size = moved_columns(one, DATA, answers({}))
    assert (kind.title, size.title) == ("What changes with kind", "What changes with size")
    assert kind.figure is not None
    axes = kind.figure.axes[0]
    varied = one.vary(X, "kind", torch.arange(2)).numpy().mean(0)[:, :2]  # numbers alone
    apart = (varied - varied.mean(0)) / X[:, :2].numpy().std(0)
    names = [text.get_text() for text in axes.get_yticklabels()]
    shown = axes.images[0].get_array()
    for i, name in enumerate(["age", "weight"]):
        np.testing.assert_allclose(shown[names.index(name)], apart[:, i], rtol=1e-4, atol=1e-5)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["ill", "well"]


def test_numbers_are_set_to_quantiles_of_their_labels() -> None:
    _, size = moved_columns(model(), DATA, answers({}))
    assert size.figure is not None
    marks = [text.get_text() for text in size.figure.axes[0].get_xticklabels()]
    assert marks == [f"{np.quantile(SIZE.numpy(), q):.3g}" for q in (0.1, 0.5, 0.9)]
