"""export: a trained model as one HTML page, or as ONNX files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unknot.errors import SpecError
from unknot.explorer.graphs import Graphs, export_graphs
from unknot.files import write_file
from unknot.workflow.labels import has_classes
from unknot.workflow.trained_model import TrainedModel


def export_onnx(model: TrainedModel, path: Path) -> list[Path]:
    """Write the graphs of a model and a description of its factors.

    Parameters
    ----------
    model : TrainedModel
        The model.
    path : Path
        ``model.onnx`` stands for ``model.encoder.onnx``, ``model.decoder.onnx`` and ``model.json``. Variables that are
        inferred from other variables alone have a graph ``model.children.onnx``.

    Returns
    -------
    list of Path
        The files. A graph that cannot be exported is left out, and the description says why.
    """
    if path.suffix != ".onnx":
        raise SpecError(f"a model is exported to .onnx, but got {path.name}.")
    graphs = export_graphs(model)
    written = []
    for name, proto in (
        ("encoder", graphs.predict),
        ("decoder", graphs.decode),
        ("children", graphs.children),
    ):
        if proto is not None:
            written.append(path.with_suffix(f".{name}.onnx"))
            write_file(written[-1], proto.SerializeToString())
    written.append(path.with_suffix(".json"))
    write_file(written[-1], json.dumps(described(model, graphs), indent=1).encode())
    return written


def described(model: TrainedModel, graphs: Graphs) -> dict[str, Any]:
    """Return the factors, their classes, and the inputs and outputs of the graphs, as JSON has them."""
    factors: list[dict[str, Any]] = []
    for node in model.latents:
        one = {"name": node.name, "family": node.family.name, "size": node.size, "labels": node.labels}
        if has_classes(node):
            one["classes"] = [str(value) for value in model.class_values(node.name)]
        factors.append(one)
    protos = {"encoder": graphs.predict, "decoder": graphs.decode, "children": graphs.children}
    return {
        "item_shape": list(model.shape),
        "factors": factors,
        "graphs": {
            name: {
                "inputs": [one.name for one in proto.graph.input],
                "outputs": [one.name for one in proto.graph.output],
            }
            for name, proto in protos.items()
            if proto is not None
        },
        "not_exported": dict(graphs.refused),
    }
