"""EarlyStopping: remember the best validation score and its weights, and say when to stop."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor


class EarlyStopping:
    """Scores are better when larger. Stops after ``patience`` validations in a row without a new best.

    Without patience it only remembers the best score, not the weights.
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.best = -math.inf
        self.best_step = 0
        self.worse = 0
        self.weights: dict[str, Tensor] = {}

    def observe(self, score: float, step: int) -> bool:
        """Take in a score; true if it is the best so far. NaN never is."""
        if score > self.best:
            self.best, self.best_step, self.worse = score, step, 0
            return True
        self.worse += 1
        return False

    @property
    def exhausted(self) -> bool:
        return self.patience is not None and self.worse >= self.patience

    def state(self) -> dict[str, Any]:
        best = self.best if math.isfinite(self.best) else None
        return {"best": best, "best_step": self.best_step, "worse": self.worse}

    def restore(self, state: dict[str, Any], weights: dict[str, Tensor]) -> None:
        self.best = -math.inf if state["best"] is None else state["best"]
        self.best_step, self.worse = state["best_step"], state["worse"]
        self.weights = weights
