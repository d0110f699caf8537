"""Whether the encoder is right as often as it says."""

from __future__ import annotations

from unknot.data.dataset import Dataset
from unknot.metrics.calibration import reliability
from unknot.plots.reliability import reliability_diagram
from unknot.report.answered import answered
from unknot.report.section import Section
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.trained_model import TrainedModel

_FEWEST = 30  # items from which bins say anything


def calibration(model: TrainedModel, data: Dataset, answers: DatasetPrediction) -> list[Section]:
    """A reliability diagram for every factor with classes."""
    found = []
    for one in answered(model, data, answers):
        if len(one.rows) < _FEWEST:
            continue
        bins = reliability(one.sure, one.guess == one.truth)
        caption = (
            f"How often the encoder is right about {one.factor}, against how sure it is; larger dots are more "
            f"items. Below the line it is too sure. Expected calibration error: {100 * bins.error:.1f} % "
            "(mean distance from the line)."
        )
        drawn = reliability_diagram(bins.sure.tolist(), bins.right.tolist(), bins.items.tolist())
        found.append(Section(f"Calibration: {one.factor}", caption, drawn))
    return found
