"""The β-VAE score: can a linear classifier tell which factor two items share."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Columns, Discrete, live_codes, prepare
from unknot.metrics.parts.predictors import fit_logistic
from unknot.metrics.parts.result import Score
from unknot.metrics.votes import FixedFactor

_CELLS = 4_000_000  # numbers held at once while votes are made


def beta_vae(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """Higgins et al. 2017: the accuracy of a logistic regression on ``mean_l |z_j(x_l) - z_j(x'_l)|``.

    The pairs of a batch share the value of one factor, which the classifier is to name; of a discrete code the
    difference is 0 or 1. Scored on other batches. The penalty of the regression sees the scale of the codes, as in
    disentanglement_lib. Chance is 1/K.
    """
    given = prepare("beta_vae", codes, factors, discrete, discrete_factors, seed, protocol)
    if len(given.factors.names) < 2:
        raise DataError("beta_vae asks which of several factors is shared, and there is one only.")
    settings = given.settings
    rng = np.random.default_rng(seed)
    sampler = FixedFactor(given.factors, settings.groups)
    kept = given.codes.only(live_codes(given.codes, settings.dead_below))
    trained = _points(kept, sampler, settings.batch, settings.train, rng)
    tested = _points(kept, sampler, settings.batch, settings.test, rng) if settings.test else trained
    if not kept.names:
        return Score(value=0.0, **given.said)
    model = fit_logistic(*trained, penalty=1.0)
    return Score(value=float(np.mean(model.predict(tested[0]) == tested[1])), **given.said)


def _points(
    codes: Columns, sampler: FixedFactor, batch: int, votes: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Mean differences ``(V, D)`` and the factor that each batch's pairs share ``(V,)``."""
    labels = np.sort(sampler.draw_factors(rng, votes))
    block = max(1, _CELLS // (batch * max(len(codes.names), 1)))
    parts = []
    for factor in range(sampler.factors):
        wanted = int((labels == factor).sum())
        for start in range(0, wanted, block):
            rows = sampler.draw_rows(rng, factor, (min(block, wanted - start), batch))
            others = sampler.partners(rng, factor, rows)
            apart = np.abs(codes.values[rows] - codes.values[others])  # (V, L, D)
            apart[..., codes.discrete] = apart[..., codes.discrete] > 0
            parts.append(apart.mean(1))
    return np.concatenate(parts), labels
