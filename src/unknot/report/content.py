"""What a report says: gathered from a trained run, before any of it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot import __version__
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.graph import graph
from unknot.metrics.classification import confusion_matrix
from unknot.report.gallery import Picture, gallery
from unknot.report.predictions import answered, calibration, mistakes, predicted
from unknot.report.section import Section
from unknot.report.tables import imputation, moved_columns, typical_rows
from unknot.report.texts import in_words
from unknot.train.metrics_log import read_records
from unknot.workflow.codes import style_information
from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.counterfactuals.evaluate import counterfactuals
from unknot.workflow.evaluation import DatasetPrediction, Score, predict_dataset, scores
from unknot.workflow.run import TrainedRun
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import Comparison, compare
from unknot.workflow.verdict.verdict import Verdict, judge

_DRAWN = 4  # items of the graph's example

# What a report looks at beside the pictures, in the order of the page: each takes the model, the data and the
# encoder's answers, and returns sections, or none where it has nothing to say.
SECTIONS: tuple[Callable[[TrainedModel, Dataset, DatasetPrediction], list[Section]], ...] = (
    in_words,
    mistakes,
    calibration,
    predicted,
    moved_columns,
    typical_rows,
    imputation,
)


@dataclass(frozen=True)
class Content:
    """All that the page shows."""

    title: str
    summary: str  # one line: what was learned from what
    facts: dict[str, str]
    graph_svg: str
    scores: list[Score]
    records: list[dict[str, Any]]
    verdict: Verdict = field(default_factory=lambda: Verdict((), ()))
    beside: dict[str, str] = field(default_factory=dict)  # by factor: what the simple thing does
    confusions: list[tuple[str, np.ndarray, tuple[str, ...]]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    information: list[tuple[str, float]] = field(default_factory=list)  # dimension, nats
    counterfactuals: list[Counterfactual] = field(default_factory=list)
    config: str = ""


def collect(trained: TrainedRun) -> Content:
    """Evaluate the run on its test data (or else on its training data) and gather everything for the page."""
    data = trained.test if trained.test is not None else trained.train
    name, history = trained.run.path.resolve().name, read_records(trained.run)
    content = collect_model(trained.model, data, name, seen=trained.train, history=history)
    others = None if data is trained.train else trained.train
    return replace(
        content,
        summary=_summary(trained),
        facts=_facts(trained, data),
        counterfactuals=counterfactuals(trained.model, data, others) if len(data) > 1 else [],
        config=(trained.run.path / "config.yaml").read_text(),
    )


def collect_model(
    model: TrainedModel,
    data: Dataset,
    title: str,
    dataset_size: int | None = None,
    *,
    seen: Dataset | None = None,
    history: Sequence[Mapping[str, Any]] = (),
) -> Content:
    """What can be said of a model on some data, without the run it was trained in.

    ``dataset_size`` is the number of training items, for the information in a code; by default that of the data.
    ``seen`` is the training data with the labels that could be seen, ``history`` what was logged: with them the verdict
    says more.
    """
    answers = predict_dataset(model, data)
    dimensions = style_information(model, data, dataset_size or len(seen or data))
    comparisons = [] if seen is None else compare(model, seen, None if data is seen else data, answers)
    return Content(
        title=title,
        summary=f"A saved model, looked at on {len(data):,} items of {data.name}.",
        facts={"evaluated on": f"{data.name}, {len(data):,} items", **_made(model)},
        graph_svg=_graph(model, data),
        scores=scores(model, data, answers),
        records=[dict(record) for record in history],
        verdict=judge(model, history, comparisons, dimensions),
        beside={one.factor: beside(one) for one in comparisons},
        confusions=_confusions(model, data, answers),
        pictures=gallery(model, data, dimensions) if len(model.shape) == 3 else [],
        sections=[section for make in SECTIONS for section in make(model, data, answers)],
        information=dimensions,
    )


def beside(one: Comparison) -> str:
    """What one would get by doing something simpler with the same labels."""
    text, total = one.measure.text, one.measure.total
    how = "" if one.held_out else ", each by a model that did not see it"
    constant = "the commonest class" if one.measure.share else "the mean"
    return (
        f"A linear model on {one.same_labels}{how}: {text(total(one.linear))}. "
        f"Always {constant}: {text(total(one.constant))}."
    )


def _summary(trained: TrainedRun) -> str:
    seen = _labels_seen(trained)
    return f"Learned from {len(trained.train):,} items of {trained.train.name}, with {seen}."


def _labels_seen(trained: TrainedRun) -> str:
    counts = {name: int(factor.known.sum()) for name, factor in trained.train.factors.items()}
    return ", ".join(f"{count:,} labels of {name}" for name, count in counts.items() if count) or "no labels"


def _facts(trained: TrainedRun, data: Dataset) -> dict[str, str]:
    objective = trained.recipe.train.get("objective", "")
    if isinstance(objective, Mapping):
        symbols = ", ".join(f"{k} = {v}" for k, v in objective.items() if k != "name")
        objective = f"{objective['name']} ({symbols})" if symbols else objective["name"]
    records = read_records(trained.run)
    steps = records[-1]["step"] if records else 0
    return {
        "data": f"{trained.train.name}, {len(trained.train):,} items",
        "labels seen": f"{_labels_seen(trained)} (seed {trained.budget.seed})",
        "evaluated on": f"{data.name}, {len(data):,} items",
        "objective": str(objective),
        "training": f"{steps:,} steps of {trained.run.config['train']['batch_size']} items",
        "training time": _time(records[-1].get("time", 0.0)) if records else "",
        **_made(trained.model),
    }


def _made(model: TrainedModel) -> dict[str, str]:
    weights = sum(p.numel() for p in model.module.parameters())
    return {"weights": f"{weights:,}", "made by": f"Unknot {__version__}"}


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _graph(model: TrainedModel, data: Dataset) -> str:
    """Both models, with every factor's label known for the first of four items: partly observed."""
    x = data.batch(torch.arange(_DRAWN) % len(data)).x.to_dense()
    names = model.source.label_names(model.data)
    labels = {name: one_known(data.factors[name]) for name in names if name in data.factors}
    return graph(model.program.encode, model.program.decode, (x, labels)).svg()


def one_known(factor: Factor) -> Tensor:
    """Labels of a few items: the first label there is for the first item, unknown for the others."""
    values = factor.values.cpu()
    unknown = float("nan") if values.is_floating_point() else -1
    labels = torch.full((_DRAWN, *values.shape[1:]), unknown, dtype=values.dtype)
    first = values[factor.known.cpu()][:1]
    labels[: len(first)] = first
    return labels


def _confusions(
    model: TrainedModel, data: Dataset, answers: DatasetPrediction
) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
    return [
        (one.factor, confusion_matrix(one.truth, one.guess, len(one.classes)), one.classes)
        for one in answered(model, data, answers)
    ]
