"""Unknot: structured disentangled representations with partial labels."""

from unknot import objectives
from unknot.core.axes import cat
from unknot.core.check import check
from unknot.core.given import given
from unknot.core.gradients.score_function import RunningMean, ScoreFunction
from unknot.core.graph import graph
from unknot.core.node import Node
from unknot.core.partial import Partial, partial
from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.errors import UnknotError

__version__ = "0.1.0"

__all__ = [
    "Node",
    "Partial",
    "RunningMean",
    "ScoreFunction",
    "Trace",
    "UnknotError",
    "cat",
    "check",
    "given",
    "graph",
    "objectives",
    "partial",
    "validation",
]
