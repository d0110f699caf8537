"""A model of one's own: a module with ``encode`` and ``decode``, from a Python file that a spec names.

``model: {program: my_model.py:Canvas, arguments: {most: 3}}`` is **code that runs**, with all rights of the user:
when it is fitted, and whenever a run or a saved model made from it is opened. Open only those you trust.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from unknot.core.program import Program, as_program, data_site, lacks
from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.families import family_with
from unknot.models.spec import NodeSpec
from unknot.suggest import did_you_mean
from unknot.workflow.prediction import mode_trace, predict, site_prediction

_EXAMPLES = 4  # items of the run that shows which sites a program has


def load_program(path: Path, name: str, arguments: Mapping[str, Any]) -> nn.Module:
    """Run a Python file and make the module of that name in it."""
    module = _run_file(path)
    made = vars(module).get(name)
    if not (isinstance(made, type) and issubclass(made, nn.Module)):
        there = [n for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, nn.Module)]
        raise SpecError(f"model: {path} has no module '{name}'; {did_you_mean(name, there)}")
    try:
        program: nn.Module = made(**arguments)
    except TypeError as error:
        given = ", ".join(arguments) or "no arguments"
        raise SpecError(f"model: {name} in {path} cannot be made with {given}: {error}.") from error
    for method in lacks(as_program(program), "encode", "decode"):
        raise SpecError(f"model: {name} in {path} has no method {method}(...) that returns a trace.")
    return program


def _run_file(path: Path) -> ModuleType:
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise SpecError(f"model: cannot read the program {path}: {error.strerror}.") from None
    key = f"unknot_program_{path.stem}_{digest}"
    if key in sys.modules:
        return sys.modules[key]
    found = importlib.util.spec_from_file_location(key, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[key] = module
    try:
        found.loader.exec_module(module)
    except Exception as error:
        del sys.modules[key]
        raise SpecError(f"model: the program {path} fails: {type(error).__name__}: {error}.") from error
    return module


# ---- what can be known of a program from its traces -------------------------------------------------------


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
        NodeSpec(node.name, family, site_prediction(node).shape[1], inferred_from=(data_name,))
        for node in q.variables()
        if node.name not in labeled and (family := family_with(node.dist)) is not None
    ]
    for name in labeled:
        numbers = data.factors[name].kind == "continuous"
        family = family_with(q[name].dist) if name in q else None
        family = family or ("normal" if numbers else "categorical")
        size = predictions[name].shape[1]
        nodes.append(NodeSpec(name, family, size, inferred_from=(data_name,), labels=True))
    return [*nodes, NodeSpec(data_name, "program")]


def example_traces(program: Program, x: Tensor) -> tuple[Trace, Trace]:
    """Return both traces of some items, every site at its mode."""
    q = mode_trace(program, x)
    with torch.no_grad():
        return q, trace(program.decode, x, q)
