"""Whose is the spread of a score: the seeds', or the settings'? Variance components of a one-way layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

LEVEL = 0.95


@dataclass(frozen=True)
class VarianceParts:
    """Variances of one draw of a ``seed`` within a setting and of the ``setting``; of a run their sum.

    ``low`` and ``high``: where the seed's share lies, with 95 %, if scores scatter normally and alike in all settings.
    """

    seed: float
    setting: float
    low: float
    high: float

    @property
    def seed_share(self) -> float:
        return self.seed / (self.seed + self.setting)


def variance_parts(groups: Sequence[Sequence[float]]) -> VarianceParts | None:
    """ANOVA estimates (Searle, Casella & McCulloch 1992, sec. 3.6) from the scores of every setting's seeds::

        MS_w = Σ_i Σ_j (y_ij - ȳ_i)² / (N - a)        σ²_seed    = MS_w
        MS_b = Σ_i n_i (ȳ_i - ȳ)² / (a - 1)           σ²_setting = max(0, (MS_b - MS_w) / n₀)
        n₀   = (N - Σ_i n_i² / N) / (a - 1)           for a settings, n_i seeds each, N runs

    The interval comes from the distribution of F = MS_b / MS_w, exact where all n_i are the same. None where there are
    not two settings, no setting has two seeds, or all scores are the same.
    """
    groups = [group for group in groups if group]
    settings, runs = len(groups), sum(map(len, groups))
    if settings < 2 or runs == settings:
        return None
    middle = mean(value for group in groups for value in group)
    within = sum((value - mean(group)) ** 2 for group in groups for value in group) / (runs - settings)
    between = sum(len(group) * (mean(group) - middle) ** 2 for group in groups) / (settings - 1)
    if within == between == 0:
        return None
    seeds = (runs - sum(len(group) ** 2 for group in groups) / runs) / (settings - 1)
    low, high = _interval(within, between, seeds, settings, runs)
    return VarianceParts(within, max(0.0, (between - within) / seeds), low, high)


def _interval(within: float, between: float, seeds: float, settings: int, runs: int) -> tuple[float, float]:
    """Ends of the seed's share: F / F_quantile = 1 + n₀ σ²_setting / σ²_seed at each end."""
    from scipy.stats import f

    if within == 0:
        return 0.0, 0.0
    tail = (1 - LEVEL) / 2
    ends = []
    for quantile in (tail, 1 - tail):
        ratio = (between / within / float(f.ppf(quantile, settings - 1, runs - settings)) - 1) / seeds
        ends.append(1 / (1 + max(ratio, 0.0)))
    return ends[0], ends[1]
