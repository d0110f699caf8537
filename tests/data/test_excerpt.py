"""Beginnings of documents."""

from unknot.data.dataset import Dataset
from unknot.data.excerpt import LONGEST, excerpt
from unknot.data.text_dataset import from_texts


def test_texts_are_cut_at_a_word_and_counts_spoken() -> None:
    data = from_texts(["moon " * 100, "car\n engine"])
    assert excerpt(data, 0).endswith("moon ...")
    assert len(excerpt(data, 0)) <= LONGEST + 4
    assert excerpt(data, 1) == "car engine"
    counts = Dataset("counts", data.x, data.ids, columns=data.columns)
    assert excerpt(counts, 0) == "moon"
    assert excerpt(counts, 1) == "car engine"
