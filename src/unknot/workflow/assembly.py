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
from unknot.models.spec import read_spec
from unknot.plots.images import drawn_in_ink
from unknot.schema import check
from unknot.train.config import TrainConfig
from unknot.train.objective import resolve
from unknot.workflow.defaults import ENSEMBLE_TRAINING, ensemble_for, is_table, suits_ensemble
from unknot.workflow.image_defaults import has_two_views, suits_two_views, two_views, warm_up
from unknot.workflow.labels import check_labels, share_of_labels
from unknot.workflow.model_file import described_data
from unknot.workflow.model_for_data import model_for_data, with_columns
from unknot.workflow.model_source import Described, Joined, ModelSource, read_source
from unknot.workflow.schema import DEFAULT_MODEL
from unknot.workflow.text_defaults import TEXT_TRAINING, suits_text_model, text_model
from unknot.workflow.trained_model import TrainedModel

# Where nothing is said.
STEPS, BATCH_SIZE, ALPHA = 1000, 256, 20.0


@dataclass(frozen=True)
class Assembly:
    """The model with its first weights, the data with the labels that may be seen, and how to train."""

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
    """Put together what is trained, after a look at whatever can be wrong.

    - ``data``: the training data; labels that may not be seen are gone from it.
    - ``model``: where the model comes from; a description, or options of the default model.
    - ``train``: training settings; what is left out has defaults.
    - ``labels``: factors whose labels somebody asked for, which the model must therefore take.
    - ``words``: factors whose labels are words (see :class:`TrainedModel`).
    - ``folder``: from where a program's file is meant.
    """
    source = model_source(data, model, folder, train)
    config = train_config(data, train, source)
    resolve(config.objective, len(data))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        module = _built(source, data)
    trained = TrainedModel(module, source, described_data(data), tuple(words), _ink(data))
    check_labels(trained.labeled, data, labels)
    return Assembly(trained, data, config)


def model_source(
    data: Dataset,
    model: Mapping[str, Any] | ModelSource,
    folder: Path = Path(),
    train: Mapping[str, Any] | None = None,
) -> ModelSource:
    """The model that a description means: its own nodes or program, an ensemble, or the default one with options.

    Where neither the description nor the training settings ask for anything, the data decide
    (:mod:`unknot.workflow.defaults`).
    """
    if not isinstance(model, Mapping):
        source = model
    elif "ensemble" in model:
        return _ensemble(data, model)
    elif not model and _nothing_said(train or {}) and suits_ensemble(data):
        return Joined(ensemble_for(data))
    elif not model and _nothing_said(train or {}) and suits_text_model(data):
        return Described(read_spec(text_model(data)))
    elif not model and _nothing_said(train or {}) and suits_two_views(data):
        return Described(model_for_data(data, **two_views(_ink(data))))
    elif "nodes" in model or "program" in model:
        source = read_source(model, folder)
    else:
        check(model, DEFAULT_MODEL, "model")
        return Described(model_for_data(data, **model))
    return Described(with_columns(source.spec, data)) if isinstance(source, Described) else source


def train_config(data: Dataset, train: Mapping[str, Any], source: ModelSource | None = None) -> TrainConfig:
    """Training settings, with the defaults for what is not said."""
    chosen = dict(train)
    usual = (
        ENSEMBLE_TRAINING if isinstance(source, Joined) else TEXT_TRAINING if is_text_model(source) else None
    )
    if usual is not None:
        chosen = {**usual, **{key: v for key, v in chosen.items() if v is not None}}
        if chosen.get("epochs") is not None and train.get("steps") is None:
            del chosen["steps"]
        chosen["batch_size"] = min(chosen["batch_size"], len(data))
    if chosen.get("epochs") is None:
        chosen.setdefault("steps", STEPS)
    if chosen.get("objective") is None:
        labeled = {"name": "semi_supervised", "alpha": ALPHA}
        chosen["objective"] = labeled if data.factors else "elbo"
        if isinstance(source, Described) and has_two_views(source.spec) and chosen.get("steps"):
            chosen.setdefault("stages", warm_up(source.spec, labeled, chosen["steps"]))
    chosen.setdefault("batch_size", min(BATCH_SIZE, len(data)))
    chosen.setdefault("labeled_share", share_of_labels(data))
    return TrainConfig.from_dict(chosen)


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


def _ensemble(data: Dataset, model: Mapping[str, Any]) -> ModelSource:
    """The ensemble that a description means: whole, as a saved model has it, or options of the default one."""
    described = dict(model["ensemble"] or {})
    if "columns" in described or len(model) > 1:
        return read_source(model, Path())
    if not is_table(data):
        raise SpecError(
            f"model: an ensemble is for tables, but {data.name} has items of {tuple(data.item_shape)}."
        )
    return Joined(ensemble_for(data, **described))


def kept_default(source: ModelSource) -> dict[str, Any]:
    """How a run writes down the default model that it got: whole, where another would come of its own settings."""
    if isinstance(source, Joined):
        return {"ensemble": {}}
    if isinstance(source, Described) and (is_text_model(source) or has_two_views(source.spec)):
        return source.to_dict()
    return {}


def is_text_model(source: ModelSource | None) -> bool:
    """Whether a class is recognized by Bayes' rule: such models are trained in a way of their own."""
    return isinstance(source, Described) and any(n.encoder == "bayes" for n in source.spec.nodes)


def _nothing_said(train: Mapping[str, Any]) -> bool:
    """Whether training settings leave the objective to the defaults."""
    return all(train.get(key) is None for key in ("objective", "labeled_share", "temperature"))


def _ink(data: Dataset) -> bool:
    """Whether items are images of dark strokes on a page."""
    if len(data.item_shape) != 3:
        return False
    return drawn_in_ink(data.batch(range(min(64, len(data)))).x.cpu().numpy())
