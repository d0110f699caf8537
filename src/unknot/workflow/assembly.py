"""Assembly: from data, a model's description and training settings to what is trained, for every door alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.plots.image_grid import drawn_in_ink
from unknot.schema import check
from unknot.train.config import TrainConfig
from unknot.train.objective import resolve
from unknot.workflow.labels import check_labels, share_of_labels
from unknot.workflow.model_file import described_data
from unknot.workflow.model_for_data import model_for_data, with_columns
from unknot.workflow.model_source import Described, ModelSource, read_source
from unknot.workflow.program import trainable
from unknot.workflow.schema import DEFAULT_MODEL
from unknot.workflow.trained_model import TrainedModel

# Where nothing is said.
STEPS, BATCH_SIZE, ALPHA = 1000, 256, 20.0


@dataclass(frozen=True)
class Assembly:
    """The model with its first weights, the data with the labels that may be seen, and how to train.

    ``trainee`` is the module that training calls with a batch.
    """

    model: TrainedModel
    trainee: nn.Module
    data: Dataset
    config: TrainConfig


def assemble(
    data: Dataset,
    model: Mapping[str, Any] | ModelSource,
    train: Mapping[str, Any],
    *,
    labels: Iterable[str] = (),
    words: Iterable[str] = (),
    folder: Path = Path(),
) -> Assembly:
    """Put together what is trained, after a look at whatever can be wrong.

    - ``data``: the training data; labels that may not be seen are gone from it.
    - ``model``: where the model comes from; a description, or options of the default model.
    - ``train``: training settings; what is left out has defaults.
    - ``labels``: factors whose labels somebody asked for, which the model must therefore take.
    - ``words``: factors whose labels are words (see :class:`TrainedModel`).
    - ``folder``: from where a program's file is meant.
    """
    source = model_source(data, model, folder)
    config = train_config(data, train)
    resolve(config.objective, len(data))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        module = _built(source, data)
    trained = TrainedModel(module, source, described_data(data), tuple(words), _ink(data))
    check_labels(trained.labelled, data, labels)
    return Assembly(trained, trainable(module), data, config)


def model_source(data: Dataset, model: Mapping[str, Any] | ModelSource, folder: Path = Path()) -> ModelSource:
    """The model that a description means: its own nodes or program, or the default one with options."""
    if not isinstance(model, Mapping):
        source = model
    elif "nodes" in model or "program" in model:
        source = read_source(model, folder)
    else:
        check(model, DEFAULT_MODEL, "model")
        return Described(model_for_data(data, **model))
    return Described(with_columns(source.spec, data)) if isinstance(source, Described) else source


def train_config(data: Dataset, train: Mapping[str, Any]) -> TrainConfig:
    """Training settings, with the defaults for what is not said."""
    chosen = dict(train)
    if chosen.get("epochs") is None:
        chosen.setdefault("steps", STEPS)
    if chosen.get("objective") is None:
        labelled = {"name": "semi_supervised", "alpha": ALPHA}
        chosen["objective"] = labelled if data.factors else "elbo"
    chosen.setdefault("batch_size", min(BATCH_SIZE, len(data)))
    chosen.setdefault("labelled_share", share_of_labels(data))
    config = TrainConfig.from_dict(chosen)
    if config.patience is not None and not any(bool(f.known.any()) for f in data.factors.values()):
        raise SpecError("train: patience stops by the error on held-out labels, but no label may be seen.")
    return config


def _built(source: ModelSource, data: Dataset) -> nn.Module:
    """The module with its first weights; one that is too large is refused."""
    try:
        return source.build(data.item_shape)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        raise SpecError(
            f"model: its weights for items of shape {tuple(data.item_shape)} do not fit into memory; choose smaller "
            "sizes or layers."
        ) from error


def _ink(data: Dataset) -> bool:
    """Whether items are images of dark strokes on a page."""
    if len(data.item_shape) != 3:
        return False
    return drawn_in_ink(data.batch(range(min(64, len(data)))).x.cpu().numpy())
