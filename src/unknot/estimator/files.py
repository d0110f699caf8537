"""Saving and loading a fitted StructuredVAE: safetensors and JSON, never pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from unknot.data.column import Column
from unknot.data.description import describe_factor, factor_without_items
from unknot.errors import RunError, SpecError
from unknot.files import write_file
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import read_spec

if TYPE_CHECKING:
    from unknot.estimator.structured_vae import StructuredVAE

FORMAT = 1
_WEIGHTS, _SETTINGS = "model.safetensors", "model.json"


def save_estimator(estimator: StructuredVAE, path: Path) -> None:
    """Write ``path/model.safetensors`` and ``path/model.json``, each atomically, the JSON last."""
    from safetensors.torch import save

    settings = {
        "format": FORMAT,
        "parameters": _plain(estimator.get_params()),
        "spec": estimator.spec_.to_dict(),
        "shape": list(estimator.module_.shape),
        "classes": estimator.classes_,
        "table": [[column.name, column.kind, list(column.classes)] for column in estimator.table_],
        "factors": {name: describe_factor(factor) for name, factor in estimator.factors_.items()},
    }
    weights = {name: w.contiguous() for name, w in estimator.module_.state_dict().items()}
    write_file(path / _WEIGHTS, save(weights))
    write_file(path / _SETTINGS, json.dumps(settings, indent=1).encode())


def load_estimator(kind: type[StructuredVAE], path: Path) -> StructuredVAE:
    """Read what :func:`save_estimator` wrote."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        settings = json.loads((path / _SETTINGS).read_text())
        weights = load_file(path / _WEIGHTS)
    except OSError as error:
        raise RunError(f"{path} holds no saved model: {error.strerror} ({error.filename}).") from None
    except (ValueError, SafetensorError) as error:
        raise RunError(f"the model in {path} is damaged: {error}.") from None
    if settings.get("format") != FORMAT:
        raise RunError(
            f"{path} was saved by another version (format {settings.get('format')}, not {FORMAT})."
        )
    estimator = kind(**settings["parameters"])
    estimator.spec_ = read_spec(settings["spec"])
    with torch.random.fork_rng(devices=[]):  # the weights drawn here are replaced at once
        estimator.module_ = GraphicalModel(estimator.spec_, settings["shape"])
    try:
        estimator.module_.load_state_dict(weights)
    except RuntimeError as error:
        raise RunError(f"the model in {path} is damaged: {' '.join(str(error).split())}") from None
    estimator.module_.eval()
    estimator.table_ = tuple(Column(name, kind, tuple(words)) for name, kind, words in settings["table"])
    estimator.factors_ = {
        name: factor_without_items(name, told) for name, told in settings["factors"].items()
    }
    estimator.classes_ = settings["classes"]
    estimator.n_features_in_ = int(torch.Size(settings["shape"]).numel())
    return estimator


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments as JSON; a model given as objects is kept in the spec instead."""
    plain = {}
    for name, value in parameters.items():
        if name == "model":
            value = None
        elif isinstance(value, Mapping):
            value = dict(value)
        try:
            json.dumps(value)
        except TypeError:
            raise SpecError(
                f"a StructuredVAE with {name}={value!r} cannot be saved: it is not plain data."
            ) from None
        plain[name] = value
    return plain
