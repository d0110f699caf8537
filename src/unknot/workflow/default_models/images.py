"""Images: the default model of images whose labels are classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from unknot.data.dataset import Dataset
from unknot.models.ensemble.spec import free_name
from unknot.models.spec import ModelSpec
from unknot.workflow.data_summary import is_drawn_in_ink
from unknot.workflow.default_models.base import NOTHING, is_named, with_regularizers
from unknot.workflow.default_models.class_style import ClassStyle


@dataclass(frozen=True)
class Images(ClassStyle):
    """Images whose labels are classes: the predictions for two views of an image must agree.

    In the first steps the divergence of the style has a tenth of its weight: in small images the style is lost
    otherwise before the decoder uses it. Short runs have no time for that. Of larger images steps and batches are
    fewer, so that the time does not grow with the number of pixels.
    """

    name: ClassVar[str] = "images"
    # Amounts of jitter that keep nearly every class, in radians and fractions of half a side; in photographs also the
    # light changes.
    DRAWN: ClassVar[Mapping[str, float]] = {"turn": 0.12, "scale": 0.1, "shear": 0.12, "shift": 0.06}
    PHOTOGRAPHED: ClassVar[Mapping[str, float]] = {**DRAWN, "gain": 0.1, "gamma": 0.1}
    AGREEMENT: ClassVar[Mapping[str, Any]] = {"agreement": {"weight": 100.0, "confidence": 0.9}}
    WARM_STEPS, WARM_WEIGHT, SHORT_RUN = 300, 0.1, 900
    FEWEST_PIXELS = 8  # along a side
    USUAL_PIXELS = 32 * 32  # of larger images steps and batches are fewer
    FEWEST_STEPS, SMALLEST_BATCH = 300, 64

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        shape = data.item_shape
        if len(shape) != 3 or min(shape[1:]) < cls.FEWEST_PIXELS:
            return f"needs images of at least {cls.FEWEST_PIXELS} x {cls.FEWEST_PIXELS} pixels"
        if not any(f.kind in ("categorical", "binary") for f in data.factors.values()):
            return "needs labels that are classes"
        return ""

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        kinds = {factor.kind for factor in data.factors.values()}  # jitter may change a number
        known = all(bool(factor.observed.any()) for factor in data.factors.values())
        return not cls.unsuitable(data) and kinds <= {"categorical", "binary"} and known

    def spec(self, data: Dataset) -> ModelSpec:
        jitter = self.augment or (self.DRAWN if is_drawn_in_ink(data) else self.PHOTOGRAPHED)
        return replace(super().spec(data), augment=jitter)

    def _training(self, data: Dataset) -> dict[str, Any]:
        made = super()._training(data)
        share = min(1.0, self.USUAL_PIXELS / data.item_shape[1:].numel())
        return {
            **made,
            "steps": max(self.FEWEST_STEPS, round(share * made["steps"])),
            "batch_size": min(
                made["batch_size"], max(self.SMALLEST_BATCH, round(share * made["batch_size"]))
            ),
            "objective": with_regularizers(made["objective"], self.AGREEMENT),
        }

    def training(self, data: Dataset, given: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        made = super().training(data, given)
        long = made.get("steps") is not None and made["steps"] >= self.SHORT_RUN
        if long and given.get("stages") is None and not is_named(given.get("objective")):
            weights = {free_name("style", data.factors): self.WARM_WEIGHT}
            made["stages"] = [{"steps": self.WARM_STEPS, "objective": {**made["objective"], "beta": weights}}]
        return made
