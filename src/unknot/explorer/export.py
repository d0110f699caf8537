"""export: a trained model as one HTML page, or as ONNX files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.explorer.content import LEAST_MAPPED, Block, describe
from unknot.explorer.graphs import Graphs, export_graphs
from unknot.explorer.page import render
from unknot.explorer.page_graph import page_graph
from unknot.files import write_file
from unknot.workflow.labels import has_classes
from unknot.workflow.trained_model import TrainedModel


def export_page(
    model: TrainedModel,
    path: Path,
    data: Dataset | None = None,
    *,
    train: Dataset | None = None,
    title: str = "",
    load: str = "",
) -> None:
    """Write the explorer: one HTML file that runs the model in a browser.

    Parameters
    ----------
    model : TrainedModel
        The model.
    path : Path
        The file.
    data : Dataset, optional
        Items to choose from, best held-out ones; by default items that the model generates.
    train : Dataset, optional
        The training data with the labels that were trained on, for the ranges of sliders.
    title : str, optional
        The headline; by default the name of the file.
    load : str, optional
        The folder of the model, for the Python calls that the page shows.
    """
    graphs, block = export_graphs(model), Block(bytearray())
    protos = {"predict": graphs.predict, "decode": graphs.decode, "children": graphs.children}
    made = {name: page_graph(proto, block.content) for name, proto in protos.items() if proto is not None}
    content = describe(model, graphs, data, train, block)
    content |= {"graphs": made, "calibrated": model.predictors is not None}
    shown = len(content["items"]["rows"])
    name = "generated items" if data is None else f"items of {data.name}"
    page = render(
        title or path.stem,
        f"A trained model that runs in this page, with {shown} {name}.",
        content,
        block,
        load=json.dumps(load) if load else "",
        data_name=name,
        map_caption="Items whose predictions are alike are close to each other (t-SNE)."
        if shown >= LEAST_MAPPED
        else "The items by principal components of their predictions.",
    )
    write_file(path, page.encode())


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
        one: dict[str, Any] = {"name": node.name, "family": node.family.name, "size": node.size}
        one["labels"] = node.labels
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
