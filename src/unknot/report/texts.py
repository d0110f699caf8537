"""Sections about models of texts: the words of classes and topics, nearest documents, correlations of topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.text_dataset import excerpt
from unknot.models.families import family_of
from unknot.plots.codes import topic_correlations
from unknot.report.section import Section, TextTable
from unknot.workflow.codes import style_information
from unknot.workflow.evaluation import DatasetPrediction, class_probabilities
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.trained_model import TrainedModel

_WORDS, _TOPICS = 12, 12
_FAR = 2.0  # standard deviations of the prior at which the words of a topic are compared
_LITTLE = 1e-12  # keeps logarithms finite
_CAPTION = (
    "Words that are more probable in a class, or along a topic, with the increase of their log-probability; and the "
    "first words of the nearest document."
)
_OF_GENES = (
    "Genes with a larger share in a class than in the mean of all classes, with the difference of the natural "
    "logarithms; and the commonest genes of the cell that is most probably of the class."
)


def words_of_classes(model: TrainedModel, data: Dataset, predictions: DatasetPrediction) -> list[Section]:
    """Tables of the words of every factor's classes; only counts of words have them.

    The weight of a word is its log-probability at the class minus that at the mean of all classes.
    """
    if not isinstance(data.x, SparseCounts) or not data.columns:
        return []
    sections = []
    for node in model.labeled:
        if has_classes(node) and node.name in data.factors:
            count = node.size or 0
            expected = model.generate(
                count, {**_prior_center(model, count), node.name: torch.arange(count)}
            ).numpy()
            weights = np.log(expected + _LITTLE) - np.log(expected.mean(0) + _LITTLE)
            probabilities = class_probabilities(predictions.predictions[node.name])
            names = class_names(data.factors[node.name], count)
            table = _table(node.name, data, names, weights, probabilities)
            what, caption = ("Genes", _OF_GENES) if isinstance(data, CellDataset) else ("Words", _CAPTION)
            sections.append(Section(f"{what} of {node.name}", caption, table=table, wide=True))
    return sections


def words_of_topics(model: TrainedModel, data: Dataset, predictions: DatasetPrediction) -> list[Section]:
    """A table of the topics with most information, and how topics are correlated; only counts of words have them.

    The weight of a word is its log-probability two standard deviations out along the topic minus that at the mean of
    the prior.
    """
    if not isinstance(data.x, SparseCounts) or not data.columns or isinstance(data, CellDataset):
        return []
    topics = [_place(name) for name, nats in style_information(model, data, len(data))[:_TOPICS] if nats > 0]
    return _topics(model, data, predictions, sorted(topics)) if topics else []


def _topics(
    model: TrainedModel, data: Dataset, predictions: DatasetPrediction, topics: Sequence[tuple[str, int]]
) -> list[Section]:
    names = [f"{node}[{d}]" for node, d in topics]
    weights = _topic_weights(model, topics)
    codes = np.stack([predictions.predictions[node][:, d] for node, d in topics], 1)  # (N, K)
    sections = [
        Section("Words of topics", _CAPTION, table=_table("topic", data, names, weights, codes), wide=True)
    ]
    if len(topics) > 1:
        nodes = sorted({node for node, _ in topics})
        groups = np.array([nodes.index(node) for node, _ in topics])
        with np.errstate(invalid="ignore", divide="ignore"):
            matrix = np.nan_to_num(np.corrcoef(codes.T))
        top_words = [" ".join(data.columns[word] for word in _best(row)[:8]) for row in weights]
        caption = "Correlations of the topics' means over the documents, and the most correlated pairs of two groups."
        sections.append(
            Section(
                "Correlations of topics", caption, topic_correlations(matrix, top_words, groups), wide=True
            )
        )
    return sections


def _table(
    title: str, data: Dataset, names: Sequence[str], weights: np.ndarray, closeness: np.ndarray
) -> TextTable:
    rows = []
    for k, name in enumerate(names):
        words = ", ".join(f"{data.columns[word]} {weights[k, word]:.1f}" for word in _best(weights[k]))
        rows.append((name, words, excerpt(data, int(closeness[:, k].argmax()))))
    return TextTable((title, "words", "nearest document"), tuple(rows))


def _best(weights: np.ndarray) -> list[int]:
    return [int(word) for word in np.argsort(-weights, kind="stable")[:_WORDS]]


def _topic_weights(model: TrainedModel, topics: Sequence[tuple[str, int]]) -> np.ndarray:
    """Weights of words in topics, ``(K, V)``."""
    values = _prior_center(model, len(topics) + 1)  # the last row stays at the mean
    for row, (name, d) in enumerate(topics):
        standard = torch.zeros(model.node(name).size or 0)
        standard[d] = _FAR
        values[name] = values[name].clone()
        values[name][row] = family_of(model.node(name)).from_standard(model.node(name), standard)
    logs = np.log(model.generate(len(topics) + 1, values).numpy() + _LITTLE)
    return np.asarray(logs[:-1] - logs[-1])


def _prior_center(model: TrainedModel, count: int) -> dict[str, torch.Tensor]:
    """Every variable at the center of its prior: classes at their first, numbers at their mean."""
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
