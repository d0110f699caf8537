"""topics-labels: every method with the same labels."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from experiments.topics.topic_corpus import corpus
from experiments.topics.topics_labels import (
    COLUMNS,
    EXPERIMENT,
    ROWS,
    _matrix,
    _weighted,
    bayes,
    em,
    run,
    tfidf_of,
)
from unknot.data import LabelBudget


def test_rows_and_columns() -> None:
    found = EXPERIMENT.cases("quick")
    assert len(found) == len(ROWS) * len(COLUMNS)
    assert {case["column"] for case in found} == {"100", "500", "2,000", "all"}


def test_naive_bayes_is_scikit_learns() -> None:
    made = corpus("made")
    counter = tfidf_of(made.train)
    train, test = _weighted(made.train, counter), _weighted(made.test, counter)
    shown = LabelBudget.draw(train, 0, group=40).apply(train)
    group = shown.factor("group")
    known = group.known.numpy()
    model = MultinomialNB(alpha=0.3).fit(_matrix(shown)[known], group.values.numpy()[known])
    best = model.predict(_matrix(test))
    error = float((best != test.factor("group").values.numpy()).mean())
    assert abs(bayes(shown, test, {"smoothing": 0.3}, 0) - error) <= 1 / len(test)
    assert em(shown, test, {"smoothing": 0.3}, 0) < 0.5


def test_ours_learns_the_groups() -> None:
    case = {"corpus": "made", "labels": 20, "method": "ours", "topics": 0, "steps": 30}
    numbers = run(case, 0, None)
    assert numbers["error"] < 40
    assert np.isfinite(numbers["seconds"])
