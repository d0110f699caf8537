"""Sources of models, complete enough to build a model again: described nodes, an ensemble, or a user's program.

``model: {program: my_model.py:Canvas, arguments: {most: 3}}`` is **code that runs**, with all rights of the user:
when it is fitted, and whenever a run or a saved model made from it is opened. Open only those you trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Size, Tensor, nn

from unknot.core.program import Program, as_program, data_site, lacks
from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.by_name import Named, find_class
from unknot.models.ensemble.ensemble import Ensemble
from unknot.models.ensemble.spec import EnsembleSpec, read_ensemble
from unknot.models.ensemble.wide_ensemble import WideEnsemble
from unknot.models.families import family_with
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import ModelSpec, NodeSpec, node, read_spec
from unknot.schema import check
from unknot.workflow.default_models import DefaultModel, TableEnsemble, make_default
from unknot.workflow.default_models.class_style import factor_node
from unknot.workflow.nested import NestedSource, describe_nested, nested_files, read_nested
from unknot.workflow.prediction import mode_trace, predict, site_prediction
from unknot.workflow.schema import MODELS, kind_of, without_kind

PROGRAM = "program.py"  # a program's file in a run or a saved model


@dataclass(frozen=True)
class Described:
    """A model described by its nodes; ``default`` is the default model that they are, if they are one."""

    spec: ModelSpec
    default: DefaultModel | None = None

    def build(self, shape: Size) -> nn.Module:
        """Build the module, with weights drawn by torch's global generator."""
        return GraphicalModel(self.spec, shape)

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return list(self.spec.nodes)

    def label_names(self, data: Dataset) -> list[str]:
        """Return the factors whose labels the encoder is given: those of the nodes that take labels."""
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
        """Build the module, with weights drawn by torch's global generator."""
        return Ensemble(self.spec) if self.spec.components is None else WideEnsemble(self.spec)

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return self.spec.nodes

    def label_names(self, data: Dataset) -> list[str]:
        """Return the factors whose labels the encoder is given."""
        return [node.name for node in self.spec.factors]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "ensemble", **self.spec.to_dict(), "default": self.default.to_dict()}

    def files(self) -> dict[str, bytes]:
        return {}


@dataclass(frozen=True)
class Programmed:
    """A model written as a Python class with ``encode`` and ``decode``.

    It is made with ``arguments`` and, as further ones, the trained models that it nests.
    """

    default = None

    path: Path
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    nested: Mapping[str, NestedSource] = field(default_factory=dict)

    def build(self, shape: Size) -> nn.Module:
        """Build the module, with weights drawn by torch's global generator."""
        models = {name: one.build() for name, one in self.nested.items()}
        return load_program(self.path, self.name, {**self.arguments, **models})

    def nodes(self, program: Program, data: Dataset) -> list[NodeSpec]:
        return program_nodes(program, data)

    def label_names(self, data: Dataset) -> list[str]:
        """Return the factors whose labels the encoder is given: all; it ignores those it does not know."""
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
    if not isinstance(described, Mapping):
        raise SpecError(f"model: expected a table, but got {described!r}.")
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


# ---- Programs: a module with ``encode`` and ``decode`` from a Python file that a spec names --------------
# ``model: {program: my_model.py:Canvas, arguments: {most: 3}}`` is **code that runs**, with all rights of the user:
# when it is fitted, and whenever a run or a saved model made from it is opened. Open only those you trust.

_EXAMPLES = 4  # items of the run that shows which sites a program has


def load_program(path: Path, name: str, arguments: Mapping[str, Any]) -> nn.Module:
    """Make the module of a class in a Python file, which is run.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        The class.
    arguments : mapping
        Its arguments.

    Returns
    -------
    nn.Module
        It has ``encode`` and ``decode``.
    """
    made = find_class(f"{path}:{name}", {}, nn.Module, "model")
    try:
        program: nn.Module = made(**arguments)
    except TypeError as error:
        given = ", ".join(arguments) or "no arguments"
        raise SpecError(f"model: {name} in {path} cannot be made with {given}: {error}.") from error
    for method in lacks(as_program(program), "encode", "decode"):
        raise SpecError(f"model: {name} in {path} has no method {method}(...) that returns a trace.")
    return program


def program_nodes(program: Program, data: Dataset) -> list[NodeSpec]:
    """Return the variables of a program as nodes: the sites of its encoder, factors that take labels, and the data.

    A program takes labels of a factor if one of its sites has that name, or if its method ``predictions`` returns it.
    """
    x = torch.zeros(_EXAMPLES, *data.item_shape)
    with torch.random.fork_rng(devices=[]):
        q, p = example_traces(program, x)
        predictions = predict(program, x).predictions
    data_name = data_site(q, p)
    labeled = [name for name in predictions if name in data.factors]
    nodes = [
        NodeSpec(site.name, Named(family), site_prediction(site).shape[1], inferred_from=(data_name,))
        for site in q.variables()
        if site.name not in labeled and (family := family_with(site.dist)) is not None
    ]
    for name in labeled:
        numbers = data.factors[name].kind == "continuous"
        family = family_with(q[name].dist) if name in q else None
        family = family or ("normal" if numbers else "categorical")
        size = predictions[name].shape[1]
        nodes.append(NodeSpec(name, Named(family), size, inferred_from=(data_name,), labels=True))
    known = [node(name, **factor_node(factor), given=True) for name, factor in data.given.items()]
    return [*nodes, *known, NodeSpec(data_name, Named("program"))]


def example_traces(program: Program, x: Tensor) -> tuple[Trace, Trace]:
    """Return both traces of some items, every site at its mode."""
    q = mode_trace(program, x)
    with torch.no_grad():
        return q, trace(program.decode, x, q)
