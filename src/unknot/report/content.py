"""What a report says: gathered from a trained run, before any of it is drawn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot import __version__
from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.graph import graph
from unknot.metrics.classification import confusion_matrix
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import NodeSpec
from unknot.objectives.diagnostics import information
from unknot.report.gallery import Picture, gallery
from unknot.report.typical_rows import TypicalRows, typical_rows
from unknot.workflow.evaluation import Answers, Score, class_probabilities, recognise, scores
from unknot.workflow.labels import CLASS_FAMILIES, class_names
from unknot.workflow.trained import Trained

_MEASURED = 1000  # items used to estimate information


@dataclass(frozen=True)
class Content:
    """All that the page shows."""

    title: str
    summary: str  # one line: what was learned from what
    facts: dict[str, str]
    graph_svg: str
    scores: list[Score]
    records: list[dict[str, Any]]
    confusions: list[tuple[str, np.ndarray, tuple[str, ...]]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    typical_rows: list[TypicalRows] = field(default_factory=list)
    information: list[tuple[str, float]] = field(default_factory=list)  # dimension, nats
    config: str = ""


def collect(trained: Trained) -> Content:
    """Evaluate the run on its test data (or else on its training data) and gather everything for the page."""
    model, data = trained.model.eval(), trained.test if trained.test is not None else trained.train
    answers = recognise(model, data)
    dimensions = style_information(model, data, len(trained.train))
    return Content(
        title=trained.run.path.resolve().name,
        summary=_summary(trained),
        facts=_facts(trained, data),
        graph_svg=_graph(model, trained.train),
        scores=scores(model, data, answers),
        records=_records(trained),
        confusions=_confusions(model, data, answers),
        pictures=gallery(model, data, dimensions) if len(model.shape) == 3 else [],
        typical_rows=typical_rows(model, data),
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


def _summary(trained: Trained) -> str:
    seen = _labels_seen(trained)
    return f"Learned from {len(trained.train):,} items of {trained.train.name}, with {seen}."


def _labels_seen(trained: Trained) -> str:
    counts = {name: int(factor.known.sum()) for name, factor in trained.train.factors.items()}
    return ", ".join(f"{count:,} labels of {name}" for name, count in counts.items() if count) or "no labels"


def _facts(trained: Trained, data: Dataset) -> dict[str, str]:
    weights = sum(p.numel() for p in trained.model.parameters())
    objective = trained.recipe.train.get("objective", "")
    if isinstance(objective, Mapping):
        symbols = ", ".join(f"{k} = {v}" for k, v in objective.items() if k != "name")
        objective = f"{objective['name']} ({symbols})" if symbols else objective["name"]
    records = _records(trained)
    steps = records[-1]["step"] if records else 0
    return {
        "data": f"{trained.train.name}, {len(trained.train):,} items",
        "labels seen": f"{_labels_seen(trained)} (seed {trained.budget.seed})",
        "evaluated on": f"{data.name}, {len(data):,} items",
        "objective": str(objective),
        "steps": f"{steps:,} of {trained.recipe.train.get('batch_size')} items",
        "training time": _time(records[-1].get("time", 0.0)) if records else "",
        "weights": f"{weights:,}",
        "made by": f"Unknot {__version__}",
    }


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _graph(model: GraphicalModel, data: Dataset) -> str:
    """Both models, with every labelled node known for the first of four items: partly observed."""
    x = data.batch(torch.arange(4) % len(data)).x
    labels = {node.name: _partly(node, len(x)) for node in model.spec.labelled}
    return graph(model.encode, model.decode, (x, labels)).svg()


def _partly(node: NodeSpec, count: int) -> Tensor:
    """A value that the node can take for the first item, unknown for the others."""
    if node.family in CLASS_FAMILIES:
        return torch.tensor([0] + [-1] * (count - 1))
    value = torch.full((count, node.size or 1), float("nan"))
    value[0] = torch.eye(node.size or 1)[0]
    return value


def _records(trained: Trained) -> list[dict[str, Any]]:
    path = trained.run.metrics
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _confusions(model: GraphicalModel, data: Dataset, answers: Answers) -> list[Any]:
    found = []
    for node in model.spec.labelled:
        factor = data.factors.get(node.name)
        if factor is None or factor.kind == "continuous" or not bool(factor.known.any()):
            continue
        shares = class_probabilities(answers.summaries[node.name])
        count = shares.shape[1]
        matrix = confusion_matrix(factor.values.cpu().numpy(), shares.argmax(-1), count)
        found.append((node.name, matrix, class_names(factor, count)))
    return found
