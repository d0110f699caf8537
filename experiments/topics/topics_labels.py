"""topics-labels: the group of a newsgroup post from few labels, compared with naive Bayes and EM."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.topics.topic_corpus import corpus
from unknot.data import LabelBudget
from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.word_counter import WordCounter
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.evaluation import evaluate

COLUMNS: dict[str, int | str] = {"100": 100, "500": 500, "2,000": 2000, "all": "all"}
ROWS: dict[str, dict[str, Any]] = {
    "ours": {"method": "ours", "topics": 0},
    "ours, with 10 topics": {"method": "ours", "topics": 10},
    "naive Bayes with EM": {"method": "em", "smoothing": 0.3},
    "naive Bayes": {"method": "bayes", "smoothing": 1.0},
    "logistic regression": {"method": "logistic", "penalty": 1.0},
}
_SWEEPS = 20


def cases(tier: Tier) -> list[Case]:
    """Return every method with every number of labels."""
    small = {"corpus": "made", "steps": 3} if tier == "smoke" else {"corpus": "20news"}
    columns = {"20": 20, "all": "all"} if tier == "smoke" else COLUMNS
    return [
        {"row": row, "column": column, "labels": labels, **settings, **small}
        for row, settings in ROWS.items()
        for column, labels in columns.items()
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train one method with the labels of a seed, and return its error on the test documents."""
    documents = corpus(settings["corpus"])
    counter = tfidf_of(documents.train)
    train, test = (_weighted(data, counter) for data in (documents.train, documents.test))
    shown = LabelBudget.draw(train, seed, group=settings["labels"]).apply(train)
    start = time.process_time()
    method = ours if settings["method"] == "ours" else BASELINES[settings["method"]]
    error = method(shown, test, settings, seed)
    return {"error": 100 * error, "seconds": time.process_time() - start}


def ours(shown: Dataset, test: Dataset, settings: Settings, seed: int) -> float:
    """Return the error of the default model of labeled texts: Eq. 8, with the group inferred by Bayes' rule."""
    steps = {"steps": settings["steps"]} if "steps" in settings else {}
    topics = {"style": settings["topics"]} if settings["topics"] else {}
    train = {**steps, "seed": seed, "progress": False}
    assembled = assemble(shown, {"kind": "topics", **topics}, train)
    fit(assembled.model.module, assembled.data, assembled.config)
    assembled.model.module.eval()
    return next(score.value for score in evaluate(assembled.model, test) if score.factor == "group")


def bayes(shown: Dataset, test: Dataset, settings: Settings, seed: int, sweeps: int = 0) -> float:
    """Return the error of multinomial naive Bayes on tf-idf, with ``sweeps`` of EM (Nigam et al. 2000)."""
    group, x = shown.factor("group"), _matrix(shown)
    known, classes = group.known.numpy(), group.num_classes
    shares = np.zeros((len(shown), classes))
    shares[known, group.values.numpy()[known]] = 1.0
    for sweep in range(sweeps + 1):
        words = (x.T @ shares).T + settings["smoothing"]  # (C, V)
        logs = np.log(words / words.sum(1, keepdims=True))
        prior = np.log(shares.sum(0) + 1)
        if sweep < sweeps:
            guess = _softmax(x @ logs.T + prior)
            shares = np.where(known[:, None], shares, guess)
    best = (_matrix(test) @ logs.T + prior).argmax(1)
    return float((best != test.factor("group").values.numpy()).mean())


def em(shown: Dataset, test: Dataset, settings: Settings, seed: int) -> float:
    """Return the error of naive Bayes with EM."""
    return bayes(shown, test, settings, seed, _SWEEPS)


def logistic(shown: Dataset, test: Dataset, settings: Settings, seed: int) -> float:
    """Return the error of logistic regression on scaled tf-idf, with ``C`` of scikit-learn as ``penalty``."""
    from sklearn.linear_model import LogisticRegression

    group, length = shown.factor("group"), np.sqrt(_matrix(shown).multiply(_matrix(shown)).sum(1).max())
    known = group.known.numpy()
    model = LogisticRegression(C=settings["penalty"], max_iter=300)
    model.fit(_matrix(shown)[known] / length, group.values.numpy()[known])
    return float((model.predict(_matrix(test) / length) != test.factor("group").values.numpy()).mean())


BASELINES: Mapping[str, Any] = {"em": em, "bayes": bayes, "logistic": logistic}


def tfidf_of(data: Dataset) -> WordCounter:
    """Return tf-idf weights of the training documents, with the default norm."""
    counts = _matrix(data)
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log((1 + counts.shape[0]) / (1 + documents)) + 1
    return WordCounter(data.columns, {}, "tfidf", idf=tuple(idf.tolist()))


def _weighted(data: Dataset, counter: WordCounter) -> Dataset:
    assert isinstance(data.x, SparseCounts)
    return replace(data, x=counter.weighted(data.x))


def _matrix(data: Dataset) -> Any:
    assert isinstance(data.x, SparseCounts)
    return data.x.to_scipy().astype(np.float64)


def _softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True))


EXPERIMENT = Experiment(
    name="topics-labels",
    place="this library; the papers have no labels on text",
    about="The group of a post of 20 Newsgroups from 100, 500, 2,000 and all labels.",
    cases=cases,
    run=run,
    measures=(
        Measure("error", "test error", "%", decimals=1),
        Measure("seconds", "CPU seconds of training and testing", decimals=0),
    ),
    budgets={"smoke": "seconds", "quick": "about 2 CPU minutes a seed"},
    yardsticks=(Yardstick("goal", {"100": 37.2, "500": 34.1, "2,000": 31.6}, tag="goal"),),
    judged={"ours": "goal"},
)
