"""Canvases with digits, the model of single digits that is nested, and the model of canvases around it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from unknot.data import load
from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.data.label_rule import SameAs
from unknot.data.sets.multi_mnist import make_multi_mnist
from unknot.models.canvas import canvas as program
from unknot.papers.quiet_training import fit_wholly, train_quietly
from unknot.train.config import TrainConfig
from unknot.workflow.assembly import assemble
from unknot.workflow.recipe import Recipe
from unknot.workflow.trained_model import TrainedModel

SMALL = 20  # pixels of a canvas with the embedded digits


def canvases(digits: str, **options: Any) -> Dataset:
    """Canvases of MNIST's digits, or of the small embedded ones; ``options`` as of ``make_multi_mnist``."""
    if digits == "mnist":
        return load("multi-mnist", **options)
    source = load(digits)
    labels = source.factor("digit").values
    return make_multi_mnist(source.x, labels, canvas=SMALL, splits=source.splits, **options)


def labelled(train: Dataset, number: int | None, seed: int) -> Dataset:
    """The canvases of which so many, drawn evenly, show all their labels and the others none; None: all show them."""
    if number is None:
        return train
    rest = {name: SameAs("count") for name in train.factors if name != "count"}
    return LabelBudget.draw(train, seed, count=number, **rest).apply(train)


def fitted_canvas(data: Dataset, settings: Mapping[str, Any], seed: int) -> TrainedModel:
    """The model of canvases, trained on the data, around the model of single digits as it was trained on its own.

    Where ``settings["finder"]`` says how, its finder is trained first, alone and on labelled canvases: a frozen digit
    model adds nothing to what they teach. Then the whole model, unless ``settings["train"]`` is None.
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
            **_counts(settings["canvases"].get("counts", (1, 2, 3))),
        },
    }
    quiet = {"seed": seed, "progress": False, "device": "cpu"}
    first, train = settings.get("finder"), settings["train"]
    assembled = assemble(data, model, {**(train or first or {}), **quiet})
    if first is not None:
        finder = assembled.trainee.get_submodule("finder")
        fit_wholly(finder, data.labelled("count"), TrainConfig.from_dict({**first, **quiet}))
    if train is not None:
        fit_wholly(assembled.trainee, data, assembled.config)
    assembled.trainee.eval()
    return assembled.model


def _counts(counts: Sequence[int]) -> dict[str, int]:
    return {"fewest": min(counts), "most": max(counts)}


@lru_cache(maxsize=1)
def digit_model(digits: str, settings: str) -> tempfile.TemporaryDirectory[str]:
    """A folder with a model of single digits, trained once in a process on all labels; always from the same seed."""
    chosen = json.loads(settings)
    trained = train_quietly(Recipe({"name": digits}, {"digit": "all"}, chosen["model"], chosen["train"]))
    folder = tempfile.TemporaryDirectory()
    trained.model.save(folder.name)
    return folder
