"""What a report shows: gathered from a trained run, before any of it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unknot.data.dataset import Dataset
from unknot.report.answer import Answer, answers
from unknot.report.cells import cell_sections
from unknot.report.data_tables import class_counts, labels_in_words, measured, versions
from unknot.report.gallery import Picture, gallery
from unknot.report.importance import importance
from unknot.report.predictions import doubts, uncertain
from unknot.report.section import Section, TextTable
from unknot.report.tables import imputation, moved_columns, typical_rows
from unknot.report.texts import words_of_classes, words_of_topics
from unknot.train.metrics_log import read_records
from unknot.workflow.codes import style_information
from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.counterfactuals.evaluate import counterfactuals, counterfactuals_of_run
from unknot.workflow.data_summary import describe_data
from unknot.workflow.evaluation import DatasetPrediction, class_probabilities, predict_dataset
from unknot.workflow.labels import class_names
from unknot.workflow.model_graph import model_graph
from unknot.workflow.run import TrainedRun
from unknot.workflow.trained_labels import held_out_labels, why_no_error, without_labels
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import compare, compare_out_of_fold
from unknot.workflow.verdict.unseen import Unseen, unseen_labels
from unknot.workflow.verdict.verdict import Verdict, judge


@dataclass(frozen=True)
class Content:
    """Everything on the page, in its order.

    Parameters
    ----------
    title, summary : str
        The headline, and one line about what was trained on what.
    verdict : Verdict
        What went wrong, and why an error is not shown.
    answers : list of Answer
        How good the predictions of each factor are on labels that were not trained on.
    numbers : list of Section
        The same in a table.
    facts : dict from str to str
        The table about data and training.
    data : list of Section
        Tables about the data.
    doubts : list of Section
        Mistakes, calibration and uncertain items.
    changes : list of Section
        What changes with each factor.
    model : list of Section
        Everything else about the model.
    pictures : list of Picture
        Images, about changes or about the model.
    graph_svg : str
        The drawing of both programs.
    information : list of (str, float)
        Dimensions of the style with their nats.
    records : list of dict
        The logged terms.
    config : str
        The settings of the run.
    explorer : str
        The file of the explorer beside the page, if there is one.
    """

    title: str
    summary: str
    verdict: Verdict
    graph_svg: str
    answers: list[Answer] = field(default_factory=list)
    numbers: list[Section] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    data: list[Section] = field(default_factory=list)
    doubts: list[Section] = field(default_factory=list)
    changes: list[Section] = field(default_factory=list)
    model: list[Section] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    information: list[tuple[str, float]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    config: str = ""
    explorer: str = ""


def collect(trained: TrainedRun) -> Content:
    """Evaluate a run on its test data, or show it on its training data, and gather everything for the page."""
    data = trained.test if trained.test is not None else trained.train
    name, history = trained.run.path.resolve().name, read_records(trained.run)
    content = collect_model(
        trained.model,
        data,
        name,
        train=trained.train,
        history=history,
        changed=counterfactuals_of_run(trained),
    )
    described = _described(trained.train, trained.test)
    return replace(
        content,
        summary=f"Trained on {len(trained.train):,} items of {trained.train.name}, with "
        f"{labels_in_words(trained.train)}.",
        facts={**described, **_facts(trained, data), **_made(trained.model)},
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
    changed: Sequence[Counterfactual] | None = None,
) -> Content:
    """Gather what can be said of a model on some data, without the run it was trained in.

    Labels that the model was trained on are not compared with its predictions: an error on them would say nothing about
    other items. Their out-of-fold predictions are shown instead, if the model has any.

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
    changed : sequence of Counterfactual or None
        What happens when a factor is changed; by default measured by the model's own encoder.

    Returns
    -------
    Content
    """
    predictions = predict_dataset(model, data)
    if train is None:
        held_out = held_out_labels(model, data)
    else:
        held_out = without_labels(data) if data is train else data
    unseen = unseen_labels(model, data, held_out, predictions)
    comparisons = (
        compare_out_of_fold(model) if train is None else compare(model, train, held_out, predictions)
    )
    if changed is None:
        changed = counterfactuals(model, data, train, independent=False) if len(data) > 1 else []
    dimensions = style_information(model, data, dataset_size or len(train or data))
    no_error = why_no_error(model, held_out, data, train)
    trained_on = data is train or not _as_many_labels(held_out, data)
    return Content(
        title=title,
        summary=f"A trained model, shown on {len(data):,} items of {data.name}"
        f"{', some of which it was trained on' if trained_on else ''}.",
        verdict=judge(model, history, comparisons, dimensions, no_error, unseen, changed),
        graph_svg=model_graph(model, data).svg(),
        answers=answers(unseen, comparisons),
        numbers=measured(unseen, _others(model, data, unseen)),
        facts={**_described(data, None), **_made(model)},
        data=class_counts(model, data if train is None else train, predictions, len(data)),
        doubts=[*doubts(unseen, data), *_uncertain(model, data, held_out, predictions, unseen)],
        changes=[
            *cell_sections(model, data),
            *importance(model, data),
            *(_changed(one) for one in changed),
            *moved_columns(model, data),
            *typical_rows(model, data),
            *words_of_classes(model, data, predictions),
        ],
        model=[
            *words_of_topics(model, data, predictions),
            *([] if trained_on else imputation(model, data)),
        ],
        pictures=gallery(model, data, dimensions) if len(model.shape) == 3 else [],
        information=dimensions,
        records=[dict(record) for record in history],
    )


def _others(model: TrainedModel, data: Dataset, unseen: Sequence[Unseen]) -> list[Unseen]:
    """The out-of-fold labels of factors whose held-out labels are shown first."""
    held_out = {one.factor for one in unseen if not one.folds}
    every = unseen_labels(model, data, without_labels(data), None)
    return [one for one in every if one.factor in held_out]


def _uncertain(
    model: TrainedModel,
    data: Dataset,
    held_out: Dataset,
    predictions: DatasetPrediction,
    unseen: Sequence[Unseen],
) -> list[Section]:
    """The least certain predictions for items whose labels were not trained on, or else out of fold."""
    sections = []
    out_of_fold = {one.factor: one for one in unseen if one.folds}
    for node in model.labeled:
        own = model.data.factors.get(node.name)
        if own is None or own.kind == "continuous":
            continue
        probabilities = class_probabilities(predictions.predictions[node.name])
        names = class_names(own, probabilities.shape[1])
        rows = np.arange(len(data))
        if node.name in data.factors:
            new = ~(data.factors[node.name].known & ~held_out.factors[node.name].known)
            rows = rows[new.cpu().numpy()]
        probabilities = probabilities[rows]
        one = out_of_fold.get(node.name)
        if not len(rows) and one is not None:
            rows, probabilities = one.rows[one.rows >= 0], one.predictions[one.rows >= 0]
        sections += uncertain(node.name, names, probabilities, rows, data)
    return sections


def _changed(one: Counterfactual) -> Section:
    caption = (
        f"{one.verdict} Each of {one.items:,} items with its {one.factor} set to {one.settings} values in turn and "
        "everything else kept, then predicted again."
    )
    table = TextTable(("number", "value", "compare with"), tuple(one.rows))
    return Section(f"Setting {one.factor}", caption, table=table, wide=True)


def _described(train: Dataset, test: Dataset | None) -> dict[str, str]:
    """The lines that are printed before training, by what they are about."""
    parts = (line.partition(": ") for line in describe_data(train, test))
    return {about: text for about, _, text in parts}


def _as_many_labels(held_out: Dataset, data: Dataset) -> bool:
    """Whether no label is hidden, so that the items were not trained on as far as is known."""
    return all(
        bool((factor.known == held_out.factors[name].known).all()) for name, factor in data.factors.items()
    )


def _facts(trained: TrainedRun, data: Dataset) -> dict[str, str]:
    objective = trained.recipe.train.get("objective", "")
    if isinstance(objective, Mapping):
        options = {key: value for key, value in objective.items() if key != "name"}
        objective = _with_options(str(objective["name"]), options)
    records = read_records(trained.run)
    steps = records[-1]["step"] if records else 0
    return {
        "training labels": f"{labels_in_words(trained.train)} (seed {trained.budget.seed})",
        "shown on this page": f"{data.name}, {len(data):,} {_kind_of_items(data is trained.train)}",
        "objective": str(objective),
        "training": f"{steps:,} steps of {trained.run.config['train']['batch_size']} items",
        "training time": _time(records[-1].get("time", 0.0)) if records else "",
    }


def _kind_of_items(trained_on: bool) -> str:
    return "items that the model was trained on" if trained_on else "held-out items"


def _with_options(name: str, value: Any) -> str:
    """A setting in words: ``beta = 4``, or with its own settings in brackets."""
    if not isinstance(value, Mapping):
        return f"{name} = {value}"
    options = ", ".join(_with_options(key, one) for key, one in value.items())
    return f"{name} ({options})" if options else name


def _made(model: TrainedModel) -> dict[str, str]:
    return {"weights": f"{sum(p.numel() for p in model.module.parameters()):,}", **versions()}


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
