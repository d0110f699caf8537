"""Small trained models of every kind that is exported."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from sklearn.datasets import load_digits, load_wine
from torch import Tensor

import unknot
from unknot import StructuredVAE
from unknot.explorer.graphs import Graphs, export_graphs
from unknot.workflow.trained_model import TrainedModel

STEPS = 20


@cache
def digits() -> StructuredVAE:
    """Images of 8x8 pixels, with a whitened style."""
    images, classes = load_digits(return_X_y=True)
    labels = np.where(np.arange(len(classes)) < 200, classes, -1)
    vae = StructuredVAE("class_style", style=4, separate=True, steps=STEPS, cross_fit=0, verbose=False)
    return vae.fit((images / 16).reshape(-1, 8, 8).astype(np.float32), digit=labels)


@cache
def wine() -> StructuredVAE:
    """An ensemble of a table with words and missing cells."""
    x, classes = load_wine(return_X_y=True, as_frame=True)
    x = x[["alcohol", "hue", "proline"]].astype(object)
    x["strength"] = np.where(x["alcohol"] > 13, "strong", "light")
    x.loc[::7, "hue"] = None
    labels = [str(k) if row % 2 else None for row, k in enumerate(classes)]
    return StructuredVAE(steps=STEPS, cross_fit=0, verbose=False).fit(x, cultivar=labels)


@cache
def exported(name: str) -> tuple[TrainedModel, Graphs]:
    model = {"digits": digits, "wine": wine}[name]().trained_
    with unknot.validation(False):
        return model, export_graphs(model)


def items(name: str, count: int) -> Tensor:
    """Random items that the model may meet; rows of a table have missing cells."""
    draw = torch.Generator().manual_seed(1)
    if name == "digits":
        return torch.rand(count, 1, 8, 8, generator=draw)
    rows = torch.randn(count, 4, generator=draw) * torch.tensor([1.0, 0.3, 300.0, 0]) + torch.tensor(
        [13.0, 1.0, 700.0, 0]
    )
    rows[:, 3] = torch.randint(0, 2, (count,), generator=draw)
    rows[1, :2] = float("nan")
    return rows
