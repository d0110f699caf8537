"""How often an encoder names the right class, and which classes it confuses."""

from __future__ import annotations

import numpy as np

from unknot.errors import SpecError


def error_rate(truth: np.ndarray, guess: np.ndarray) -> float:
    """Share of items whose class is wrong, over the items whose class is known (``truth >= 0``).

    >>> error_rate(np.array([0, 1, 2, -1]), np.array([0, 2, 2, 0]))
    0.3333333333333333
    """
    known = truth >= 0
    if not known.any():
        raise SpecError(
            f"error_rate: expected items whose class is known (truth >= 0), but none of the {truth.size} is"
        )
    return float(np.mean(truth[known] != guess[known]))


def confusion_matrix(truth: np.ndarray, guess: np.ndarray, classes: int) -> np.ndarray:
    """Counts of items by true class (rows) and named class (columns).

    Items whose class is unknown (``truth < 0``), or that the encoder gave no name (``guess < 0``), are in no cell.

    >>> confusion_matrix(np.array([0, 1, 1, -1, 1]), np.array([0, 0, 1, 0, -1]), 2).tolist()
    [[1, 0], [1, 1]]
    """
    for what, named in (("truth", truth), ("guess", guess)):
        if named.size and named.max() >= classes:
            raise SpecError(
                f"confusion_matrix: expected classes 0 to {classes - 1}, but {what} has {int(named.max())}"
            )
    named = (truth >= 0) & (guess >= 0)
    cells = truth[named] * classes + guess[named]
    return np.bincount(cells, minlength=classes * classes).reshape(classes, classes)


def wilson_interval(share: float, items: int, level: float = 0.95) -> tuple[float, float]:
    """Where a share measured on so many items may truly lie, Wilson's interval:

        (p + z²/2n ± z √(p (1 - p)/n + z²/4n²)) / (1 + z²/n)

    The shares whose own standard error reaches the measured one. Unlike p ± z s.e. it stays between 0 and 1, and no
    error in 30 items is not taken for none at all.

    >>> [round(end, 3) for end in wilson_interval(0.0, 30)]
    [0.0, 0.114]
    """
    from scipy.special import ndtri

    if items == 0:
        return 0.0, 1.0
    z = float(ndtri(0.5 + level / 2))
    middle = (share + z**2 / (2 * items)) / (1 + z**2 / items)
    reach = z * np.sqrt(share * (1 - share) / items + z**2 / (4 * items**2)) / (1 + z**2 / items)
    return max(float(middle - reach), 0.0), min(float(middle + reach), 1.0)
