"""Pictures of faces: one person under many lights, and many people under one light (S17 Fig. 4)."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from unknot.core.given import given
from unknot.data.dataset import Dataset
from unknot.experiments.pictures import one_of_each
from unknot.models.graphical_model import GraphicalModel
from unknot.plots.image_grid import image_grid
from unknot.plots.style import save

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
        rows += [torch.cat([x[r : r + 1], _row(model, values, r, factor)]) for r in range(len(x))]
        images = torch.stack(rows).clamp(0, 1).numpy()  # (1 + N, 1 + N, 1, H, W)
        save(
            image_grid(images, separate_first=True, ink=False, title=title, cell=0.6), folder / f"{name}.png"
        )


def _row(model: GraphicalModel, values: dict[str, Tensor], row: int, factor: str) -> Tensor:
    """One item with the factor of every other item, ``(N, 1, H, W)``; the shape follows identity and light."""
    count = len(values[factor])
    mixed = {name: value[row].expand(count, *value.shape[1:]) for name, value in values.items()}
    mixed[factor] = values[factor]
    with torch.no_grad():
        mixed["shape"] = shape_of(model, mixed["identity"], mixed["light"])
        return model.expected(given(count, mixed))


def shape_of(model: GraphicalModel, identity: Tensor, light: Tensor) -> Tensor:
    """The mean of q(s | i, l), which looks at no image."""
    inputs = {
        "identity": model.families["identity"].features(identity),  # type: ignore[operator]
        "light": model.families["light"].features(light),  # type: ignore[operator]
    }
    return model.families["shape"].summary(model._recognised(model.spec["shape"], inputs))  # type: ignore[operator]
