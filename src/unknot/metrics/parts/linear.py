"""Linear classifiers with scikit-learn, quiet when the protocol's number of rounds ends before they converge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def fit_logistic(
    x: np.ndarray,
    y: np.ndarray,
    penalty: float = np.inf,
    balanced: bool = False,
    tolerance: float = 1e-4,
    iterations: int = 100,
) -> Any:
    """A multinomial logistic regression by lbfgs; ``penalty`` is scikit-learn's C, infinite for none."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=penalty, class_weight="balanced" if balanced else None, tol=tolerance, max_iter=iterations
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)
