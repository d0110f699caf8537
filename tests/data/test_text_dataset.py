"""Data sets of texts, their likely words and the beginnings of documents."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unknot.data.dataset import Dataset
from unknot.data.text_dataset import LONGEST, excerpt, from_texts, likely_words
from unknot.errors import DataError, UnknotWarning

TEXTS = ["moon rocket", "car engine", "moon moon", "engine of a rocket"]


def test_texts_labels_and_words_stay_together() -> None:
    data = from_texts(TEXTS, {"group": ["space", "cars", None, "cars"]})
    assert data.columns == ("car", "engine", "moon", "rocket")
    assert data.factor("group").values.tolist() == [1, 0, -1, 0]
    kept = data.subset(torch.tensor([False, False, True, True]))
    assert kept.texts == ("moon moon", "engine of a rocket")
    assert (kept.x[:] > 0).tolist() == [[False, False, True, False], [False, True, False, True]]
    assert kept.counter == data.counter


def test_words_are_counted_and_weighed_by_tfidf_where_there_are_labels() -> None:
    assert from_texts(TEXTS).x[:].tolist()[2:] == [[0, 0, 2, 0], [0, 1, 0, 1]]
    weighed = from_texts(TEXTS, {"group": ["space", "cars", None, "cars"]}).x[:]
    torch.testing.assert_close(weighed.norm(dim=1), torch.full((4,), 5.0))


def test_words_are_those_of_the_training_texts() -> None:
    data = from_texts(TEXTS, splits={"train": [0, 2], "test": [1, 3]})
    assert data.columns == ("moon", "rocket")
    assert data.split("test").x[:].tolist() == [[0, 0], [0, 1]]
    like = from_texts(["rocket car"], counter=data.counter)
    assert like.x[:].tolist() == [[0, 1]]


def test_texts_without_any_known_word_are_said() -> None:
    counter = from_texts(TEXTS).counter
    with pytest.warns(UnknotWarning, match="no text has a word of the vocabulary"):
        from_texts(["sun", "1"], counter=counter)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="item 1 is None, not a text"):
        from_texts(["moon", None])  # type: ignore[list-item]
    with pytest.raises(DataError, match="no texts"):
        from_texts([])


WORDS = ["car", "engine", "moon"]


def test_the_likeliest_come_first_whatever_the_shape() -> None:
    rows = np.array([[[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]]])
    assert likely_words(WORDS, rows).tolist() == [["engine moon car", "car"]]
    assert likely_words(WORDS, rows, 1).tolist() == [["engine", "car"]]
    assert likely_words(WORDS, np.zeros((1, 3))).tolist() == [""]


def test_texts_are_cut_at_a_word_and_counts_spoken() -> None:
    data = from_texts(["moon " * 100, "car\n engine"])
    assert excerpt(data, 0).endswith("moon ...")
    assert len(excerpt(data, 0)) <= LONGEST + 4
    assert excerpt(data, 1) == "car engine"
    counts = Dataset("counts", data.x, data.ids, columns=data.columns)
    assert excerpt(counts, 0) == "moon"
    assert excerpt(counts, 1) == "car engine"
