"""The codes of a model with a class and a style, as the metrics take them."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from unknot.metrics import Probabilities
from unknot.workflow.trained_model import TrainedModel

CLASS, STYLE = "class", "style"


def metric_codes(model: TrainedModel, x: Tensor) -> dict[str, Any]:
    """The class by its masses and the means of the style, of items (N, ...)."""
    found = model.predict(x).predictions
    return {CLASS: Probabilities(found[CLASS].numpy()), STYLE: found[STYLE].numpy()}
