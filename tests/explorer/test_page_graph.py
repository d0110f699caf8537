"""Graphs in the form of the page."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.explorer.models import exported
from unknot.errors import SpecError
from unknot.explorer.page_graph import operators_of_page, page_graph


def test_the_page_has_the_operators_of_every_model() -> None:
    assert {"Conv", "ConvTranspose", "Gemm", "MatMul", "Softmax", "Where"} <= operators_of_page()
    assert len(operators_of_page()) > 60


def test_constants_stand_in_the_block() -> None:
    proto = exported("digits")[1].decode
    assert proto is not None
    block = bytearray(b"\0" * 4)
    made = page_graph(proto, block)
    known = {number: (kind, shape, start) for number, kind, shape, start in made["constants"]}
    for one in proto.graph.initializer:
        array = numpy_helper.to_array(one)
        if array.dtype != np.float32 or array.ndim != 2:
            continue
        found = [
            np.frombuffer(bytes(block), np.float32, count=array.size, offset=start).reshape(shape)
            for kind, shape, start in known.values()
            if shape == list(array.shape) and kind == "float"
        ]
        assert any(np.array_equal(array, candidate) for candidate in found)
    assert [one["name"] for one in made["inputs"]] == ["digit", "style"]
    assert [one["shape"] for one in made["inputs"]] == [[10], [4]]


def test_operators_that_the_page_lacks_are_refused_by_name() -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Det", ["x"], ["y"])], "g", ends[:1], ends[1:])
    with pytest.raises(SpecError, match=r"cannot run the operators Det; export to \.onnx"):
        page_graph(helper.make_model(graph), bytearray())
