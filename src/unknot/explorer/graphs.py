"""Graphs: the encoder and the decoder of a trained model as ONNX, with every site at its mode.

``predict`` takes items and returns, for each factor, its prediction and its value; ``decode`` takes values and returns
the expected items. Nothing is drawn in them, so they give what :meth:`TrainedModel.predict` and
:meth:`TrainedModel.generate` give. The first axis of all inputs and outputs is the number of items.
"""

from __future__ import annotations

import copy
import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from unknot.core.evidence import given
from unknot.core.handlers import modes, record
from unknot.core.program import Program, as_program
from unknot.errors import SpecError
from unknot.explorer.operators import translations
from unknot.models.ensemble.ensemble import Ensemble
from unknot.models.networks.whitening import Whitening
from unknot.workflow.generation import deterministic_children
from unknot.workflow.prediction import predict
from unknot.workflow.trained_model import TrainedModel

if TYPE_CHECKING:
    import onnx

_ITEMS = 3  # of the example; any other number gives the same graph
_REASON = 200  # characters of torch's own message


@dataclass(frozen=True)
class Graphs:
    """The graphs of a model.

    Attributes
    ----------
    sites : tuple of str
        The variables that have a value, in the order of the encoder: the inputs of ``decode``.
    predict, decode, children : onnx.ModelProto or None
        The graphs. ``children`` computes the values of variables that are inferred from other variables alone, from the
        values of all variables; None if there are none.
    refused : dict from str to str
        Why a graph could not be exported, by its name.
    """

    sites: tuple[str, ...]
    predict: onnx.ModelProto | None = None
    decode: onnx.ModelProto | None = None
    children: onnx.ModelProto | None = None
    child_sites: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


class _Predict(nn.Module):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        found = predict(self.program, x)
        return (*found.predictions.values(), *found.values.values())


class _Decode(nn.Module):
    def __init__(self, program: Program, sites: Sequence[str]) -> None:
        super().__init__()
        self.program, self.sites = program, list(sites)

    def forward(self, values: list[Tensor]) -> Tensor:
        settings = dict(zip(self.sites, values, strict=True))
        return self.program.expected_data(given(values[0].shape[0], settings))


class _Children(nn.Module):
    """The children in order, each at its mode given the values before it."""

    def __init__(self, program: Program, sites: Sequence[str], children: Sequence[str]) -> None:
        super().__init__()
        self.program, self.sites, self.children_of = program, list(sites), list(children)

    def forward(self, values: list[Tensor]) -> tuple[Tensor, ...]:
        known = dict(zip(self.sites, values, strict=True))
        with modes():
            for name in self.children_of:
                known[name] = self.program.derive_latent(name, known)
        return tuple(known[name] for name in self.children_of)


def export_graphs(model: TrainedModel) -> Graphs:
    """Export the graphs of a model.

    Parameters
    ----------
    model : TrainedModel
        The model; it is not changed.

    Returns
    -------
    Graphs
        A graph that cannot be exported is None, and ``refused`` says why.

    Raises
    ------
    SpecError
        If neither graph can be exported, the model has known inputs, or the package onnx is not installed.
    """
    _require_onnx()
    known = [node.name for node in model.nodes if node.given]
    if known:
        raise SpecError(
            f"a model with known inputs cannot be exported: the graphs take items alone, but this model is conditioned "
            f"on {', '.join(repr(name) for name in known)}; use predict() and vary() in Python."
        )
    program = _folded(model)
    x = torch.zeros(_ITEMS, *model.shape)
    found = model.predict_batch(x)
    own = predict(program, x)
    sites = [node.name for node in model.latents if node.name in own.values]
    refused: dict[str, str] = {}
    values = [own.values[name] for name in sites]

    def attempt(what: str, module: nn.Module, arguments: Any, inputs: list[str], outputs: list[str]) -> Any:
        try:
            return _export(module, arguments, inputs, outputs)
        except _Refused as error:
            refused[what] = str(error)
            return None

    outputs = [
        *(f"{name}.prediction" for name in found.predictions),
        *(f"{name}.value" for name in own.values),
    ]
    predicting = attempt("encoder", _Predict(program), x, [model.nodes[-1].name], outputs)
    decoding = attempt("decoder", _Decode(program, sites), values, sites, ["expected"])
    children = _children(model, sites)
    deriving = (
        attempt(
            "dependent variables",
            _Children(program, sites, children),
            values,
            sites,
            [f"{name}.value" for name in children],
        )
        if children
        else None
    )
    if predicting is None and decoding is None:
        raise SpecError(f"the model cannot be exported: {' '.join(refused.values())}")
    return Graphs(tuple(sites), predicting, decoding, deriving, tuple(children), refused)


def _children(model: TrainedModel, sites: Sequence[str]) -> list[str]:
    """The variables that follow others without the data, in the order of the encoder."""
    following = {child for name in sites for child in deterministic_children(model.nodes, name)}
    return [name for name in sites if name in following]


def _folded(model: TrainedModel) -> Program:
    """A copy of the program on the CPU, in which what is constant at evaluation is computed."""
    module = copy.deepcopy(model.module).cpu().eval()
    for part in module.modules():
        if isinstance(part, Whitening | Ensemble):
            part.fold()
    return as_program(module)


class _Refused(Exception):
    pass


def _export(module: nn.Module, arguments: Any, inputs: list[str], outputs: list[str]) -> onnx.ModelProto:
    """Export for any number of items; a program that fixes the number is exported for one item."""
    any_number = torch.export.Dim.DYNAMIC
    several = isinstance(arguments, list)
    moving = ([{0: any_number} for _ in arguments],) if several else ({0: any_number},)
    one = [value[:1] for value in arguments] if several else arguments[:1]
    first: Exception | None = None
    for given_values, shapes in ((arguments, moving), (one, None)):
        seen = record()
        try:
            with _quiet(), torch.no_grad(), seen:
                program = torch.onnx.export(
                    module,
                    (given_values,),
                    dynamo=True,
                    dynamic_shapes=shapes,
                    input_names=inputs,
                    output_names=outputs,
                    custom_translation_table=translations(),
                    verbose=False,
                )
            assert program is not None
            return _renamed(program.model_proto)
        except Exception as error:  # torch raises its own and Python's errors alike
            first, last = first or error, seen.nodes[-1].name if seen.nodes else None
    assert first is not None
    after = f"after site '{last}'" if last else "before its first site"
    what = "decoder" if isinstance(module, _Decode) else "encoder"
    raise _Refused(
        f"the {what} cannot be exported {after}: its computation depends on values, as in a loop of random length, or "
        f"has no ONNX operator ({_reason(first)})."
    ) from first


def _renamed(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The first axis of inputs and outputs under the name that it has everywhere."""
    for value in (*proto.graph.input, *proto.graph.output):
        first = value.type.tensor_type.shape.dim[0]
        if first.dim_param:
            first.dim_param = "items"
    return proto


def _reason(error: BaseException) -> str:
    """The first line of the innermost error."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= _REASON else text[:_REASON] + "..."


def _require_onnx() -> None:
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise SpecError(
            "export needs the packages onnx and onnxscript: pip install 'unknot[explore]'."
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's progress and warnings, and without checks of values, which no graph can hold."""
    loud = logging.root.manager.disable
    checks = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(loud)
        Distribution.set_default_validate_args(checks)
