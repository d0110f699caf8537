"""Probes: how much of a factor simple classifiers read from codes that should not hold it."""

from __future__ import annotations

import numpy as np

from unknot.metrics.classification import error_rate

NEIGHBOURS = 5


def linear_probe_error(
    codes: np.ndarray, classes: np.ndarray, test_codes: np.ndarray, test_classes: np.ndarray
) -> float:
    """Error rate, on the test codes ``(N', D)``, of a logistic regression fitted to codes ``(N, D)``.

    Codes are standardised with the mean and spread of the first set. If they say nothing of the class, the error
    is that of always naming the commonest one: 0.9 for ten classes of one size.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return _error(probe, codes, classes, test_codes, test_classes)


def neighbour_probe_error(
    codes: np.ndarray, classes: np.ndarray, test_codes: np.ndarray, test_classes: np.ndarray
) -> float:
    """Error rate of a vote of the five nearest standardised codes: finds what no line separates."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    probe = make_pipeline(StandardScaler(), KNeighborsClassifier(NEIGHBOURS))
    return _error(probe, codes, classes, test_codes, test_classes)


def _error(
    probe: object, codes: np.ndarray, classes: np.ndarray, test_codes: np.ndarray, test_classes: np.ndarray
) -> float:
    known = classes >= 0
    probe.fit(codes[known], classes[known])  # type: ignore[attr-defined]
    return error_rate(test_classes, probe.predict(test_codes))  # type: ignore[attr-defined]
