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
from unknot.models.ensemble.ensemble import Ensemble
from unknot.models.ensemble.spec import EnsembleSpec, read_ensemble
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import ModelSpec, NodeSpec, read_spec
from unknot.schema import check
from unknot.workflow.default_models import DefaultModel, TableEnsemble, make_default
from unknot.workflow.nested import NestedSource, describe_nested, nested_files, read_nested
from unknot.workflow.program import load_program, program_nodes
from unknot.workflow.schema import MODELS, kind_of, without_kind

PROGRAM = "program.py"  # a program's file in a run or a saved model


@dataclass(frozen=True)
class Described:
    """A model described by its nodes; ``default`` is the default model that they are, if they are one."""

    spec: ModelSpec
    default: DefaultModel | None = None

    def build(self, shape: Size) -> nn.Module:
        """The module, with weights drawn by torch's global generator."""
        return GraphicalModel(self.spec, shape)

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return list(self.spec.nodes)

    def label_names(self, data: Dataset) -> list[str]:
        """The factors whose labels its encoder is given: those of the nodes that take labels."""
        return [node.name for node in self.spec.labeled]

    def to_dict(self) -> dict[str, Any]:
        default = {} if self.default is None else {"default": self.default.to_dict()}
        return {"kind": "nodes", **self.spec.to_dict(), **default}

    def files(self) -> dict[str, bytes]:
        return {}


@dataclass(frozen=True)
class Joined:
    """An ensemble of small models of a table (:mod:`unknot.models.ensemble.ensemble`)."""

    spec: EnsembleSpec
    default: DefaultModel = field(default_factory=TableEnsemble)

    def build(self, shape: Size) -> nn.Module:
        """The module, with weights drawn by torch's global generator."""
        return Ensemble(self.spec)

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return self.spec.nodes

    def label_names(self, data: Dataset) -> list[str]:
        """The factors whose labels its encoder is given."""
        return [node.name for node in self.spec.factors]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "ensemble", **self.spec.to_dict(), "default": self.default.to_dict()}

    def files(self) -> dict[str, bytes]:
        return {}


@dataclass(frozen=True)
class Programmed:
    """A model written as a Python class with ``encode`` and ``decode`` (:mod:`unknot.workflow.program`).

    It is made with ``arguments`` and, as further ones, the trained models that it nests.
    """

    default = None

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
        described = {
            "kind": "program",
            "program": f"{PROGRAM}:{self.name}",
            "arguments": dict(self.arguments),
        }
        return {**described, "nested": describe_nested(self.nested)} if self.nested else described

    def files(self) -> dict[str, bytes]:
        """The program's text and nested models, which a run keeps: changing them later changes no trained model."""
        return {PROGRAM: self.path.read_bytes(), **nested_files(self.nested)}


ModelSource = Described | Joined | Programmed


def read_source(described: Mapping[str, Any], folder: Path) -> ModelSource:
    """Read a model from its complete description.

    Parameters
    ----------
    described : mapping
        Nodes, an ensemble with its columns and factors, or a program.
    folder : Path
        From where the path of a program is meant.

    Returns
    -------
    ModelSource
    """
    kind, settings = kind_of(described), without_kind(described)
    default = settings.pop("default", None)
    if kind == "ensemble":
        return Joined(read_ensemble(settings), *([] if default is None else [make_default(default)]))
    if kind != "program":
        return Described(read_spec(settings), None if default is None else make_default(default))
    check(settings, MODELS["program"], "model")
    file, _, name = str(settings["program"]).rpartition(":")
    if not file or not name.isidentifier():
        raise SpecError(f"model: program is FILE.py:CLASS, but is {settings['program']!r}.")
    arguments, nested = settings.get("arguments") or {}, settings.get("nested") or {}
    for key in nested:
        if key in arguments:
            raise SpecError(f"model: '{key}' is both an argument of the program and a nested model.")
    return Programmed(folder / file, name, dict(arguments), read_nested(nested, folder))
