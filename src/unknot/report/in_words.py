"""What a model of texts has learned, in words: classes and topics, the documents nearest to them, correlations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.excerpt import excerpt
from unknot.data.sparse_counts import SparseCounts
from unknot.models.families import family_of
from unknot.plots.topic_correlations import topic_correlations
from unknot.report.section import Section, Table
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.measures import class_probabilities
from unknot.workflow.style_information import style_information
from unknot.workflow.trained_model import TrainedModel

_WORDS, _TOPICS = 12, 12
_FAR = 2.0  # standard deviations of the prior at which a topic is looked at
_LITTLE = 1e-12  # keeps logarithms finite
_CAPTION = (
    "Words that become likelier in a class, or along a topic, with the rise of their log-probability; and the "
    "beginning of the document nearest to it."
)


def in_words(model: TrainedModel, data: Dataset, answers: DatasetPrediction) -> list[Section]:
    """Tables of the classes and of the topics with most information, and how topics are correlated.

    Weights of words are log-probabilities at the class, or two standard deviations out along the topic, less those
    at the mean of all classes, or at the prior's mean. Data that are no counts of words have no such section.
    """
    if not isinstance(data.x, SparseCounts) or not data.columns:
        return []
    found = []
    for node in model.labeled:
        if has_classes(node) and node.name in data.factors:
            count = node.size or 0
            made = model.generate(count, {**_rest(model, count), node.name: torch.arange(count)}).numpy()
            weights = np.log(made + _LITTLE) - np.log(made.mean(0) + _LITTLE)
            shares = class_probabilities(answers.predictions[node.name])
            names = class_names(data.factors[node.name], count)
            table = _table(node.name, data, names, weights, shares)
            found.append(Section(f"In words: {node.name}", _CAPTION, table=table, wide=True))
    topics = [_place(name) for name, nats in style_information(model, data, len(data))[:_TOPICS] if nats > 0]
    return found + (_topics(model, data, answers, sorted(topics)) if topics else [])


def _topics(
    model: TrainedModel, data: Dataset, answers: DatasetPrediction, topics: Sequence[tuple[str, int]]
) -> list[Section]:
    names = [f"{node}[{d}]" for node, d in topics]
    weights = _topic_weights(model, topics)
    codes = np.stack([answers.predictions[node][:, d] for node, d in topics], 1)  # (N, K)
    found = [
        Section("In words: topics", _CAPTION, table=_table("topic", data, names, weights, codes), wide=True)
    ]
    if len(topics) > 1:
        nodes = sorted({node for node, _ in topics})
        groups = np.array([nodes.index(node) for node, _ in topics])
        with np.errstate(invalid="ignore", divide="ignore"):
            matrix = np.nan_to_num(np.corrcoef(codes.T))
        spoken = [" ".join(data.columns[word] for word in _best(row)[:8]) for row in weights]
        caption = "Correlation of the topics' means over the documents, and the most correlated pairs of two groups."
        found.append(
            Section("Topics: correlations", caption, topic_correlations(matrix, spoken, groups), wide=True)
        )
    return found


def _table(
    title: str, data: Dataset, names: Sequence[str], weights: np.ndarray, closeness: np.ndarray
) -> Table:
    rows = []
    for k, name in enumerate(names):
        words = ", ".join(f"{data.columns[word]} {weights[k, word]:.1f}" for word in _best(weights[k]))
        rows.append((name, words, excerpt(data, int(closeness[:, k].argmax()))))
    return Table((title, "words", "nearest document"), tuple(rows))


def _best(weights: np.ndarray) -> list[int]:
    return [int(word) for word in np.argsort(-weights, kind="stable")[:_WORDS]]


def _topic_weights(model: TrainedModel, topics: Sequence[tuple[str, int]]) -> np.ndarray:
    """Weights of words in topics, ``(K, V)``."""
    values = _rest(model, len(topics) + 1)  # the last row stays at the mean
    for row, (name, d) in enumerate(topics):
        standard = torch.zeros(model.node(name).size or 0)
        standard[d] = _FAR
        values[name] = values[name].clone()
        values[name][row] = family_of(model.node(name)).from_standard(model.node(name), standard)
    logs = np.log(model.generate(len(topics) + 1, values).numpy() + _LITTLE)
    return np.asarray(logs[:-1] - logs[-1])


def _rest(model: TrainedModel, count: int) -> dict[str, torch.Tensor]:
    """Every variable at the middle of its prior: classes at their first, numbers at their mean."""
    return {
        node.name: torch.zeros(count, dtype=torch.int64)
        if has_classes(node)
        else family_of(node).from_standard(node, torch.zeros(count, node.size or 0))
        for node in model.settable
    }


def _place(name: str) -> tuple[str, int]:
    """``topics[3]`` as the node and the dimension."""
    node, _, rest = name.rpartition("[")
    return node, int(rest.rstrip("]"))
