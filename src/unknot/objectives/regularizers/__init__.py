"""Regularizers: penalties beside the objective, functions ``(program, batch, q, p) -> {name: penalty}``."""

from unknot.objectives.regularizers.agreement import agreement
from unknot.objectives.regularizers.independence import independence
from unknot.objectives.regularizers.registry import REGULARIZERS, Regularizer, Regularizers
from unknot.objectives.regularizers.swap import swap

__all__ = ["REGULARIZERS", "Regularizer", "Regularizers", "agreement", "independence", "swap"]
