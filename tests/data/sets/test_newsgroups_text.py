"""The raw posts: four forms of the same six posts give the same data set."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.found_files import found
from unknot.data.sets import newsgroups_text
from unknot.data.sets.newsgroups_text import ENTRY
from unknot.data.text_dataset import TextDataset
from unknot.errors import DataError

POSTS = [
    ("train", "sci.space", 10, "From: a@moon.org\nSubject: x\n\nThe moon, the MOON and a rocket. caf\xe9"),
    ("train", "rec.autos", 30, "From: b\n\ncar car engine"),
    ("train", "rec.autos", 20, "From: c\n\nengine of the rocket"),
    ("test", "sci.space", 5, "From: d\n\nmoon unseenword"),
    ("test", "rec.autos", 6, "From: e\n\n"),
]


def write_form(form: str, folder: Path) -> None:
    if form == "JSON lines":
        with lzma.open(folder / "20news_bydate_text.jsonl.xz", "wt", encoding="utf-8") as stream:
            for split, group, number, text in POSTS:
                line = {"split": split, "group": group, "id": str(number), "text": text}
                stream.write(json.dumps(line) + "\n")
    elif form == "tar":
        with tarfile.open(folder / "20news-bydate.tar.gz", "w:gz") as archive:
            for split, group, number, text in POSTS:
                info = tarfile.TarInfo(f"20news-bydate-{split}/{group}/{number}")
                info.size = len(text.encode("latin-1"))
                archive.addfile(info, io.BytesIO(text.encode("latin-1")))
    elif form == "folders":
        for split, group, number, text in POSTS:
            path = folder / f"20news-bydate-{split}" / group / str(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("latin-1"))
    else:
        for split in ("train", "test"):
            rows = [(group, text.partition("\n\n")[2]) for s, group, _, text in POSTS if s == split]
            lines = ["Category\tText", "d\tstring", "class\t", "", *("\t".join(row) for row in rows)]
            (folder / f"20newsgroups-{split}.tab").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.mark.parametrize("form", ["JSON lines", "tar", "folders"])
def test_forms_of_the_raw_text(tmp_path: Path, form: str) -> None:
    write_form(form, tmp_path)
    dataset = newsgroups_text.build(found(ENTRY, form, tmp_path), words=4)
    assert dataset.name == "20news-text"
    assert dataset.texts[2] == "The moon, the MOON and a rocket. caf\xe9"  # sorted by split, group, number
    assert dataset.columns == ("car", "engine", "moon", "rocket")  # "caf", "the" and the headers are out
    expected = [[0, 1, 0, 1], [2, 1, 0, 0], [0, 0, 2, 1], [0, 0, 0, 0], [0, 0, 1, 0]]
    np.testing.assert_array_equal(dataset.x[:].numpy(), expected)
    assert dataset.factor("group").values.tolist() == [0, 0, 1, 0, 1]
    assert dataset.ids.tolist() == [20, 30, 1_000_010, 6, 1_000_005]
    assert {name: len(rows) for name, rows in dataset.splits.items()} == {"train": 3, "test": 2}


def test_the_cleaned_form_says_so(tmp_path: Path) -> None:
    write_form("tables", tmp_path)
    dataset = newsgroups_text.build(found(ENTRY, "tables", tmp_path), words=4)
    assert dataset.name == "20news-text-cleaned"
    assert dataset.texts[0] == "car car engine"
    assert len(dataset.split("test")) == 2


def test_headers_on_request(tmp_path: Path) -> None:
    write_form("tar", tmp_path)
    dataset = newsgroups_text.build(found(ENTRY, "tar", tmp_path), headers=True)
    assert dataset.texts[0].startswith("From: c\n")
    assert "org" in dataset.columns


def test_texts_stay_with_their_items(tmp_path: Path) -> None:
    write_form("tar", tmp_path)
    dataset = newsgroups_text.build(found(ENTRY, "tar", tmp_path))
    autos = dataset.subset(dataset.factor("group").values == 0)
    assert isinstance(autos, TextDataset)
    assert autos.texts == ("engine of the rocket", "car car engine", "")
    assert dataset.subset([4, 0]).texts == (dataset.texts[4], dataset.texts[0])
    assert dataset.split("test").texts == dataset.texts[3:]
    assert torch.equal(dataset.subset([4]).x[0], dataset.x[4])
    assert len(repr(dataset)) < 500


def test_mistakes_are_named(tmp_path: Path) -> None:
    write_form("JSON lines", tmp_path)
    files = found(ENTRY, "JSON lines", tmp_path)
    with pytest.raises(DataError, match="words is the size of the vocabulary, at least 1, got 0"):
        newsgroups_text.build(files, words=0)
    files.first.write_bytes(files.first.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"20news_bydate_text\.jsonl\.xz cannot be read as posts"):
        newsgroups_text.build(files)
