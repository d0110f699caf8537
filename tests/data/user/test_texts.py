"""Every kind of file with the same texts gives the same data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.data.user.text_files import TEXTS, TOPICS, write_csv, write_folder, write_lines
from unknot.data.text_dataset import TextDataset, from_texts
from unknot.data.user.texts import make_texts
from unknot.data.user.user_files import read_user_data
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError

WRITERS: dict[str, Callable[[Path], None]] = {"t": write_folder, "t.jsonl": write_lines, "t.csv": write_csv}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    data = read_user_data(tmp_path / name, factors=["topic"])
    assert isinstance(data, TextDataset)
    expected = from_texts(TEXTS, {"topic": TOPICS})
    order = [TEXTS.index(text) for text in data.texts]
    assert sorted(order) == list(range(len(TEXTS)))
    assert data.columns == expected.columns
    np.testing.assert_array_equal(data.x[:].numpy(), expected.x[:].numpy()[order])
    assert data.factor("topic").classes == ("cars", "space")
    assert data.factor("topic").values.tolist() == expected.factor("topic").values[order].tolist()


@pytest.mark.parametrize("name", WRITERS)
def test_new_texts_are_counted_like_the_old(tmp_path: Path, name: str) -> None:
    like = from_texts(["moon base", "car"], {"topic": ["space", "cars"]})
    WRITERS[name](tmp_path / name)
    data = read_user_data(tmp_path / name, like=like)
    assert data.columns == ("base", "car", "moon")
    assert data.factor("topic").classes == ("cars", "space")


def test_options_and_a_part_for_the_test(tmp_path: Path) -> None:
    write_lines(tmp_path / "t.jsonl")
    data = read_user_data(tmp_path / "t.jsonl", text={"max_features": 2}, test_share=0.4)
    assert len(data.columns) == 2  # of the texts to train on
    assert {name: len(rows) for name, rows in data.splits.items()} == {"train": 3, "test": 2}
    with pytest.raises(DataError, match="no option 'word'"):
        read_user_data(tmp_path / "t.jsonl", text={"word": 2})


def test_texts_for_a_model_of_numbers_are_refused(tmp_path: Path) -> None:
    from unknot.data import from_arrays

    with pytest.raises(DataError, match=r"holds texts, but the model was trained on items of shape \(3,\)"):
        make_texts(tmp_path, TEXTS, {}, Wanted(like=from_arrays(np.zeros((2, 3)))))
