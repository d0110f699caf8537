"""The one file format of a model: ``model.json`` beside its weights, in a saved folder or in a run.

``model.json`` holds the version of the format, the model's description and the outline of its data. A saved folder
has the weights in ``model.safetensors``, whose digest the JSON carries beside its own seal; in a run they are
those of its last checkpoint. A program of the user's own lies beside them as ``program.py``, and is run when the
model is opened; trained models that it nests lie in ``nested``, saved like any other. ``predictors`` holds the
predictors of its factors, their out-of-fold predictions and the novelty of items
(:mod:`unknot.workflow.predictor_file`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unknot import __version__
from unknot.data.dataset import Dataset
from unknot.data.description import dataset_without_items, describe_dataset
from unknot.errors import RunError
from unknot.files import bring_back, write_folder
from unknot.seal import digest, open_sealed_json, sealed_json
from unknot.train.run_folder import RunFolder, is_run
from unknot.workflow.model_source import PROGRAM, ModelSource, read_source
from unknot.workflow.nested import FOLDER as NESTED
from unknot.workflow.predictor_file import DESCRIPTION as PREDICTORS_DESCRIPTION
from unknot.workflow.predictor_file import FOLDER as PREDICTORS
from unknot.workflow.predictor_file import predictor_files, read_predictors
from unknot.workflow.trained_labels import from_json, to_json
from unknot.workflow.trained_model import TrainedModel

FORMAT = 4
MODEL, WEIGHTS = "model.json", "model.safetensors"
_OURS = (MODEL, WEIGHTS, PROGRAM, NESTED, PREDICTORS)  # what a saved folder holds


def model_files(model: TrainedModel, **more: Any) -> dict[str, bytes]:
    """Return the files of a model without its weights: ``model.json``, a program, the models that it nests."""
    content = {
        "format": FORMAT,
        "unknot": __version__,
        "model": model.source.to_dict(),
        "data": describe_dataset(model.data),
        "words": list(model.words),
        "ink": model.ink,
        "class_weights": dict(model.class_weights),
        "trained_labels": to_json(model.trained_labels),
        **more,
    }
    return {MODEL: sealed_json(content, indent=1), **model.source.files()}


def save_model(model: TrainedModel, path: Path, **more: Any) -> None:
    """Write a folder that :func:`load_model` reads; ``more`` is kept in ``model.json``."""
    path = path.absolute()
    others = [one.name for one in path.iterdir() if one.name not in _OURS] if path.is_dir() else []
    if others:
        raise RunError(f"{path} holds other files ({others[0]}): save the model in a folder of its own.")
    write_folder(path, saved_files(model, **more), replace=True)


def saved_files(model: TrainedModel, **more: Any) -> dict[str, bytes]:
    """Return all files of a saved model by name; ``more`` is kept in ``model.json``."""
    from safetensors.torch import save

    weights = save({name: w.cpu().contiguous() for name, w in model.module.state_dict().items()})
    predictors = predictor_files(model)
    described = digest(predictors[PREDICTORS_DESCRIPTION]) if predictors else None
    files = model_files(model, sha256=digest(weights), predictors=described, **more)
    beside = {f"{PREDICTORS}/{name}": content for name, content in predictors.items()}
    return {**files, **beside, WEIGHTS: weights}


def load_model(path: Path) -> TrainedModel:
    """Load the model of a saved folder, or of a run."""
    bring_back(path.absolute())
    content = read_description(path)
    try:
        source = read_source(content["model"], path)
        data, ink = dataset_without_items(content["data"]), bool(content["ink"])
        words = tuple(str(name) for name in content["words"])
        weights = {name: tuple(map(float, w)) for name, w in content.get("class_weights", {}).items()}
        trained_labels = from_json(content.get("trained_labels", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{path / MODEL} is damaged ({type(error).__name__}: {error}).") from error
    with torch.random.fork_rng(devices=[]):  # the weights drawn here are replaced at once
        module = source.build(data.item_shape)
    if is_run(path):
        step = RunFolder.open(path).load_weights(module)
        predictors, out_of_fold, novelty = read_predictors(path, step)
    else:
        _load_weights(module, path, content.get("sha256"))
        _check_predictors(path, content.get("predictors"))
        predictors, out_of_fold, novelty = read_predictors(path)
    return TrainedModel(
        module.eval(), source, data, words, ink, weights, trained_labels, predictors, out_of_fold, novelty
    )


def read_source_of(path: Path) -> ModelSource:
    """Read where the model of a saved folder or a run comes from."""
    return read_source(read_description(path)["model"], path)


def read_description(path: Path) -> Mapping[str, Any]:
    """Read the content of ``model.json``, and refuse another version."""
    try:
        content = open_sealed_json((path / MODEL).read_bytes())
    except OSError as error:
        raise RunError(
            f"{path} holds no model: it has no readable {MODEL} ({error.strerror}); give a run of `unknot fit` or a "
            "folder that `save` wrote."
        ) from error
    except ValueError as error:
        raise RunError(f"{path / MODEL} is damaged ({error}).") from error
    if content.get("format") != FORMAT:
        raise RunError(
            f"{path} was saved by another version of Unknot (format {content.get('format')}; this one reads {FORMAT}): "
            "open it with that version, or fit the model again."
        )
    return content


def _load_weights(module: nn.Module, path: Path, expected: Any) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        weights = (path / WEIGHTS).read_bytes()
        if digest(weights) != expected:
            raise RunError(
                f"the model in {path} is damaged: {WEIGHTS} is not the one that {MODEL} describes."
            )
        module.load_state_dict(load(weights))
    except OSError as error:
        raise RunError(f"the model in {path} has no readable {WEIGHTS}: {error.strerror}.") from error
    except (SafetensorError, RuntimeError) as error:
        raise RunError(f"the model in {path} is damaged: {' '.join(str(error).split())}") from error


def _check_predictors(path: Path, expected: Any) -> None:
    place = path / PREDICTORS / PREDICTORS_DESCRIPTION
    found = digest(place.read_bytes()) if place.is_file() else None
    if found != expected:
        raise RunError(f"the model in {path} is damaged: {PREDICTORS} is not what {MODEL} describes.")


def described_data(data: Dataset) -> Dataset:
    """Return a data set without its items, as a model keeps it."""
    return dataset_without_items(describe_dataset(data))
