"""DCI's disentanglement and completeness of any matrix of importances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Entropic:
    """Both scores, and what each code and each factor adds to them."""

    disentanglement: float
    completeness: float
    by_code: np.ndarray
    by_factor: np.ndarray


def entropic(importance: np.ndarray) -> Entropic:
    """``D = Σ_j ρ_j (1 - H_K(P_j))`` over codes, ``C = Σ_k ρ_k (1 - H_D(P_k))`` over factors (Eastwood & Williams).

    ``importance`` is ``(D, K)`` and not negative. P_j is row j, P_k column k, each divided by its sum; ρ is the share
    of that sum in the whole; H_n is the entropy to the base n. Nothing important: both are 0.

    >>> entropic(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])).disentanglement
    1.0
    """
    rows, columns = concentration(importance), concentration(importance.T)
    total = max(float(importance.sum()), np.finfo(float).tiny)
    disentanglement = float(rows @ importance.sum(1) / total)
    completeness = float(columns @ importance.sum(0) / total)
    return Entropic(disentanglement, completeness, rows, columns)


def concentration(importance: np.ndarray) -> np.ndarray:
    """``1 - H_n(P)`` of each row: 1 if all lies in one place, 0 if spread evenly or if there is nothing."""
    total = importance.sum(1, keepdims=True)
    places = importance.shape[1]
    if places == 1:
        return (total[:, 0] > 0).astype(float)
    shares = importance / np.where(total > 0, total, 1.0)
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.where(total[:, 0] > 0, 1 + (shares * logs).sum(1) / np.log(places), 0.0)
