"""Texts from JSON lines and folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.data.readers.text_files import TEXTS, TOPICS, write_csv, write_folder, write_lines
from unknot.data.readers.read_options import ReadOptions
from unknot.data.readers.texts import has_texts, make_texts, read_json_lines, read_text_folder, text_names
from unknot.data.readers.user_files import read_user_data
from unknot.data.text_dataset import TextDataset, from_texts
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
        make_texts(tmp_path, TEXTS, {}, ReadOptions(like=from_arrays(np.zeros((2, 3)))))


def test_sub_folders_are_labels(tmp_path: Path) -> None:
    write_folder(tmp_path)
    data = read_text_folder(tmp_path, ReadOptions())
    assert text_names(tmp_path) == ["2.txt", "cars/1.txt", "cars/4.txt", "space/0.txt", "space/3.txt"]
    assert data.factor("label").values.tolist() == [-1, 0, 0, 1, 1]
    assert data.texts[0] == "the rocket engine"


def test_train_and_test_are_splits_and_the_words_those_of_train(tmp_path: Path) -> None:
    write_folder(tmp_path, "train")
    (tmp_path / "test" / "space").mkdir(parents=True)
    (tmp_path / "test" / "space" / "new.txt").write_text("moon crater")
    data = read_text_folder(tmp_path, ReadOptions(["topic"]))
    assert {name: len(rows) for name, rows in data.splits.items()} == {"train": 5, "test": 1}
    assert "crater" not in data.columns
    assert data.split("test").factor("topic").values.tolist() == [1]


def test_any_bytes_are_read(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_bytes("caf\xe9 cr\xe8me".encode("latin-1"))
    (tmp_path / "two.txt").write_bytes("caf\xe9 cr\xe8me".encode())
    data = read_text_folder(tmp_path, ReadOptions())
    assert data.texts[0] == data.texts[1] == "caf\xe9 cr\xe8me"


def test_a_folder_without_texts(tmp_path: Path) -> None:
    assert not has_texts(tmp_path)
    with pytest.raises(DataError, match="holds no texts"):
        text_names(tmp_path)


def test_labels_are_those_named(tmp_path: Path) -> None:
    write_lines(tmp_path / "t.jsonl")
    assert list(read_json_lines(tmp_path / "t.jsonl", ReadOptions(["id", "topic"])).factors) == [
        "id",
        "topic",
    ]
    assert not read_json_lines(tmp_path / "t.jsonl", ReadOptions()).factors
    with pytest.raises(DataError, match="no labels of 'mood'; it has topic, id"):
        read_json_lines(tmp_path / "t.jsonl", ReadOptions(["mood"]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ('{"text": "moon"}\n{"text": 3}', "line 2: expected an object with a"),
        ('{"text": "moon"}\n\n["moon"]', "line 3: expected an object with a"),
        ("moon", "line 1 is not JSON"),
    ],
)
def test_other_content_is_refused_by_line(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "t.jsonl").write_text(content)
    with pytest.raises(DataError, match=words):
        read_json_lines(tmp_path / "t.jsonl", ReadOptions())


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_json_lines(tmp_path / "none.jsonl", ReadOptions())
    (tmp_path / "t.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_json_lines(tmp_path / "t.jsonl", ReadOptions())
