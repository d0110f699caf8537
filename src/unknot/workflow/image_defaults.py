"""The default of images whose labels are classes: two views read alike, and a style that has time to begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unknot.data.dataset import Dataset
from unknot.models.spec import ModelSpec

# A jitter that leaves nearly anything what it is, in radians and fractions of half a side.
DRAWN = {"turn": 0.12, "scale": 0.1, "shear": 0.12, "shift": 0.06}
# Of photographs the light too; beyond their edge they go on as they end.
PHOTOGRAPHED = {**DRAWN, "gain": 0.1, "gamma": 0.1}
AGREEMENT, CONFIDENCE = 100.0, 0.9
# In the first steps the style's divergence has a tenth of its weight: small images lose their style otherwise, before
# the generator knows what to do with it, and the bound is the worse for it. Short runs have no time for that.
WARM_STEPS, WARM_WEIGHT, SHORT_RUN = 300, 0.1, 900
FEWEST_PIXELS = 8  # along a side: below that a jitter is no small one


def suits_two_views(data: Dataset) -> bool:
    """Whether the items are images, and all that is labeled are classes: a number may change with the jitter."""
    shape = data.item_shape
    if len(shape) != 3 or min(shape[1:]) < FEWEST_PIXELS or not data.factors:
        return False
    return all(f.kind in ("categorical", "binary") and bool(f.known.any()) for f in data.factors.values())


def two_views(ink: bool) -> dict[str, Any]:
    """Settings of the model: a jittered image is read as the image itself (:mod:`unknot.models.agreement`).

    ``ink``: the images are strokes on an empty page, no photographs.
    """
    return {
        "augment": DRAWN if ink else PHOTOGRAPHED,
        "agreement": AGREEMENT,
        "confidence": CONFIDENCE,
    }


def has_two_views(spec: ModelSpec) -> bool:
    """Whether a model is this default."""
    return spec.agreement == AGREEMENT and spec.augment in (DRAWN, PHOTOGRAPHED)


def warm_up(spec: ModelSpec, objective: Mapping[str, Any], steps: int) -> list[dict[str, Any]]:
    """The stage in which the style begins (:mod:`unknot.train.stages`); none in a short run."""
    beta = {node.name: WARM_WEIGHT for node in spec.latents if not node.labels}
    return [{"steps": WARM_STEPS, "objective": {**objective, "beta": beta}}] if steps >= SHORT_RUN else []
