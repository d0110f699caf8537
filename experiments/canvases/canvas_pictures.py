"""Pictures of canvases: what was seen, what the model makes of it, and the digits it is made of (S17 Figs. 5 and 6)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from experiments.canvases.canvas_scores import found_by
from unknot.data.dataset import Dataset
from unknot.plots.images import boxed_images
from unknot.plots.style import save
from unknot.workflow.pictures import parts, reconstructions
from unknot.workflow.trained_model import TrainedModel

_OF_EACH = 3  # canvases of each count
CAPTIONS = {
    "canvases": (
        "Test canvases with what was found on them, boxes and digits; what the model makes of the whole; and the "
        "digits that it is made of, each in its place. The first of each count."
    ),
}


def draw_canvases(model: TrainedModel, test: Dataset, path: Path) -> None:
    """Inputs with boxes, reconstructions and decompositions of the first canvases of each count."""
    count = test.factor("count").values
    rows = torch.cat([(count == one).nonzero()[:_OF_EACH, 0] for one in count.unique()])
    x = test.batch(rows).x
    found = found_by(model, x)
    digits = parts(model, x)
    assert digits is not None
    drawn = np.concatenate([reconstructions(model, x), digits])  # (2 + K, N, 1, C, C)
    names = ["canvas", "made anew", *(f"digit {k + 1}" for k in range(len(digits)))]
    words = [[str(digit) for digit in on_one] for on_one in found.digit]
    save(boxed_images(drawn.clip(0, 1), found.place, words, rows=names), path)
