"""Pictures of faces: other lights and other people (S17 Fig. 4), and comparison with real photographs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.plots.images import image_grid
from unknot.plots.style import save
from unknot.workflow.labels import has_classes
from unknot.workflow.pictures import one_of_each
from unknot.workflow.trained_model import TrainedModel

_SHOWN = 8
CAPTIONS = {
    "relit": (
        "First column: test images, and in the second, in pictures of newer code, their reconstructions. Others: the "
        "same person under the light that is inferred from the image at the top of the column."
    ),
    "swapped": (
        "First column: test images, and in the second, in pictures of newer code, their reconstructions. Others: the "
        "person that is inferred from the image at the top of the column, under the same light."
    ),
}


def draw_faces(model: TrainedModel, test: Dataset, folder: Path) -> None:
    """Draw both pictures from test images of different people under different lights."""
    people = model.node("identity").size or 0
    x = test.batch(one_of_each(test.factor("identity").values, people)[:_SHOWN]).x
    values, drawn = model.predict(x).values, model.reconstruct(x)
    for name, factor, title in (
        ("relit", "light", "person of the row, light of the column"),
        ("swapped", "identity", "light of the row, person of the column"),
    ):
        rows = [torch.cat([torch.ones_like(x[:2]), x])]  # the top row, beside an empty corner
        varied = model.vary(x, factor, _settings(model, factor, values[factor]))  # (N, N, 1, H, W)
        rows += [
            torch.cat([item[None], own[None], row]) for item, own, row in zip(x, drawn, varied, strict=True)
        ]
        images = torch.stack(rows).clamp(0, 1).numpy()  # (1 + N, 2 + N, 1, H, W)
        save(
            image_grid(images, separate_first=True, ink=False, title=title, cell=0.6), folder / f"{name}.png"
        )


def _settings(model: TrainedModel, factor: str, values: Tensor) -> Tensor:
    """Return inferred values as settings: people as indices, directions unchanged."""
    return values.argmax(-1) if has_classes(model.node(factor)) else values


def draw_beside_truth(
    real: np.ndarray,
    relit_from: np.ndarray,
    relit: np.ndarray,
    swapped_from: np.ndarray,
    swapped: np.ndarray,
    person: np.ndarray,
    folder: Path,
) -> None:
    """Draw sources, counterfactuals and real photographs ``(N, H, W)`` of some people.

    ``relit_from`` and ``swapped_from`` are the rows of the sources of ``relit`` and ``swapped``, -1 for none.
    """
    usable = np.flatnonzero((relit_from >= 0) & (swapped_from >= 0))
    people = np.unique(person[usable])[:_SHOWN]
    own = [usable[person[usable] == one] for one in people]
    rows = np.array([theirs[k % len(theirs)] for k, theirs in enumerate(own)])  # another light for each
    lines = {
        "source, same person": real[relit_from[rows]],
        "relit": relit[rows],
        "real photograph": real[rows],
        "swapped": swapped[rows],
        "source": real[swapped_from[rows]],
        "relit - real": 0.5 + 0.5 * (relit[rows] - real[rows]),
    }
    images = np.stack(list(lines.values()))[:, :, None]  # (6, people, 1, H, W)
    title = "relit and swapped faces, and the real photograph of that person under that light"
    save(image_grid(images, rows=tuple(lines), ink=False, title=title, cell=0.9), folder / "beside-truth.png")
