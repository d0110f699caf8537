"""Canvases with digits, the model of single digits that is nested, and the model of canvases around it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from experiments.canvases.model import canvas as program
from experiments.canvases.model.cell_map import CellMap, over_views
from experiments.ledger.fit import fit_wholly, train_quietly
from unknot.core.evidence import partial
from unknot.core.trace import Trace
from unknot.data import load
from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.data.label_rule import SameAs
from unknot.data.sets.multi_mnist import make_multi_mnist
from unknot.models.networks.mlp import mlp
from unknot.train.config import TrainConfig
from unknot.workflow.assembly import assemble
from unknot.workflow.recipe import Recipe
from unknot.workflow.trained_model import TrainedModel

# A plain counter: convolutions and a classifier, what one would try first where only counts are wanted.

_CHUNK = 1000  # canvases counted at once


class Counter(nn.Module):
    """The count from the mean and the largest of each feature of a canvas; it too sees flipped and transposed ones."""

    def __init__(self, canvas: int, most: int) -> None:
        super().__init__()
        self.cells = CellMap(canvas)
        self.count = mlp(2 * self.cells.features, [self.cells.features], most + 1)

    def forward(self, batch: Batch) -> tuple[Trace, Trace]:
        q = Trace()
        known = partial(batch.values["count"])
        logits = self.logits(batch.x)  # (B, counts)
        q.categorical(logits=logits, value=known, name="count", gradient="enumerate")
        p = Trace()
        p.categorical(logits=torch.zeros_like(logits[0]), value=q["count"], name="count")
        return q, p

    def logits(self, x: Tensor) -> Tensor:
        views = [features for features, _ in self.cells(x)]  # (B, cells, D) each
        return over_views([self.count(torch.cat([seen.mean(1), seen.amax(1)], -1)) for seen in views])


def counter_accuracy(shown: Dataset, test: Dataset, train: Mapping[str, Any], seed: int) -> float:
    """Per cent of test canvases that a counter, trained on the labeled ones alone, counts right."""
    labeled = shown.labeled("count")
    torch.manual_seed(seed)
    counter = Counter(shown.item_shape[-1], int(labeled.factor("count").values.max()))
    config = TrainConfig.from_dict({**train, "seed": seed, "progress": False, "device": "cpu"})
    fit_wholly(counter, labeled, config)
    right = 0
    with torch.no_grad():
        for rows in torch.arange(len(test)).split(_CHUNK):
            batch = test.batch(rows)
            right += int((counter.logits(batch.x).argmax(-1) == batch.values["count"]).sum())
    return 100 * right / len(test)


SMALL = 20  # pixels of a canvas with the embedded digits


def canvases(digits: str, **options: Any) -> Dataset:
    """Canvases of MNIST's digits, or of the small embedded ones; ``options`` as of ``make_multi_mnist``."""
    if digits == "mnist":
        return load("multi-mnist", **options)
    source = load(digits)
    labels = source.factor("digit").values
    return make_multi_mnist(source.x, labels, canvas=SMALL, splits=source.splits, **options)


def labeled(train: Dataset, number: int | None, seed: int) -> Dataset:
    """The canvases of which so many, drawn evenly, show all their labels and the others none; None: all show them."""
    if number is None:
        return train
    if number == 0:
        nobody = torch.zeros(len(train), dtype=torch.bool)
        return replace(train, factors={name: factor.hide(nobody) for name, factor in train.factors.items()})
    rest = {name: SameAs("count") for name in train.factors if name != "count"}
    return LabelBudget.draw(train, seed, count=number, **rest).apply(train)


def fitted_canvas(data: Dataset, settings: Mapping[str, Any], seed: int) -> TrainedModel:
    """The model of canvases, trained on the data, around the model of single digits as it was trained on its own.

    In up to three turns, each as the settings of its name say, or not at all: ``dreams`` (the finder learns from
    canvases that the generative program makes), ``finder`` (from labeled canvases, alone: a frozen digit model adds
    nothing to what they teach) and ``train`` (the whole model).
    """
    digit = digit_model(settings["digits"], json.dumps(settings["digit"], sort_keys=True))
    side = TrainedModel.load(digit.name).shape[-1]
    model = {
        "program": f"{Path(program.__file__)}:Canvas",
        "nested": {"digit": {"path": digit.name, "frozen": settings["frozen"]}},
        "arguments": {
            "looks": settings["looks"],
            "canvas": data.item_shape[-1],
            "side": side,
            "ways": settings.get("ways", 1),
            **_counts(settings["canvases"].get("counts", (1, 2, 3))),
        },
    }
    quiet = {"seed": seed, "progress": False, "device": "cpu"}
    turns = [name for name in ("dreams", "finder", "train") if settings.get(name) is not None]
    assembled = assemble(data, model, {**settings[turns[-1]], **quiet})
    for turn in turns:
        config = TrainConfig.from_dict({**settings[turn], **quiet})
        if turn == "finder":
            fit_wholly(assembled.model.module.get_submodule("finder"), data.labeled("count"), config)
        else:
            fit_wholly(assembled.model.module, data, config)
    assembled.model.module.eval()
    return assembled.model


def _counts(counts: Sequence[int]) -> dict[str, int]:
    return {"fewest": min(counts), "most": max(counts)}


@lru_cache(maxsize=1)
def digit_model(digits: str, settings: str) -> tempfile.TemporaryDirectory[str]:
    """A folder with a model of single digits, trained once in a process on all labels; always from the same seed."""
    chosen = json.loads(settings)
    trained = train_quietly(
        Recipe({"name": digits}, {"budget": {"digit": "all"}}, chosen["model"], chosen["train"])
    )
    folder = tempfile.TemporaryDirectory()
    trained.model.save(folder.name)
    return folder
