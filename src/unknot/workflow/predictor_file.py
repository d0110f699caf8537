"""The files of predictors, out-of-fold predictions and novelty: a folder beside a model, saved or in a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unknot.errors import RunError
from unknot.models.novelty import Novelty, make_novelty
from unknot.models.predictor.predictor import Predictors, make_predictors
from unknot.seal import digest, open_sealed_json, sealed_json
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.trained_model import TrainedModel

FOLDER, DESCRIPTION, ARRAYS = "predictors", "predictors.json", "predictors.safetensors"
_PARTS = ("ids", "labels", "predictions", "linear")

Loaded = tuple[Predictors | None, dict[str, OutOfFold], Novelty | None]
_NOTHING: Loaded = (None, {}, None)


def predictor_files(model: TrainedModel, step: int | None = None) -> dict[str, bytes]:
    """Return the files of a model's predictors, out-of-fold predictions and novelty by name; none if it has none.

    Parameters
    ----------
    model : TrainedModel
        The model.
    step : int, optional
        In a run, the step of the checkpoint that they belong to.
    """
    from safetensors.torch import save

    modules = {"predictors": model.predictors, "novelty": model.novelty}
    if not any(modules.values()) and not model.out_of_fold:
        return {}
    found = list(model.out_of_fold.values())
    arrays: dict[str, Tensor] = {}
    for name, module in modules.items():
        arrays |= {} if module is None else _named(name, module.state_dict())
    for i, one in enumerate(found):
        arrays |= _named(f"out_of_fold.{i}", {part: torch.from_numpy(getattr(one, part)) for part in _PARTS})
    stored = save({name: tensor.cpu().contiguous() for name, tensor in arrays.items()})
    content = {
        **{name: None if module is None else module.to_dict() for name, module in modules.items()},
        "out_of_fold": [{"factor": o.factor, "folds": o.folds, "repeats": o.repeats} for o in found],
        "step": step,
        "sha256": digest(stored),
    }
    return {DESCRIPTION: sealed_json(content), ARRAYS: stored}


def read_predictors(path: Path, step: int | None = None) -> Loaded:
    """Read what :func:`predictor_files` wrote to the folder of a model; nothing if it is missing.

    Parameters
    ----------
    path : Path
        The saved model, or the run.
    step : int, optional
        The step of a run's checkpoint; predictors of another step are left alone.
    """
    folder = path / FOLDER
    if not (folder / DESCRIPTION).exists():
        return _NOTHING
    try:
        content = open_sealed_json((folder / DESCRIPTION).read_bytes())
        if content["step"] != step:
            return _NOTHING
        stored = (folder / ARRAYS).read_bytes()
        if digest(stored) != content["sha256"]:
            raise ValueError(f"{ARRAYS} is not the one that {DESCRIPTION} describes")
        return _made(content, stored)
    except OSError as error:
        raise RunError(f"the predictors in {folder} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise RunError(f"the predictors in {folder} are damaged ({' '.join(str(error).split())}).") from error


def _made(content: Any, stored: bytes) -> Loaded:
    from safetensors.torch import load

    arrays = load(stored)
    predictors = None if content["predictors"] is None else make_predictors(content["predictors"])
    novelty = None if content["novelty"] is None else make_novelty(content["novelty"])
    for name, module in (("predictors", predictors), ("novelty", novelty)):
        if module is not None:
            module.load_state_dict(_part(name, arrays))
            module.eval()
    found = {}
    for i, one in enumerate(content["out_of_fold"]):
        parts: dict[str, Any] = {
            name: tensor.numpy() for name, tensor in _part(f"out_of_fold.{i}", arrays).items()
        }
        found[one["factor"]] = OutOfFold(**one, **parts)
    return predictors, found, novelty


def _named(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def _part(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {name[len(start) :]: one for name, one in tensors.items() if name.startswith(start)}
