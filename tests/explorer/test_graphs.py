"""Exported graphs against torch, run by onnxruntime, and what is refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.explorer.models import exported, items
from unknot import Trace
from unknot.core.program import as_program
from unknot.errors import SpecError
from unknot.explorer import graphs
from unknot.explorer.graphs import _Decode, _export, _Predict, _Refused
from unknot.models import GraphicalModel
from unknot.models.networks.whitening import Whitening
from unknot.workflow.generation import expected_items
from unknot.workflow.prediction import mode_trace, predict

KINDS = ("digits", pytest.param("wine", marks=pytest.mark.slow))
CLOSE = {"rtol": 1e-4, "atol": 1e-4}


def answers(proto: Any, *inputs: Tensor) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {one.name: value.numpy() for one, value in zip(session.get_inputs(), inputs, strict=True)}
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_the_encoder_equals_torch(kind: str, count: int) -> None:
    model, made = exported(kind)
    x = items(kind, max(count, 2))[:count]
    found, expected = answers(made.predict, x), predict(model.program, x)
    for name, values in expected.predictions.items():
        np.testing.assert_allclose(found[f"{name}.prediction"], values, **CLOSE)
    for name, values in expected.values.items():
        np.testing.assert_allclose(found[f"{name}.value"], values, **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_the_decoder_equals_torch(kind: str) -> None:
    model, made = exported(kind)
    values = predict(model.program, items(kind, 5)).values
    values = {**values, "style": values["style"] + 0.1 * torch.randn(values["style"].shape)}
    found = answers(made.decode, *(values[name] for name in made.sites))["expected"]
    np.testing.assert_allclose(found, expected_items(model.program, values, 5, model.shape), **CLOSE)


def test_the_number_of_items_has_a_name() -> None:
    made = exported("digits")[1]
    assert made.predict is not None
    assert made.refused == {}
    ends = [*made.predict.graph.input, *made.predict.graph.output]
    assert {one.type.tensor_type.shape.dim[0].dim_param for one in ends} == {"items"}


def test_the_model_is_not_changed() -> None:
    model, _ = exported("digits")
    white = [part for part in model.module.modules() if isinstance(part, Whitening)]
    assert white
    assert all(part.folded is None for part in white)


def test_children_follow_what_they_are_inferred_from() -> None:
    nodes = {
        "light": {"family": "direction", "size": 3, "inferred_from": ["x"], "labels": True},
        "shading": {"family": "normal", "size": 2, "inferred_from": ["light"]},
        "x": {"family": "normal", "parents": ["light", "shading"]},
    }
    program = GraphicalModel({"nodes": nodes}, (6,)).eval()
    values = list(predict(program, torch.randn(3, 6)).values.values())
    sites = ["light", "shading"]
    made = _export(graphs._Children(program, sites, ["shading"]), values, sites, ["shading.value"])
    lights = torch.nn.functional.normalize(torch.randn(2, 3), dim=-1)
    found = answers(made, lights) if len(made.graph.input) == 1 else answers(made, lights, torch.zeros(2, 2))
    expected = mode_trace(program, torch.randn(2, 6), {"light": lights})["shading"].value
    np.testing.assert_allclose(found["shading.value"], expected, **CLOSE)


class Counted(nn.Module):
    """As many turns as the encoder finds."""

    def __init__(self) -> None:
        super().__init__()
        self.h = nn.Linear(4, 2)

    def encode(self, x: Tensor) -> Trace:
        q = Trace()
        loc = self.h(x)
        count = q.normal(loc[:, :1], 1.0, name="count", event_dims=1)
        for _ in range(int(count.abs().max())):
            loc = loc + 1
        q.normal(loc, 1.0, name="z", event_dims=1)
        return q

    def decode(self, x: Tensor | None, q: Any) -> Trace:
        p = Trace()
        count = p.normal(torch.zeros(1), 1.0, value=q["count"], name="count", event_dims=1)
        z = p.normal(torch.zeros(2), 1.0, value=q["z"], name="z", event_dims=1)
        p.normal(unknot.cat([z, z]) + count, 1.0, value=x, name="x", event_dims=1)
        return p


def test_a_loop_of_random_length_is_refused_by_its_site_and_the_decoder_is_exported() -> None:
    program = as_program(Counted()).eval()
    with pytest.raises(_Refused, match="the encoder cannot be exported after site 'count'"):
        _export(_Predict(program), torch.randn(3, 4), ["x"], ["a", "b", "c", "d"])
    values = [torch.randn(3, 1), torch.randn(3, 2)]
    made = _export(_Decode(program, ["count", "z"]), values, ["count", "z"], ["expected"])
    expected = torch.cat([values[1], values[1]], -1) + values[0]
    np.testing.assert_allclose(answers(made, *values)["expected"], expected, **CLOSE)


def test_known_inputs_are_refused_by_name() -> None:
    model = copy.copy(exported("digits")[0])
    nodes = [replace(node, given=True) if node.name == "style" else node for node in model.nodes]
    model.__dict__["nodes"] = nodes
    with pytest.raises(SpecError, match="conditioned on 'style'"):
        graphs.export_graphs(model)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxscript", None)
    with pytest.raises(SpecError, match=r"pip install 'unknot\[explore\]'"):
        graphs.export_graphs(exported("digits")[0])
