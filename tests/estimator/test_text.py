"""Texts through the front door."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import sparse

from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError
from unknot.estimator import StructuredVAE
from unknot.estimator.input import read_items
from unknot.estimator.text import is_texts

SPACE, CARS = ["moon", "rocket", "orbit", "crater"], ["engine", "wheel", "brake", "road"]


def texts_of(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts of two kinds, with a few words of the other kind in each."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, count)
    made = []
    for kind in kinds:
        own, other = (SPACE, CARS) if kind else (CARS, SPACE)
        made.append(" ".join([*rng.choice(own, 12), *rng.choice(other, 2)]))
    return made, ["space" if kind else "cars" for kind in kinds]


def test_what_texts_are() -> None:
    for given in (["a b"], ("a", "b"), np.array(["a", "b"]), pandas.Series(["a", "b"])):
        assert is_texts(given)
    for other in (np.zeros(3), [["a"], ["b"]], [1, 2], [], pandas.DataFrame({"a": ["b"]})):
        assert not is_texts(other)
    with pytest.raises(DataError, match="x is one text"):
        is_texts("good film")
    for given in (
        ["a", None],
        np.array(["a", None], dtype=object),
        pandas.Series(["a", None], dtype="string"),
    ):
        with pytest.raises(DataError, match=r"x is texts, but item 1 is .*; give '' for an empty one"):
            is_texts(given)


def test_texts_are_learned_from_spoken_and_kept(tmp_path: Path) -> None:
    texts, topics = texts_of(120)
    labels = [topic if i < 20 else None for i, topic in enumerate(topics)]
    vae = StructuredVAE("class_style", style=2, steps=150, batch_size=32, verbose=False, text={"max_df": 1.0})
    vae.fit(texts, topic=labels)
    assert np.mean(vae.predict(texts) == np.array(topics)) > 0.9
    new = vae.sample(3, {"topic": "space"}, mean=True)
    assert all(word in {*SPACE, *CARS} for one in new for word in one.split())
    changed = vae.vary(texts[:2], topic=["space", "cars"])
    assert changed.shape == (2, 2)
    for space, cars in changed:  # most of the likeliest four words are of the kind asked for
        assert len(set(space.split()[:4]) & set(SPACE)) > len(set(cars.split()[:4]) & set(SPACE))
    assert vae.score_samples([texts[0]]).shape == (1,)
    assert isinstance(vae.reconstruct(texts[:1])[0], str)
    vae.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(texts), vae.predict(texts))
    assert again.text == {"max_df": 1.0}
    with pytest.raises(DataError, match="x holds numbers, but the model was fitted on texts"):
        vae.predict(np.zeros((2, 8)))


def test_a_model_of_numbers_refuses_texts() -> None:
    counts = np.random.default_rng(0).integers(0, 3, (12, 4))
    vae = StructuredVAE("class_style", steps=2, style=1, verbose=False).fit(counts)
    with pytest.raises(DataError, match="x holds texts, but the model was fitted on numbers"):
        vae.transform(["moon"])


def test_sparse_counts_stay_sparse() -> None:
    matrix = sparse.random(20, 30, 0.2, format="csr", random_state=0, data_rvs=lambda n: np.ones(n)).astype(
        int
    )
    items = read_items(matrix)
    assert isinstance(items.x, SparseCounts)
    np.testing.assert_array_equal(items.x[:].numpy(), matrix.toarray())
    vae = StructuredVAE("class_style", steps=3, style=2, verbose=False).fit(matrix, kind=np.arange(20) % 2)
    assert vae.predict(matrix).shape == (20,)
    assert vae.sample(2).shape == (2, 30)


def test_dense_counts_of_words_are_fitted_and_read_as_sparse_ones() -> None:
    kind = np.arange(40) % 2
    rates = np.where(np.arange(300) % 2 == kind[:, None], 0.12, 0.02)
    counts = np.random.default_rng(0).poisson(rates)  # (40, 300)
    dense = StructuredVAE(steps=3, verbose=False).fit(counts, kind=kind)
    thin = StructuredVAE(steps=3, verbose=False).fit(sparse.csr_matrix(counts), kind=kind)
    np.testing.assert_array_equal(dense.predict(counts), thin.predict(counts))
    fuller = counts + 1  # than counts of words are taken to be: the model knows what it was fitted on
    np.testing.assert_array_equal(dense.predict(fuller), thin.predict(sparse.csr_matrix(fuller)))
    assert (dense.predict(counts) == kind).mean() > 0.9
    with pytest.raises(DataError, match="x holds -3, but the model was fitted on counts"):
        dense.predict(np.where(counts == counts.max(), -3, counts))
    with pytest.raises(DataError, match=r"x holds 0\.5, but the model weighs counts"):
        dense.predict(counts * 0.5)
