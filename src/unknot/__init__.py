"""Unknot: structured disentangled representations with partial labels."""

from typing import TYPE_CHECKING, Any

from unknot import objectives
from unknot.core.axes import cat
from unknot.core.evidence import Partial, given, partial
from unknot.core.expectation import expect
from unknot.core.gradients import RunningMean, ScoreFunction
from unknot.core.handlers import block, condition, do, mask, modes, record, replay, scale, seed
from unknot.core.node import Node
from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.core.validation import validation
from unknot.errors import UnknotError
from unknot.graph import graph
from unknot.objectives.check import check
from unknot.objectives.infer_discrete import infer_discrete

if TYPE_CHECKING:
    from unknot.estimator import StructuredClassifier, StructuredRegressor, StructuredVAE
    from unknot.models import GraphicalModel, node
    from unknot.workflow.nested import nested

__version__ = "0.1.0"

__all__ = [
    "GraphicalModel",
    "Node",
    "Partial",
    "RunningMean",
    "ScoreFunction",
    "StructuredClassifier",
    "StructuredRegressor",
    "StructuredVAE",
    "Trace",
    "UnknotError",
    "block",
    "cat",
    "check",
    "condition",
    "do",
    "expect",
    "given",
    "graph",
    "infer_discrete",
    "mask",
    "modes",
    "nested",
    "node",
    "objectives",
    "partial",
    "record",
    "replay",
    "scale",
    "seed",
    "trace",
    "validation",
]

# Loaded at first use: scikit-learn and the networks cost time that `import unknot` need not take.
_LATER = {
    "StructuredClassifier": "estimator",
    "StructuredRegressor": "estimator",
    "StructuredVAE": "estimator",
    "GraphicalModel": "models",
    "node": "models",
    "nested": "workflow.nested",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'unknot' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"unknot.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
