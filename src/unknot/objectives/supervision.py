"""How strongly labeled items count: the weight γ, the supervision rate ρ, and drawing them more often.

S17 (Eq. 2, sec. 3.1) weighs each of M labeled items γ against N unlabeled ones; the labeled share of the
objective is the supervision rate

    ρ = γ M / (N + γ M)

S16 (sec. 2.2) leaves the weights alone and shows labeled items more often. The two are the same in expectation:
draw each labeled item γ times as often as an unlabeled one, and a share ρ of every batch is labeled
(``data.batches(labeled_share=supervision_rate(...))``). They
differ in variance: a weight repeats no work, re-drawing shows an item beside other items and with other noise.
"""

from __future__ import annotations

import math

from unknot.errors import SpecError


def supervision_rate(gamma: float, labeled: int, unlabeled: int) -> float:
    """ρ, from 0 to 1, of a weight γ = ``gamma`` on each of M ``labeled`` items beside N ``unlabeled`` ones.

    >>> supervision_rate(1.0, labeled=100, unlabeled=49900)
    0.002
    """
    _check_counts(labeled, unlabeled)
    if not (gamma >= 0 and math.isfinite(gamma)):
        raise SpecError(f"gamma is a weight, a finite number of at least 0, but got {gamma}")
    if gamma * labeled + unlabeled == 0:
        raise SpecError(
            "gamma=0 without unlabeled items leaves nothing to learn from; give gamma a positive value"
        )
    return gamma * labeled / (unlabeled + gamma * labeled)


def supervision_weight(rate: float, labeled: int, unlabeled: int) -> float:
    """γ that gives M ``labeled`` items the share ρ = ``rate`` beside N ``unlabeled`` ones.

    >>> supervision_weight(0.5, labeled=100, unlabeled=49900)
    499.0
    """
    _check_counts(labeled, unlabeled)
    if not 0 <= rate < 1 or labeled == 0:
        raise SpecError(
            f"a supervision rate is at least 0 and below 1 and needs labeled items, but got {rate} with {labeled} of "
            "them; for rate 1, train on the labeled items alone"
        )
    return rate * unlabeled / ((1 - rate) * labeled)


def _check_counts(labeled: int, unlabeled: int) -> None:
    if labeled < 0 or unlabeled < 0 or labeled + unlabeled == 0:
        raise SpecError(
            f"expected numbers of items, not negative and not both zero, but got labeled={labeled}, "
            f"unlabeled={unlabeled}"
        )
