"""Checkpoints: everything a run needs to go on, as safetensors and JSON, whole or not at all.

A checkpoint is a folder ``step-000000500`` with ``tensors.safetensors`` (weights, optimizer, random states) and
``state.json`` (everything that is not a tensor, the digest of the tensors, and a seal). The folder appears in one
rename, so both files are there or neither; the newest one whose digest and seal are right is the latest.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unknot.errors import RunError
from unknot.files import remove_leftovers, write_folder
from unknot.seal import digest, open_sealed_json, sealed_json

FORMAT = 1
TENSORS, STATE = "tensors.safetensors", "state.json"
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what Adam keeps of a parameter


@dataclass(frozen=True)
class Checkpoint:
    """``tensors`` by name (``model.encoder.weight``) and ``state``, JSON values, as of ``step`` finished steps."""

    step: int
    tensors: dict[str, Tensor]
    state: dict[str, Any]

    def part(self, prefix: str) -> dict[str, Tensor]:
        """The tensors under a ``prefix``, without it: ``checkpoint.part("model")`` is a state dict."""
        start = f"{prefix}."
        return {name[len(start) :]: t for name, t in self.tensors.items() if name.startswith(start)}


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors with a prefix before their names."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def save(folder: Path, checkpoint: Checkpoint, keep: int = 2) -> None:
    """Write a checkpoint, then remove all but the newest ``keep``. Weights that are not finite are refused."""
    from safetensors.torch import save as serialize

    for name, tensor in checkpoint.tensors.items():
        if name.startswith("model.") and tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise RunError(
                f"step {checkpoint.step}: the weight '{name[6:]}' is not finite; nothing was saved."
            )
    # Tied weights share memory, which safetensors refuses: every tensor gets its own.
    plain = {name: t.detach().cpu().clone().contiguous() for name, t in checkpoint.tensors.items()}
    content = serialize(plain)
    state = {
        "format": FORMAT,
        "step": checkpoint.step,
        "sha256": digest(content),
        **checkpoint.state,
    }
    target = _path(folder, checkpoint.step)
    write_folder(target, {TENSORS: content, STATE: sealed_json(state)}, replace=True)
    remove_leftovers(folder)
    for old in _newest_first(folder)[keep:]:
        shutil.rmtree(old, ignore_errors=True)


def latest(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that is whole; None if there is none at all; an error if all are damaged.

    If newer ones are damaged, a warning says which one is used instead.
    """
    complaints: list[str] = []
    for path in _newest_first(folder):
        try:
            made = read(path)
        except RunError as error:
            complaints.append(str(error))
            continue
        if complaints:
            told = f"{folder}: {'; '.join(complaints)}; going back to {path.name}."
            warnings.warn(told, stacklevel=2)
        return made
    if complaints:
        raise RunError(
            f"no checkpoint in {folder} can be used: {'; '.join(complaints)}. Remove them to start the run anew."
        )
    return None


def latest_step(folder: Path) -> int | None:
    """The step of the newest checkpoint, without reading it."""
    paths = _newest_first(folder)
    return _step(paths[0]) if paths else None


def read(path: Path) -> Checkpoint:
    """One checkpoint folder; a truncated or altered one is refused."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        state = open_sealed_json((path / STATE).read_bytes())
        content = (path / TENSORS).read_bytes()
        found, step, expected = state.pop("format"), int(state.pop("step")), state.pop("sha256")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise RunError(f"{path.name} is damaged ({type(error).__name__}: {error})") from error
    if found != FORMAT:
        raise RunError(f"{path.name} has format {found}, this version of Unknot reads format {FORMAT}")
    if step != _step(path):
        raise RunError(f"{path.name} is damaged (it says that it is of step {step})")
    if digest(content) != expected:
        raise RunError(f"{path.name} is damaged ({TENSORS} is truncated or altered)")
    try:
        return Checkpoint(step, load(content), state)
    except SafetensorError as error:
        raise RunError(f"{path.name} is damaged ({error})") from error


def pack_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Adam's moments and step counts, named by the parameter's number: ``0.exp_avg``."""
    states = optimizer.state_dict()["state"]
    return {f"{index}.{name}": value for index, state in states.items() for name, value in state.items()}


def unpack_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what :func:`pack_optimizer` took; learning rate and the like stay those of the config.

    Moments get their parameter's order in memory: fused Adam walks both side by side, and a file keeps only
    the plain order. It also trusts their shapes, so every tensor is compared with its parameter first.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    states: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        index, _, key = name.partition(".")
        if not index.isdigit() or int(index) >= len(parameters):
            raise ValueError(f"the optimizer has {len(parameters)} parameters and no '{name}'")
        parameter = parameters[int(index)]
        expected = torch.Size() if key == "step" else parameter.shape
        if key not in _MOMENTS or tensor.shape != expected or not tensor.is_floating_point():
            raise ValueError(
                f"the optimizer's '{name}' is {tensor.dtype} of shape {tuple(tensor.shape)}, expected floats of "
                f"shape {tuple(expected)}"
            )
        if key != "step":
            tensor = torch.empty_like(parameter).copy_(tensor)
        states.setdefault(int(index), {})[key] = tensor
    for number, state in states.items():
        if set(state) != set(_MOMENTS):
            raise ValueError(f"the optimizer's state of parameter {number} is not complete")
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def _path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:09d}"


def _step(path: Path) -> int:
    return int(path.name.removeprefix("step-"))


def _newest_first(folder: Path) -> list[Path]:
    found = [p for p in folder.glob("step-*") if p.name.removeprefix("step-").isdigit()]
    return sorted(found, key=_step, reverse=True)
