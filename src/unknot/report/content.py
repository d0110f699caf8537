"""What a report shows: gathered from a trained run, before any of it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot import __version__
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.graph import graph
from unknot.metrics.prediction_error import confusion_matrix
from unknot.report.gallery import Picture, gallery
from unknot.report.predictions import calibration, class_predictions, mistakes, predicted_and_true
from unknot.report.section import Section
from unknot.report.tables import imputation, moved_columns, typical_rows
from unknot.report.texts import topics_and_words
from unknot.train.metrics_log import read_records
from unknot.workflow.codes import style_information
from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.counterfactuals.evaluate import counterfactuals_of_run
from unknot.workflow.evaluation import DatasetPrediction, Score, predict_dataset, scores
from unknot.workflow.run import TrainedRun
from unknot.workflow.trained_labels import held_out_labels, why_no_error, without_labels
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import Comparison, compare
from unknot.workflow.verdict.verdict import Verdict, judge, same_labels

_DRAWN = 4  # items of the graph's example


@dataclass(frozen=True)
class Content:
    """Everything on the page.

    Parameters
    ----------
    title, summary : str
        The headline, and one line about what was trained on what.
    facts : dict from str to str
        The table about the run.
    graph_svg : str
        The drawing of both programs.
    scores : list of Score
        One for each factor with held-out labels.
    records : list of dict
        The logged terms.
    verdict : Verdict
        What went wrong, and why an error is not shown.
    beside : dict from str to str
        By factor the scores of the baselines.
    confusions : list of (str, ndarray, tuple of str)
        Factors with their confusion matrix and their classes.
    pictures : list of Picture
        Images.
    sections : list of Section
        Everything else that has a figure or a table.
    information : list of (str, float)
        Dimensions of the style with their nats.
    counterfactuals : list of Counterfactual
        One for each factor.
    config : str
        The settings of the run.
    """

    title: str
    summary: str
    facts: dict[str, str]
    graph_svg: str
    scores: list[Score]
    records: list[dict[str, Any]]
    verdict: Verdict = field(default_factory=lambda: Verdict((), ()))
    beside: dict[str, str] = field(default_factory=dict)
    confusions: list[tuple[str, np.ndarray, tuple[str, ...]]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    information: list[tuple[str, float]] = field(default_factory=list)
    counterfactuals: list[Counterfactual] = field(default_factory=list)
    config: str = ""


def collect(trained: TrainedRun) -> Content:
    """Evaluate a run on its test data, or show it on its training data, and gather everything for the page."""
    data = trained.test if trained.test is not None else trained.train
    name, history = trained.run.path.resolve().name, read_records(trained.run)
    content = collect_model(trained.model, data, name, train=trained.train, history=history)
    return replace(
        content,
        summary=f"Trained on {len(trained.train):,} items of {trained.train.name}, with {_labels(trained)}.",
        facts=_facts(trained, data),
        counterfactuals=counterfactuals_of_run(trained),
        config=(trained.run.path / "config.yaml").read_text(),
    )


def collect_model(
    model: TrainedModel,
    data: Dataset,
    title: str,
    dataset_size: int | None = None,
    *,
    train: Dataset | None = None,
    history: Sequence[Mapping[str, Any]] = (),
) -> Content:
    """Gather what can be said of a model on some data, without the run it was trained in.

    Labels that the model was trained on are compared with nothing: an error on them would say nothing about other
    items.

    Parameters
    ----------
    model : TrainedModel
        The model.
    data : Dataset
        The items to show.
    title : str
        The headline.
    dataset_size : int or None
        The number of training items, for the information in the style; by default that of the data.
    train : Dataset or None
        The training data with the labels that training saw. ``data`` is this object, or has held-out items. Without it
        the model tells which labels it was trained on.
    history : sequence of mapping
        The logged records.

    Returns
    -------
    Content
    """
    predictions = predict_dataset(model, data)
    if train is None:
        held_out = held_out_labels(model, data)
    else:
        held_out = without_labels(data) if data is train else data
    dimensions = style_information(model, data, dataset_size or len(train or data))
    comparisons = [] if train is None else compare(model, train, held_out, predictions)
    verdict = judge(model, history, comparisons, dimensions, why_no_error(model, held_out, data, train))
    return Content(
        title=title,
        summary=f"A saved model, evaluated on {len(data):,} items of {data.name}.",
        facts={"evaluated on": f"{data.name}, {len(data):,} items", **_made(model)},
        graph_svg=_graph(model, data),
        scores=scores(model, held_out, predictions),
        records=[dict(record) for record in history],
        verdict=verdict,
        beside={one.factor: baselines(one) for one in comparisons if one.held_out},
        confusions=_confusions(model, held_out, predictions),
        pictures=gallery(model, data, dimensions) if len(model.shape) == 3 else [],
        sections=[
            *topics_and_words(model, data, predictions),
            *mistakes(model, held_out, predictions),
            *calibration(model, held_out, predictions),
            *predicted_and_true(model, held_out, predictions),
            *moved_columns(model, data),
            *typical_rows(model, data),
            *(imputation(model, data) if data is not train and _as_many_labels(held_out, data) else []),
        ],
        information=dimensions,
    )


def baselines(comparison: Comparison) -> str:
    """The scores of a linear model on the same labels and of a constant prediction, in words."""
    text, total = comparison.measure.text, comparison.measure.total
    constant = "the most frequent class" if comparison.measure.share else "the mean"
    return (
        f"A linear model on {same_labels(comparison)}: {text(total(comparison.linear))}. "
        f"Always {constant}: {text(total(comparison.constant))}."
    )


def _as_many_labels(held_out: Dataset, data: Dataset) -> bool:
    """Whether no label is hidden, so that the items were not trained on as far as is known."""
    return all(
        bool((factor.known == held_out.factors[name].known).all()) for name, factor in data.factors.items()
    )


def _labels(trained: TrainedRun) -> str:
    counts = {name: int(factor.known.sum()) for name, factor in trained.train.factors.items()}
    return ", ".join(f"{count:,} labels of {name}" for name, count in counts.items() if count) or "no labels"


def _facts(trained: TrainedRun, data: Dataset) -> dict[str, str]:
    objective = trained.recipe.train.get("objective", "")
    if isinstance(objective, Mapping):
        options = {key: value for key, value in objective.items() if key != "name"}
        objective = _with_options(str(objective["name"]), options)
    records = read_records(trained.run)
    steps = records[-1]["step"] if records else 0
    what = "shown on its training items" if data is trained.train else "evaluated on"
    return {
        "data": f"{trained.train.name}, {len(trained.train):,} items",
        "training labels": f"{_labels(trained)} (seed {trained.budget.seed})",
        what: f"{data.name}, {len(data):,} items",
        "objective": str(objective),
        "training": f"{steps:,} steps of {trained.run.config['train']['batch_size']} items",
        "training time": _time(records[-1].get("time", 0.0)) if records else "",
        **_made(trained.model),
    }


def _with_options(name: str, value: Any) -> str:
    """A setting in words: ``beta = 4``, or with its own settings in brackets."""
    if not isinstance(value, Mapping):
        return f"{name} = {value}"
    options = ", ".join(_with_options(key, one) for key, one in value.items())
    return f"{name} ({options})" if options else name


def _made(model: TrainedModel) -> dict[str, str]:
    weights = sum(p.numel() for p in model.module.parameters())
    return {"weights": f"{weights:,}", "made by": f"Unknot {__version__}"}


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _graph(model: TrainedModel, data: Dataset) -> str:
    """Both programs, with every factor's label known for the first of four items: partly observed."""
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
    model: TrainedModel, held_out: Dataset, predictions: DatasetPrediction
) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
    return [
        (one.factor, confusion_matrix(one.truth, one.predicted, len(one.classes)), one.classes)
        for one in class_predictions(model, held_out, predictions)
    ]
