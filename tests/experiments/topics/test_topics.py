"""What the topic experiments share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.topics.topic_corpus import corpus
from experiments.topics.topic_scores import Topics
from experiments.topics.topics import (
    EXPERIMENTS,
    MEASURES,
    PRODLDA_HFVAE,
    PRODLDA_TRAIN,
    baseline_cases,
    model_case,
    run,
    topic_picture,
)


def test_a_row_of_ours_has_every_number(tmp_path: Path) -> None:
    model = {"groups": {"first": 25, "second": 25}}
    case = model_case("smoke", "HFVAE", model, {**PRODLDA_TRAIN, "objective": PRODLDA_HFVAE})
    numbers = run(case, 0, tmp_path)
    assert set(numbers) == {measure.key for measure in MEASURES}
    assert all(np.isfinite(value) for value in numbers.values())


def test_correlated_topics_are_drawn_with_their_words() -> None:
    made = corpus("made")
    rng = np.random.default_rng(0)
    code = rng.normal(size=50)
    means = np.stack([code, rng.normal(size=50), code + 0.1 * rng.normal(size=50)], 1)
    words = np.stack([rng.permutation(60)[:25] for _ in range(3)])
    figure = topic_picture(Topics(words, words, np.array([1.0, 0.0, 0.5]), means, np.array([0, 0, 1])), made)
    written = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    assert all(made.words[word] in written for row in (0, 2) for word in words[row][:8])


def test_rivals_are_beside_ours_in_every_tier() -> None:
    assert [case["baseline"] for case in baseline_cases("quick")] == ["unigram", "online LDA", "Gibbs LDA"]
    assert [case["corpus"] for case in baseline_cases("smoke")] == ["made", "made"]


def test_both_experiments_have_one_group_of_topics_and_two() -> None:
    for one in EXPERIMENTS:
        groups = [len(case["model"].get("groups", {})) for case in one.cases("quick") if "model" in case]
        assert groups[:2] == [1, 2]
