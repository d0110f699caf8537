"""Assembly: from data, a description of the model and training settings to what is trained, for every door alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.train.config import TrainConfig
from unknot.workflow.data_summary import is_drawn_in_ink
from unknot.workflow.default_models import ClassStyle, DefaultModel, default_model
from unknot.workflow.default_models.class_style import with_columns
from unknot.workflow.labels import check_labels
from unknot.workflow.model_file import described_data
from unknot.workflow.model_source import Described, Joined, ModelSource, read_source
from unknot.workflow.schema import DESCRIBED_KINDS, kind_of
from unknot.workflow.trained_model import TrainedModel


@dataclass(frozen=True)
class Assembly:
    """What is trained, and how.

    Attributes
    ----------
    model : TrainedModel
        The model with its first weights.
    data : Dataset
        The training data, with the labels that may be used.
    config : TrainConfig
        How to train.
    """

    model: TrainedModel
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
    """Build the model and complete the training settings, after a check of everything that can be wrong.

    Parameters
    ----------
    data : Dataset
        The training data, without the labels that may not be used.
    model : mapping or ModelSource
        The ``model`` section of a spec, or a model that was read already.
    train : mapping
        The ``train`` section; what is left out has the defaults of the model.
    labels : iterable of str
        Factors with labels that the user named, so the model must take them.
    words : iterable of str
        Factors whose labels are words, see :class:`TrainedModel`.
    folder : Path
        The folder from which the path of a program is meant.

    Returns
    -------
    Assembly
    """
    source = model_source(data, model, folder)
    if isinstance(source, Joined) and isinstance(data.x, Tensor) and data.x.dtype == torch.uint8:
        data = replace(data, x=data.x.float())  # counts; a batch would scale them as pixels
    config = train_config(data, train, source.default)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        module = _built(source, data)
    trained = TrainedModel(module, source, described_data(data), tuple(words), is_drawn_in_ink(data))
    check_labels(trained.labeled, data, labels)
    return Assembly(trained, data, config)


def model_source(data: Dataset, model: Mapping[str, Any] | ModelSource, folder: Path = Path()) -> ModelSource:
    """Return the model that is asked for; the parameters are those of :func:`assemble`."""
    if isinstance(model, Mapping) and kind_of(model) not in DESCRIBED_KINDS:
        default = default_model(model, data)
        spec = default.spec(data)
        return Joined(spec, default) if isinstance(spec, EnsembleSpec) else Described(spec, default)
    source = read_source(model, folder) if isinstance(model, Mapping) else model
    if isinstance(source, Described):
        return replace(source, spec=with_columns(source.spec, data))
    return source


def train_config(data: Dataset, train: Mapping[str, Any], default: DefaultModel | None = None) -> TrainConfig:
    """Complete training settings by the defaults of the model; a described model has those of class-and-style."""
    return TrainConfig.from_dict((default or ClassStyle()).training(data, train))


def _built(source: ModelSource, data: Dataset) -> nn.Module:
    """Build the module with its first weights; refuse one that is too large."""
    try:
        return source.build(data.item_shape)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        raise SpecError(
            f"model: its weights for items of shape {tuple(data.item_shape)} do not fit into memory; choose smaller "
            "sizes or layers."
        ) from error
