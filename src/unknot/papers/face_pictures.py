"""Pictures of faces: one person under many lights, and many people under one light (S17 Fig. 4)."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from unknot.core.given_values import given
from unknot.data.dataset import Dataset
from unknot.models.graphical_model import GraphicalModel
from unknot.plots.image_grid import image_grid
from unknot.plots.style import save
from unknot.workflow.pictures import one_of_each

_SHOWN = 8
CAPTIONS = {
    "relit": (
        "Left, test images; right, the same person under other lights: along a row the person stays, down a column the "
        "light does (top: the image whose recognised light it is)."
    ),
    "swapped": (
        "Left, test images; right, other people under the same light: along a row the light stays, down a column the "
        "person does (top: an image of that person)."
    ),
}


def draw_faces(model: GraphicalModel, test: Dataset, folder: Path) -> None:
    """Both pictures, from test images of different people under different lights."""
    people = model.spec["identity"].size or 0
    x = test.batch(one_of_each(test.factor("identity").values, people)[:_SHOWN]).x
    with torch.no_grad():
        values = model.recognise(x).values
    for name, factor, title in (
        ("relit", "light", "the person of the left, the light of the top"),
        ("swapped", "identity", "the light of the left, the person of the top"),
    ):
        rows = [torch.cat([torch.ones_like(x[:1]), x])]  # the top row, under an empty corner
        rows += [
            torch.cat([x[r : r + 1], _row(model, x[r : r + 1], factor, values[factor])])
            for r in range(len(x))
        ]
        images = torch.stack(rows).clamp(0, 1).numpy()  # (1 + N, 1 + N, 1, H, W)
        save(
            image_grid(images, separate_first=True, ink=False, title=title, cell=0.6), folder / f"{name}.png"
        )


def _row(model: GraphicalModel, item: Tensor, factor: str, settings: Tensor) -> Tensor:
    """One item ``(1, 1, H, W)`` with each setting of a factor; the shape follows it, as q(s | i, l) says."""
    count = len(settings)
    with torch.no_grad():
        values = model.recognise(item.expand(count, *item.shape[1:]), {factor: settings}).values
        return model.expected(given(count, values))
