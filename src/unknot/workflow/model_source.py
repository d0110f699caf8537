"""Where a model comes from, enough to make it again: a description of nodes, an ensemble, or a user's program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Size, nn

from unknot.core.program import Program
from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.ensemble import Ensemble
from unknot.models.ensemble_spec import EnsembleSpec, read_ensemble
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import ModelSpec, NodeSpec, read_spec
from unknot.suggest import did_you_mean
from unknot.workflow.nested import NestedSource, describe_nested, nested_files, read_nested
from unknot.workflow.program import load_program, program_nodes

PROGRAM = "program.py"  # a program's file in a run or a saved model
_KEYS = ("program", "arguments", "nested")


@dataclass(frozen=True)
class Described:
    """A model described by its nodes."""

    spec: ModelSpec

    def build(self, shape: Size) -> nn.Module:
        """The module, with weights drawn by torch's global generator."""
        return GraphicalModel(self.spec, shape)

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return list(self.spec.nodes)

    def label_names(self, data: Dataset) -> list[str]:
        """The factors whose labels its encoder is given: those of the nodes that take labels."""
        return [node.name for node in self.spec.labeled]

    def to_dict(self) -> dict[str, Any]:
        return self.spec.to_dict()

    def files(self) -> dict[str, bytes]:
        return {}


@dataclass(frozen=True)
class Joined:
    """An ensemble of small models of a table (:mod:`unknot.models.ensemble`)."""

    spec: EnsembleSpec

    def build(self, shape: Size) -> nn.Module:
        """The module, with weights drawn by torch's global generator."""
        return Ensemble(self.spec)

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return self.spec.nodes

    def label_names(self, data: Dataset) -> list[str]:
        """The factors whose labels its encoder is given."""
        return [node.name for node in self.spec.factors]

    def to_dict(self) -> dict[str, Any]:
        return {"ensemble": self.spec.to_dict()}

    def files(self) -> dict[str, bytes]:
        return {}


@dataclass(frozen=True)
class Programmed:
    """A model written as a Python class with ``encode`` and ``decode`` (:mod:`unknot.workflow.program`).

    It is made with ``arguments`` and, as further ones, the trained models that it nests.
    """

    path: Path
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    nested: Mapping[str, NestedSource] = field(default_factory=dict)

    def build(self, shape: Size) -> nn.Module:
        """The module, with weights drawn by torch's global generator."""
        models = {name: one.build() for name, one in self.nested.items()}
        return load_program(self.path, self.name, {**self.arguments, **models})

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return program_nodes(program, data)

    def label_names(self, data: Dataset) -> list[str]:
        """The factors whose labels its encoder is given: all there are; it takes what it knows."""
        return list(data.factors)

    def to_dict(self) -> dict[str, Any]:
        described = {"program": f"{PROGRAM}:{self.name}", "arguments": dict(self.arguments)}
        return {**described, "nested": describe_nested(self.nested)} if self.nested else described

    def files(self) -> dict[str, bytes]:
        """The program's text and nested models, which a run keeps: changing them later changes no trained model."""
        return {PROGRAM: self.path.read_bytes(), **nested_files(self.nested)}


ModelSource = Described | Joined | Programmed


def read_source(described: Mapping[str, Any], folder: Path) -> ModelSource:
    """A model from its plain description; a program's file is meant from ``folder``."""
    if "ensemble" in described:
        if len(described) > 1:
            other = next(key for key in described if key != "ensemble")
            raise SpecError(f"model: an ensemble stands alone, but there is '{other}' beside it.")
        return Joined(read_ensemble(described["ensemble"]))
    if "program" not in described:
        return Described(read_spec(described))
    for key in described:
        if key not in _KEYS:
            raise SpecError(f"model: a program has no key '{key}'; {did_you_mean(key, _KEYS)}")
    file, _, name = str(described["program"]).rpartition(":")
    if not file or not name.isidentifier():
        raise SpecError(f"model: program is FILE.py:CLASS, but is {described['program']!r}.")
    arguments = described.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise SpecError(f"model: arguments of a program are a table of settings, but are {arguments!r}.")
    nested = described.get("nested") or {}
    for key in nested:
        if key in arguments:
            raise SpecError(f"model: '{key}' is both an argument of the program and a nested model.")
    return Programmed(folder / file, name, dict(arguments), read_nested(nested, folder))
