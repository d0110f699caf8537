"""How strongly labelled items count: the weight γ, the supervision rate ρ, and drawing them more often.

S17 (Eq. 2, sec. 3.1) weighs each of M labelled items γ against N unlabelled ones; the labelled share of the
objective is the supervision rate

    ρ = γ M / (N + γ M)

S16 (sec. 2.2) leaves the weights alone and shows labelled items more often. The two are the same in expectation:
draw each labelled item γ times as often as an unlabelled one, and a share ρ of every batch is labelled
(``data.batches(labelled_share=supervision_rate(...))``). They
differ in variance: a weight repeats no work, re-drawing shows an item beside other items and with other noise.
"""

from __future__ import annotations

import math

from unknot.errors import SpecError


def supervision_rate(gamma: float, labelled: int, unlabelled: int) -> float:
    """ρ, from 0 to 1, of a weight γ = ``gamma`` on each of M ``labelled`` items beside N ``unlabelled`` ones.

    >>> supervision_rate(1.0, labelled=100, unlabelled=49900)
    0.002
    """
    _check_counts(labelled, unlabelled)
    if not (gamma >= 0 and math.isfinite(gamma)):
        raise SpecError(f"gamma is a weight, a finite number of at least 0, but got {gamma}")
    if gamma * labelled + unlabelled == 0:
        raise SpecError(
            "gamma=0 without unlabelled items leaves nothing to learn from; give gamma a positive value"
        )
    return gamma * labelled / (unlabelled + gamma * labelled)


def supervision_weight(rate: float, labelled: int, unlabelled: int) -> float:
    """γ that gives M ``labelled`` items the share ρ = ``rate`` beside N ``unlabelled`` ones.

    >>> supervision_weight(0.5, labelled=100, unlabelled=49900)
    499.0
    """
    _check_counts(labelled, unlabelled)
    if not 0 <= rate < 1 or labelled == 0:
        raise SpecError(
            f"a supervision rate is at least 0 and below 1 and needs labelled items, but got {rate} with {labelled} of "
            "them; for rate 1, train on the labelled items alone"
        )
    return rate * unlabelled / ((1 - rate) * labelled)


def _check_counts(labelled: int, unlabelled: int) -> None:
    if labelled < 0 or unlabelled < 0 or labelled + unlabelled == 0:
        raise SpecError(
            f"expected numbers of items, not negative and not both zero, but got labelled={labelled}, "
            f"unlabelled={unlabelled}"
        )
