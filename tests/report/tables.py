"""A table with a class and a number to recognize, and answers that are made by hand."""

from __future__ import annotations

import numpy as np
import torch

from unknot.data.dataset import Column, Dataset
from unknot.data.factor import Factor
from unknot.workflow.assembly import assemble
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.trained_model import TrainedModel

RNG = np.random.default_rng(0)
KIND = torch.tensor([0, 1] * 30)
SIZE = torch.from_numpy(RNG.normal(10, 2, 60)).float()
X = torch.stack(
    [KIND * 3 + torch.randn(60, generator=torch.Generator().manual_seed(0)), SIZE, KIND.float()], 1
)
TABLE = (Column("age", "real"), Column("weight", "real"), Column("blood", "category", ("A", "B")))
DATA = Dataset(
    "people",
    X,
    torch.arange(100, 160),
    {
        "kind": Factor("kind", "categorical", KIND, ("ill", "well")),
        "size": Factor("size", "continuous", SIZE),
    },
    table=TABLE,
)


def model() -> TrainedModel:
    """Untrained, of the kind that the data gets."""
    torch.manual_seed(0)
    made = assemble(DATA, {"kind": "class_style", "style": 2, "width": 8}, {}).model
    made.module.eval()
    return made


def answers(wrong: dict[int, float]) -> DatasetPrediction:
    """Right answers, 0.9 sure, but for some rows, with how sure they are; sizes are right."""
    shares = np.where(np.arange(2) == KIND.numpy()[:, None], 0.9, 0.1)
    for row, sure in wrong.items():
        shares[row] = np.where(np.arange(2) == KIND[row].item(), 1 - sure, sure)
    return DatasetPrediction({"kind": shares, "size": SIZE.numpy()[:, None]})
