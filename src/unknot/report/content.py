"""What a report says: gathered from a trained run, before any of it is drawn."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.core.graph import graph
from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.experiments.evaluation import Answers, Score, recognise, scores
from unknot.experiments.trained import Trained
from unknot.metrics.classification import confusion_matrix
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import NodeSpec
from unknot.objectives.diagnostics import UNUSED_BELOW, information
from unknot.report import pictures

_SHOWN = 10  # items in a row of pictures
_MEASURED = 1000  # items used to estimate information
_MOST_CLASSES = 12  # columns of an analogy


@dataclass(frozen=True)
class Picture:
    """Images in rows and columns, and what they show."""

    title: str
    caption: str
    images: np.ndarray  # (R, C, colours, H, W)
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    separate_first: bool = False


@dataclass(frozen=True)
class Content:
    """All that the page shows."""

    title: str
    facts: dict[str, str]
    graph_svg: str
    scores: list[Score]
    records: list[dict[str, Any]]
    confusions: list[tuple[str, np.ndarray, tuple[str, ...]]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    information: list[tuple[str, float]] = field(default_factory=list)  # dimension, nats
    config: str = ""


def collect(trained: Trained) -> Content:
    """Evaluate the run on its test data (or else on its training data) and gather everything for the page."""
    model, data = trained.model.eval(), trained.test if trained.test is not None else trained.train
    answers = recognise(model, data)
    dimensions = style_information(model, data, len(trained.train))
    return Content(
        title=trained.run.path.resolve().name,
        facts=_facts(trained, data),
        graph_svg=_graph(model, trained.train),
        scores=scores(model, data, answers),
        records=_records(trained),
        confusions=_confusions(model, data, answers),
        pictures=_pictures(model, data, dimensions) if len(model.shape) == 3 else [],
        information=dimensions,
        config=(trained.run.path / "config.yaml").read_text(),
    )


def style_information(model: GraphicalModel, data: Dataset, dataset_size: int) -> list[tuple[str, float]]:
    """I(x; z_d) in nats for every dimension of the Gaussian nodes, most informative first (E19 Fig. 4 right).

    Nodes are taken at the best values of their parents, so that q(z_d | x) is a density of x alone.
    """
    items = data.subset(range(min(_MEASURED, len(data))))
    x = items.batch(range(len(items))).x
    size = max(dataset_size, len(items))
    found = []
    with torch.no_grad(), torch.random.fork_rng(devices=[]), validation(False):
        torch.manual_seed(0)
        values = model.recognise(x).values
        for node in _gaussian(model):
            given = {name: value for name, value in values.items() if name != node.name}
            loc, scale = model.gaussian(x, node.name, given)
            q = Trace()
            q.normal(loc, scale, name=node.name, event_dims=1)
            nats = information(q, size).dimensions[node.name]
            found += [(f"{node.name}[{d}]", float(n)) for d, n in enumerate(nats)]
    return sorted(found, key=lambda pair: -pair[1])


def _gaussian(model: GraphicalModel) -> list[NodeSpec]:
    return [node for node in model.spec.latents if node.family == "normal"]


def _facts(trained: Trained, data: Dataset) -> dict[str, str]:
    shown = {name: int(factor.known.sum()) for name, factor in trained.train.factors.items()}
    labels = ", ".join(f"{count} of {name}" for name, count in shown.items() if count) or "none"
    weights = sum(p.numel() for p in trained.model.parameters())
    return {
        "training items": f"{len(trained.train):,}",
        "labels seen": labels,
        "evaluated on": f"{len(data):,} items of {data.name}",
        "weights": f"{weights:,}",
        "steps": f"{trained.recipe.train_config(trained.train).steps}",
        "label seed": str(trained.budget.seed),
    }


def _graph(model: GraphicalModel, data: Dataset) -> str:
    x = data.batch(range(min(4, len(data)))).x
    names = [n.name for n in model.spec.labelled if n.name in data.factors]
    half = {name: data.factors[name].values[: len(x)].clone() for name in names}
    labels = {name: _partly(values) for name, values in half.items()}
    return graph(model.encode, model.decode, (x, labels)).svg()


def _partly(values: Tensor) -> Tensor:
    """Labels of which the last is hidden, so that the node shows as partly observed."""
    values[-1] = float("nan") if values.is_floating_point() else -1
    return values


def _records(trained: Trained) -> list[dict[str, Any]]:
    path = trained.run.metrics
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _confusions(model: GraphicalModel, data: Dataset, answers: Answers) -> list[Any]:
    found = []
    for node in model.spec.labelled:
        factor = data.factors.get(node.name)
        if factor is None or factor.kind == "continuous" or not bool(factor.known.any()):
            continue
        count = answers.summaries[node.name].shape[1]
        classes = factor.classes or tuple(str(i) for i in range(count))
        matrix = confusion_matrix(factor.values.cpu().numpy(), answers.summaries[node.name].argmax(-1), count)
        found.append((node.name, matrix, tuple(classes)))
    return found


def _pictures(model: GraphicalModel, data: Dataset, dimensions: list[tuple[str, float]]) -> list[Picture]:
    x = data.batch(range(min(_SHOWN, len(data)))).x
    found = [
        Picture(
            "Reconstructions",
            "Test items above, what the model makes of them below.",
            pictures.reconstructions(model, x),
            rows=("item", "model"),
        ),
    ]
    for node in model.spec.labelled:
        found += _analogies(model, data, x, node)
    for node in _gaussian(model):
        if not node.labels and node.size is not None and node.size >= 2:
            found += _style_pictures(model, x, node, dimensions)
    found.append(
        Picture("Samples", "New items, every node drawn from its prior.", pictures.samples(model, 3, _SHOWN))
    )
    return found


def _analogies(model: GraphicalModel, data: Dataset, x: Tensor, node: NodeSpec) -> list[Picture]:
    factor = data.factors.get(node.name)
    if factor is None or factor.kind == "continuous" or node.size is None or node.size > _MOST_CLASSES:
        return []
    images = pictures.analogies(model, x, node, torch.arange(node.size))
    names = factor.classes or tuple(str(i) for i in range(node.size))
    caption = f"Left: a test item. Right: the same item with {node.name} changed and everything else kept."
    return [Picture(f"Analogies: {node.name}", caption, images, ("item", *names), separate_first=True)]


def _style_pictures(
    model: GraphicalModel, x: Tensor, node: NodeSpec, dimensions: list[tuple[str, float]]
) -> list[Picture]:
    own = [
        (int(name.split("[")[1][:-1]), nats) for name, nats in dimensions if name.startswith(f"{node.name}[")
    ]
    ranked = [dimension for dimension, _ in own]
    used = [dimension for dimension, nats in own if nats >= UNUSED_BELOW] or ranked
    spread = f"from -{pictures.SPREAD:g} to {pictures.SPREAD:g}"
    return [
        Picture(
            f"{node.name.capitalize()} grid",
            f"One item; its two most informative dimensions of {node.name} swept {spread}, everything else kept.",
            pictures.style_grid(model, x, node, (ranked[0], ranked[1])),
        ),
        Picture(
            f"Traversals of {node.name}",
            f"One item; one dimension of {node.name} swept {spread} in each row, the most informative first.",
            pictures.traversals(model, x, node, used[:_SHOWN]),
            rows=tuple(f"{node.name}[{d}]" for d in used[:_SHOWN]),
        ),
    ]
