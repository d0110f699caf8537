"""An ONNX graph in the form that the page's runtime takes: nodes as JSON, constants in one block of bytes."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from unknot.errors import SpecError

if TYPE_CHECKING:
    import onnx

_ALIGNED = 4  # bytes: every number of the page's has as many, or one


@cache
def operators_of_page() -> frozenset[str]:
    """Return the names of the ONNX operators that the page can run, read from its runtime."""
    source = (files("unknot.explorer") / "page" / "runtime.js").read_text(encoding="utf-8")
    table = source.split("const OPERATORS = {")[1].split("\n};")[0]
    return frozenset(re.findall(r"^  ([A-Z]\w*):", table, re.MULTILINE))


def unknown_operators(proto: onnx.ModelProto) -> list[str]:
    """Return the operators of a graph that the page does not have."""
    known = operators_of_page() | {"Constant"}
    return sorted({node.op_type for node in proto.graph.node if node.domain or node.op_type not in known})


def page_graph(proto: onnx.ModelProto, block: bytearray) -> dict[str, Any]:
    """Convert a graph, and append its constants to a block of bytes.

    Parameters
    ----------
    proto : onnx.ModelProto
        The graph.
    block : bytearray
        Where constants are appended.

    Returns
    -------
    dict
        ``inputs`` and ``outputs`` with names and numbers of values, ``constants`` with kind, shape and place, and
        ``nodes``.
    """
    from onnx import helper, numpy_helper

    missing = unknown_operators(proto)
    if missing:
        raise SpecError(f"the page cannot run the operators {', '.join(missing)}; export to .onnx instead.")
    graph, numbers = proto.graph, {"": -1}

    def number(name: str) -> int:
        return numbers.setdefault(name, len(numbers) - 1)

    constants = [_constant(number(one.name), numpy_helper.to_array(one), block) for one in graph.initializer]
    nodes = []
    for node in graph.node:
        attributes = {one.name: _plain(helper.get_attribute_value(one)) for one in node.attribute}
        if node.op_type == "Constant":
            constants.append(_constant(number(node.output[0]), _value(attributes), block))
            continue
        ends = [number(name) for name in node.input], [number(name) for name in node.output]
        nodes.append([node.op_type, *ends, attributes])
    return {
        "inputs": [_described(one, number(one.name)) for one in graph.input],
        "outputs": [{"name": one.name, "id": number(one.name)} for one in graph.output],
        "constants": constants,
        "nodes": nodes,
    }


def _described(value: onnx.ValueInfoProto, number: int) -> dict[str, Any]:
    """An input: whether it takes class indices, and the shape of one item."""
    from onnx import TensorProto

    kind = value.type.tensor_type
    shape = [int(one.dim_value) for one in kind.shape.dim[1:]]
    fixed = not kind.shape.dim[0].dim_param  # for one item only
    return {
        "name": value.name,
        "id": number,
        "shape": shape,
        "index": kind.elem_type != TensorProto.FLOAT,
        "one": fixed,
    }


def _constant(number: int, array: np.ndarray, block: bytearray) -> list[Any]:
    if array.dtype == np.bool_:
        kind, array = "bool", array.astype(np.uint8)
    elif np.issubdtype(array.dtype, np.integer):
        ends = np.iinfo(np.int32)
        kind, array = "int", array.clip(ends.min, ends.max).astype("<i4")
    else:
        kind, array = "float", array.astype("<f4")
    start = len(block)
    block += array.tobytes()
    block += bytes(-len(block) % _ALIGNED)
    return [number, kind, list(array.shape), start]


def _plain(value: Any) -> Any:
    """An attribute as JSON has it."""
    from onnx import TensorProto, numpy_helper

    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if not isinstance(value, str | int | float) else value


def _value(attributes: dict[str, Any]) -> np.ndarray:
    """The array of a Constant node, whose attribute is named by its kind."""
    name, value = next(iter(attributes.items()))
    return np.asarray(value, dtype=np.float32 if "float" in name else None)
