"""Objectives: functions of a recognition trace q and a generative trace p that return named terms."""

from unknot.objectives.elbo import elbo
from unknot.objectives.importance_weighted import importance_weighted
from unknot.objectives.semi_supervised import semi_supervised
from unknot.objectives.supervision import draw_probability, supervision_rate, supervision_weight
from unknot.objectives.terms import Terms

__all__ = [
    "Terms",
    "draw_probability",
    "elbo",
    "importance_weighted",
    "semi_supervised",
    "supervision_rate",
    "supervision_weight",
]
