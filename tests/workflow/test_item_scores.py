"""The bound of each item: below log p(x), close to it with many draws, low for outliers."""

from __future__ import annotations

import numpy as np
import torch

from unknot import StructuredVAE
from unknot.workflow.item_scores import log_evidence


def test_more_draws_come_closer_from_below_and_outliers_are_low() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    vae = StructuredVAE(steps=60, style=2, learning_rate=1e-2, verbose=False).fit(
        x, side=(x[:, 0] > 0).astype(int)
    )
    rows = torch.from_numpy(np.concatenate([x[:50], x[:50] + 9])).float()
    before = torch.get_rng_state()
    few, many = log_evidence(vae.trained_, rows, 2), log_evidence(vae.trained_, rows, 200)
    assert torch.equal(before, torch.get_rng_state())
    assert many.shape == (100,)
    assert few[:50].mean() < many[:50].mean()  # E log of a mean grows with its terms (Burda et al. 2016)
    assert many[:50].min() > many[50:].max()
    far = log_evidence(vae.trained_, 1e30 * rows[:3], 2)
    assert (far < many.min()).all()  # and not NaN, though it overflows
    torch.testing.assert_close(many, log_evidence(vae.trained_, rows, 200))  # the same seed
