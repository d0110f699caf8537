"""The ways to learn from coarse labels and from votes that the experiment compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from experiments.ledger.experiment import Numbers
from experiments.weak_labels.pools import Pool
from unknot.data.label_evidence import Votes
from unknot.estimator import StructuredVAE

FLIPS = 0.3  # of the noisy rater
RATERS = (0.15, 0.3, 0.45)  # shares of wrong reports of the three raters


def fine_rows(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Return the rows whose class is shown: ``per_class`` of each class, or all if there are fewer, bool ``(N,)``."""
    order = np.random.default_rng([seed, per_class]).permutation(len(y))
    shown = np.zeros(len(y), dtype=bool)
    for k in range(y.max() + 1):
        shown[order[y[order] == k][:per_class]] = True
    return shown


def reports(y: np.ndarray, share: float, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what a rater reports, ``(N,)``, and its confusion matrix.

    A share of each class is reported as another class: half of it as the next one, the rest evenly as the others.
    """
    others = max(classes - 2, 1)
    matrix = np.eye(classes) * (1 - share)
    for k in range(classes):
        for r in range(classes):
            if r != k:
                is_next = r == (k + 1) % classes
                matrix[k, r] = share if classes == 2 else share / 2 if is_next else share / 2 / others
    rng = np.random.default_rng([seed, round(1000 * share)])
    return np.array([rng.choice(classes, p=matrix[k]) for k in y]), matrix


def ours(pool: Pool, labels: Any, seed: int, steps: int | None) -> StructuredVAE:
    """Return the default model of the items, fitted to labels of any form.

    Posts are counts of words; other sets are the numbers that the linear models get. An ensemble has two folds of the
    labels instead of five, for speed, and no model is stacked with a linear one.
    """
    vae = StructuredVAE(
        pool.model if pool.model == "topics" else {"kind": pool.model, "folds": 2},
        classes={"label": pool.tree},
        cross_fit=0,
        steps=steps,
        seed=seed,
        verdict=False,
        verbose=False,
    )
    return vae.fit(_rows(pool)[0], label=labels)


def _rows(pool: Pool) -> tuple[Any, Any]:
    return (pool.x, pool.x_test) if pool.model == "topics" else pool.features


def error(vae: StructuredVAE, pool: Pool) -> float:
    """Return the test error in per cent."""
    return 100 * float((vae.predict_proba(_rows(pool)[1]).argmax(1) != pool.y_test).mean())


def fine(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """The fine labels alone; the other items are unlabeled."""
    shown = fine_rows(pool.y, settings["fine"], seed)
    labels = [pool.names[k] if known else None for k, known in zip(pool.y, shown, strict=True)]
    return {"error": error(ours(pool, labels, seed, settings.get("steps")), pool)}


def coarse(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """The fine labels, and the group of every other item."""
    shown = fine_rows(pool.y, settings["fine"], seed)
    groups = [pool.tree.path(name)[0] for name in pool.names]
    labels = [pool.names[k] if known else groups[k] for k, known in zip(pool.y, shown, strict=True)]
    return {"error": error(ours(pool, labels, seed, settings.get("steps")), pool)}


def linear(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """Logistic regression on the fine labels."""
    x, x_test = pool.features
    shown = fine_rows(pool.y, settings["fine"], seed)
    return {"error": _error_of(_logistic(x[shown], pool.y[shown], x_test, len(pool.names)), pool)}


def product(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """Logistic regression on the fine labels, times one on the groups of all items."""
    x, x_test = pool.features
    shown = fine_rows(pool.y, settings["fine"], seed)
    fine_p = _logistic(x[shown], pool.y[shown], x_test, len(pool.names))
    coarse_p = _logistic(x, pool.groups[pool.y], x_test, pool.groups.max() + 1)
    return {"error": _error_of(fine_p * coarse_p[:, pool.groups], pool)}


def truth(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """The true class of every item."""
    return {"error": error(ours(pool, list(pool.names[pool.y]), seed, settings.get("steps")), pool)}


def raters(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """The votes of three raters, whose confusion matrices are learned."""
    made = [reports(pool.y, share, len(pool.names), seed) for share in RATERS]
    votes = Votes({f"rater {m}": list(pool.names[told]) for m, (told, _) in enumerate(made)})
    vae = ours(pool, votes, seed, settings.get("steps"))
    learned = vae.rater_confusion_["label"].values()
    # a row of the matrix counts as often as its class, because a rare class has few votes
    share = np.bincount(pool.y, minlength=len(pool.names)) / len(pool.y)
    gaps = [(share @ np.abs(found - matrix)).mean() for found, (_, matrix) in zip(learned, made, strict=True)]
    return {"error": error(vae, pool), "confusion": float(np.mean(gaps))}


def majority(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """The class that most of three raters report; the first of them where all differ."""
    told = np.stack([reports(pool.y, share, len(pool.names), seed)[0] for share in RATERS], 1)
    counts = (told[:, :, None] == told[:, None]).sum(2)  # how many agree with each vote
    chosen = told[np.arange(len(told)), counts.argmax(1)]
    return {"error": error(ours(pool, list(pool.names[chosen]), seed, settings.get("steps")), pool)}


def noisy(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """What one rater reports, taken as the truth."""
    told, _ = reports(pool.y, FLIPS, len(pool.names), seed)
    return {"error": error(ours(pool, list(pool.names[told]), seed, settings.get("steps")), pool)}


def noisy_matrix(pool: Pool, settings: Mapping[str, Any], seed: int) -> Numbers:
    """What one rater reports, with a confusion matrix that is learned."""
    told, matrix = reports(pool.y, FLIPS, len(pool.names), seed)
    vae = ours(pool, Votes({"rater": list(pool.names[told])}), seed, settings.get("steps"))
    share = np.bincount(pool.y, minlength=len(pool.names)) / len(pool.y)
    gap = (share @ np.abs(vae.rater_confusion_["label"]["rater"] - matrix)).mean()
    return {"error": error(vae, pool), "confusion": float(gap)}


LEARNERS: Mapping[str, Callable[[Pool, Mapping[str, Any], int], Numbers]] = {
    one.__name__: one for one in (fine, coarse, linear, product, truth, raters, majority, noisy, noisy_matrix)
}


def _logistic(x: np.ndarray, y: np.ndarray, x_test: np.ndarray, classes: int) -> np.ndarray:
    """Return class probabilities of logistic regression; classes without a label have 0."""
    from sklearn.linear_model import LogisticRegression

    found = np.zeros((len(x_test), classes))
    model = LogisticRegression(max_iter=1000).fit(x, y)
    found[:, model.classes_] = model.predict_proba(x_test)
    return found


def _error_of(probabilities: np.ndarray, pool: Pool) -> float:
    return 100 * float((probabilities.argmax(1) != pool.y_test).mean())
