"""The default model of labeled texts: classes by Bayes' rule from their words, and topics for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.workflow.labels import class_count

# Few steps at a low rate: the words of the classes begin where naive Bayes with EM ends.
TEXT_TRAINING: Mapping[str, Any] = {
    "objective": {"name": "semi_supervised", "alpha": 30.0},
    "steps": 300,
    "batch_size": 256,
    "learning_rate": {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20},
    "betas": [0.9, 0.99],
    "labeled_share": None,
}
# Words of the corpus that a class is believed to have seen beside its own: with many labels the term that tells classes
# apart counts each of them many times, and only a prior that grows with them keeps it from learning them by heart.
PRIOR_WORDS, PRIOR_WORDS_A_LABEL = 2000.0, 200.0


def suits_text_model(data: Dataset) -> bool:
    """Whether the data are counts of words with labels of one factor that has classes."""
    if not isinstance(data.x, SparseCounts) or len(data.factors) != 1:
        return False
    factor = next(iter(data.factors.values()))
    return factor.kind in ("categorical", "binary") and bool(factor.known.any())


def text_model(data: Dataset, topics: int = 0) -> dict[str, Any]:
    """A description: the class enumerated, recognized by Bayes' rule, and beside it so many ``topics``.

    Counts are weighed by tf-idf. Every class is believed to have seen two thousand words of the corpus, from ten
    labels a class on two hundred a label.
    """
    (name, factor), x = next(iter(data.factors.items())), "x"
    while x in data.factors:
        x += "_"
    style = "topics" if name != "topics" else "topics_"
    nodes: dict[str, Any] = {
        name: {
            "family": "categorical",
            "size": class_count(factor),
            "inferred_from": [x],
            "labels": True,
            "encoder": "bayes",
        }
    }
    if topics:
        nodes[style] = {"family": "normal", "size": topics, "inferred_from": [x]}
    prior = max(PRIOR_WORDS, PRIOR_WORDS_A_LABEL * int(factor.known.sum()) / class_count(factor))
    parents = [name, style] if topics else [name]
    nodes[x] = {"family": "multinomial", "parents": parents, "prior_words": prior}
    if not data.x.dtype.is_floating_point:  # of texts, words are weighed already
        nodes[x]["weights"] = "tfidf"
    return {"nodes": nodes}
