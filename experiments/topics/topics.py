"""What topics-prodlda and topics-nvdm share: how models are trained, measured and shown (E19 sec. 5.2, App. D)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ledger.experiment import Case, Measure, Numbers, Settings, Tier
from experiments.topics.topic_baselines import RIVALS, rival_numbers
from experiments.topics.topic_corpus import Corpus, corpus
from experiments.topics.topic_model import TopicModel
from experiments.topics.topic_scores import Topics, completion, perplexities, topic_numbers, topics_of
from unknot.plots.codes import topic_correlations
from unknot.plots.style import save
from unknot.train.config import TrainConfig
from unknot.train.loop import fit

MEASURES = (
    Measure("per_document", "perplexity per document", decimals=0),
    Measure("per_token", "perplexity per token", decimals=0),
    Measure("completion", "document completion, refined", decimals=0),
    Measure("completion_plain", "document completion, as recognized", decimals=0),
    Measure("npmi", "NPMI, training and test documents", better="higher", decimals=3),
    Measure("npmi_test", "NPMI, test documents", better="higher", decimals=3),
    Measure("npmi_active", "NPMI of active topics", better="higher", decimals=3),
    Measure("diversity", "diversity of the top 25 words", better="higher"),
    Measure("duplicates", "duplicate topics", decimals=0),
    Measure("active", "topics above .1 nats", decimals=0),
    Measure("within", "mean |r| within a group", decimals=2),
    Measure("between", "mean |r| between groups", better="higher", decimals=2),
    Measure("seconds", "CPU seconds of training", decimals=0),
    Measure("npmi_acting", "NPMI of active topics, acting weights", better="higher", decimals=3),
    Measure("diversity_acting", "diversity, acting weights", better="higher"),
)
ONE, TWO = {"topics": 50}, {"first": 25, "second": 25}
BUDGETS = {
    "smoke": "seconds",
    "quick": "about 1 CPU minute a seed and row; tomotopy 2",
    "paper": "the same",
}
CORRELATIONS = (
    "HFVAE(25 + 25): correlations of the topics above .1 nats over the test documents (the lines part the two "
    "groups), and the most correlated pairs between the groups, with their information and first words."
)


def train_settings(rate: float) -> dict[str, Any]:
    """Forty passes over the documents; the learning rate falls from ``rate`` to nothing."""
    falling = {"name": "cosine", "start": rate, "end": 0.0, "warmup": 300}
    return {"objective": "elbo", "epochs": 40, "batch_size": 200, "learning_rate": falling}


def rival_cases(tier: Tier) -> list[Case]:
    """Rows of what a user would do instead; Gibbs LDA and its library are left out of the tests."""
    rounds = {"unigram": 0, "online LDA": 20, "Gibbs LDA": 1000}
    titles = {
        "unigram": "word frequencies alone",
        "online LDA": "scikit-learn's LDA, online",
        "Gibbs LDA": "tomotopy's LDA, Gibbs",
    }
    small = tier == "smoke"
    return [
        {
            "row": titles[name],
            "rival": name,
            "corpus": "made" if small else "20news",
            "topics": 4 if small else 50,
            "rounds": min(rounds[name], 2) if small else rounds[name],
        }
        for name in rounds
        if not (small and name == "Gibbs LDA")
    ]


def model_case(tier: Tier, row: str, model: Mapping[str, Any], train: Mapping[str, Any]) -> Case:
    """A row of ours; in the tests a small model on a small corpus."""
    case = {"row": row, "corpus": "20news", "refine": 30, "model": dict(model), "train": dict(train)}
    if tier != "smoke":
        return case
    groups = dict.fromkeys(model["groups"], 2)
    small = {
        "model": {**model, "groups": groups, "hidden": [8]},
        "train": {**train, "epochs": 2, "batch_size": 40},
    }
    return {**case, **small, "corpus": "made", "refine": 2}


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train one model, or a rival, and measure it on the test documents."""
    documents = corpus(settings["corpus"], bool(settings.get("tuning")))
    if "rival" in settings:
        rival = RIVALS[settings["rival"]](documents, settings["topics"], seed, settings["rounds"])
        return rival_numbers(rival, documents)
    model, seconds = trained(documents, settings, seed)
    topics = topics_of(model, documents.test)
    if pictures is not None and len(model.groups) == 2 and topics.active.sum() > 1:
        save(topic_picture(topics, documents), pictures / f"{settings['model'].get('mixing', 'product')}.png")
    return {
        **perplexities(model, documents.test),
        "completion_plain": completion(model, documents.test),
        "completion": completion(model, documents.test, settings["refine"]),
        **topic_numbers(topics, documents),
        "seconds": seconds,
    }


def trained(documents: Corpus, settings: Settings, seed: int) -> tuple[TopicModel, float]:
    """The model after training, in evaluation, and the CPU seconds that it took."""
    torch.manual_seed(seed)
    model = TopicModel(len(documents.words), **settings["model"])
    config = TrainConfig.from_dict({**settings["train"], "seed": seed, "progress": False})
    start = time.process_time()
    fit(model, documents.train, config)
    return model.eval(), time.process_time() - start


def topic_picture(topics: Topics, documents: Corpus, pairs: int = 6) -> Any:
    """The correlation matrix of the active topics, and the most correlated pairs of both groups with their words."""
    rows = np.flatnonzero(topics.active)
    rows = rows[np.argsort(topics.groups[rows], kind="stable")]
    matrix = topics.correlations()[np.ix_(rows, rows)]
    spoken = [" ".join(documents.words[w] for w in topics.acting[row][:8]) for row in rows]
    return topic_correlations(matrix, spoken, topics.groups[rows], topics.nats[rows], pairs)
