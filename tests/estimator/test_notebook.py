"""What a notebook shows of an estimator."""

from __future__ import annotations

import re

import numpy as np
from sklearn.datasets import load_wine

import unknot


def test_a_fitted_estimator_shows_its_factors_their_errors_and_its_graph() -> None:
    x, kind = load_wine(return_X_y=True)
    labels = np.where(np.arange(len(kind)) % 3 == 0, kind, -1)
    vae = unknot.StructuredVAE(steps=5, verbose=False, verdict=False)
    assert "StructuredVAE" in vae._repr_html_()  # scikit-learn's own
    page = vae.fit(x, **{"<kind>": labels, "ash": x[:, 2]})._repr_html_()
    cells = re.findall("<td>(.*?)</td>", page)
    estimates = vae.trained_.out_of_fold
    assert cells[:3] == ["&lt;kind&gt;", "categorical, 3 classes", "60"]
    assert cells[3].startswith(f"{100 * estimates['<kind>'].error:.1f} % (")
    off = np.sqrt(np.square(estimates["ash"].predictions - estimates["ash"].labels.reshape(-1, 1)).mean())
    assert cells[5:8] == ["ash", "continuous", "178"]
    assert cells[8] == f"{off:.3g} (root mean square)"
    assert page.count("<svg") == 1
    assert "<kind>" not in page


def test_without_labels_it_says_so() -> None:
    vae = unknot.StructuredVAE(steps=2, verbose=False, verdict=False).fit(
        np.random.default_rng(0).random((40, 3))
    )
    assert "Trained without labels." in vae._repr_html_()
