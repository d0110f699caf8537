"""The models that a program nests, by the name of the argument they come in as: where from, and kept with it.

In a spec they are paths; a run and a saved model keep a copy in ``nested/NAME``, a saved model like any other::

    nested: {digit: runs/digit}                          # frozen
    nested: {digit: {path: runs/digit, frozen: false}}   # its weights learn with the program's
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unknot.workflow.nested import Nested

if TYPE_CHECKING:
    from unknot.workflow.trained_model import TrainedModel

FOLDER = "nested"


@dataclass(frozen=True)
class NestedSource:
    """A trained model to be nested."""

    model: TrainedModel
    frozen: bool

    def build(self) -> Nested:
        """A copy with the weights as they were trained."""
        return Nested(deepcopy(self.model.module), self.frozen)


def read_nested(described: Mapping[str, Any], folder: Path) -> dict[str, NestedSource]:
    """The nested models of a description; their paths are meant from ``folder``."""
    from unknot.workflow.trained_model import TrainedModel

    found = {}
    for name, entry in described.items():
        path, frozen = _entry(entry)
        found[name] = NestedSource(TrainedModel.load(folder / path), frozen)
    return found


def describe_nested(sources: Mapping[str, NestedSource]) -> dict[str, Any]:
    """The description of nested models that lie beside their program."""
    return {name: {"path": f"{FOLDER}/{name}", "frozen": one.frozen} for name, one in sources.items()}


def nested_files(sources: Mapping[str, NestedSource]) -> dict[str, bytes]:
    """The nested models' files, by their paths beside the program."""
    from unknot.workflow.model_file import saved_files

    return {
        f"{FOLDER}/{name}/{file}": content
        for name, one in sources.items()
        for file, content in saved_files(one.model).items()
    }


def with_paths(model: Mapping[str, Any], place: Callable[[str], Path]) -> dict[str, Any]:
    """A model's description with all its paths, of a program and of nested models, changed by ``place``."""
    placed = dict(model)
    if "program" in model:
        placed["program"] = str(place(str(model["program"])))
    if model.get("nested"):
        entries = {name: _entry(entry) for name, entry in model["nested"].items()}
        placed["nested"] = {
            name: {"path": str(place(path)), "frozen": frozen} for name, (path, frozen) in entries.items()
        }
    return placed


def _entry(entry: str | Mapping[str, Any]) -> tuple[str, bool]:
    """The path, and whether the weights stay."""
    if isinstance(entry, Mapping):
        return str(entry["path"]), bool(entry.get("frozen", True))
    return str(entry), True
