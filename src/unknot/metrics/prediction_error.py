"""How often an encoder names the right class, and which classes it confuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unknot.errors import SpecError

# ---- Intervals by half-samples: how far a score would move with other items ------------------------------


def half_samples(rows: int, resamples: int, seed: int | None) -> Iterator[np.ndarray]:
    """Row numbers of random halves, without replacement."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield rng.permutation(rows)[: rows // 2]


def interval(value: float, halves: np.ndarray, level: float) -> tuple[float, float]:
    """``value ± t s``: s is the standard deviation over half-samples, t Student's quantile for their number.

    A score that is a smooth function of means has, over halves of N items drawn without replacement, the variance
    ``σ²/(N/2) · (1 - 1/2) = σ²/N``: that of the score itself over new items. The usual bootstrap draws items twice,
    which invents information, breaks estimates by neighbors, and puts the same item on both sides of a test; a half
    has no item twice. The halves' own bias cancels, since only their spread is used; a bias of the score stays.

    >>> interval(0.5, np.array([0.4, 0.6, 0.5]), 0.95)
    (0.0697..., 0.9302...)
    """
    from scipy.special import stdtrit

    kept = halves[np.isfinite(halves)]
    if len(kept) < 2:
        return float("nan"), float("nan")
    reach = float(stdtrit(len(kept) - 1, (1 + level) / 2) * kept.std(ddof=1))
    return value - reach, value + reach


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


def wilson_interval(share: float, items: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share that was measured on N items:

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


def independent_items(items: int, folds: int) -> float:
    """The number of held-out items whose error varies as much as a cross-fitted one:

        n (K - 1) / (2 K - 1)    for n items in K folds, n where there are no folds

    Errors of one fold share a trained model, and training sets of several folds share items, so that the errors of
    cross-fitted items are not independent. Nadeau and Bengio (2003) correct the variance of K splits, σ²/K, to
    (1/K + n_test/n_train) σ²; with σ² = p (1 - p) K/n and n_test/n_train = 1/(K - 1) that is this number of items.

    >>> independent_items(100, 0), independent_items(100, 3)
    (100, 40.0)
    """
    return items if folds < 2 else items * (folds - 1) / (2 * folds - 1)


# ---- Whether an encoder is right as often as it says -----------------------------------------------------

BINS = 10


@dataclass(frozen=True)
class Reliability:
    """By bin of the confidence, empty ones left out: its mean, the share that is right, and how many items."""

    sure: np.ndarray
    right: np.ndarray
    items: np.ndarray

    @property
    def error(self) -> float:
        """The expected calibration error, ``Σ_bins share · |mean confidence - share right|``."""
        return float((self.items * np.abs(self.sure - self.right)).sum() / max(self.items.sum(), 1))


def reliability(sure: np.ndarray, right: np.ndarray) -> Reliability:
    """Confidence against truth in ten equal bins: ``sure`` the probability of the best class, ``right`` whether it is.

    >>> found = reliability(np.array([0.9, 0.9, 0.55]), np.array([True, False, True]))
    >>> found.items.tolist(), round(found.error, 3)
    ([1, 2], 0.417)
    """
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    full = counts > 0
    means = [
        np.bincount(bins, weights=values, minlength=BINS)[full] / counts[full] for values in (sure, right)
    ]
    return Reliability(means[0], means[1], counts[full])


# How far an encoder's numbers are from the truth, item by item; means and intervals are taken of these.


def squared_errors(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """``mean_d (guess_d - truth_d)²`` of every item that is known, from ``(N, D)``; an item is known or not as a whole.

    >>> squared_errors(np.array([[0.0], [np.nan], [2.0]]), np.array([[1.0], [5.0], [5.0]])).tolist()
    [1.0, 9.0]
    """
    known = ~np.isnan(truth).any(-1)
    _refuse_nothing("squared_errors", known)
    return ((guess[known] - truth[known]) ** 2).mean(-1, dtype=np.float64)


def angles(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """The angle in degrees to every known direction, from ``(N, D)``; lengths do not matter, but zero has none.

    >>> angles(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])).round(6).tolist()
    [45.0]
    """
    known = ~np.isnan(truth).any(-1)
    _refuse_nothing("angles", known)
    for what, vectors in (("truth", truth), ("guess", guess)):
        zero = known & (np.linalg.norm(vectors, axis=-1) == 0)
        if zero.any():
            raise SpecError(
                f"angles: the {what} of item {int(zero.argmax())} is a zero vector, which has no direction; leave "
                "such items out (NaN in truth)"
            )
    truth, guess = truth[known], guess[known]
    cosine = (truth * guess).sum(-1) / (np.linalg.norm(truth, axis=-1) * np.linalg.norm(guess, axis=-1))
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _refuse_nothing(score: str, known: np.ndarray) -> None:
    if not known.any():
        raise SpecError(f"{score}: expected known values, but all {known.size} items are NaN")
