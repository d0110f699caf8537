"""Texts as data sets: JSON lines, or a folder of .txt files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unknot.data.files.broken_file import refuse_special_file
from unknot.data.readers.labels import factor_names, folder_labels, folder_splits
from unknot.data.readers.read_options import ReadOptions
from unknot.data.text_dataset import TextDataset, from_texts
from unknot.errors import DataError

_ENDING = ".txt"
_TEXT = "text"  # the entry of a JSON line that holds the text


def make_texts(
    path: Path,
    texts: Sequence[str],
    labels: Mapping[str, Any],
    options: ReadOptions,
    splits: Mapping[str, Any] | None = None,
) -> TextDataset:
    """Make a data set of texts and labels; words are counted as in ``options.like``, or as ``options`` say."""
    like = options.like
    if like is not None and not isinstance(like, TextDataset):
        raise DataError(
            f"{path} holds texts, but the model was trained on items of shape {tuple(like.item_shape)}."
        )
    return from_texts(
        texts,
        labels,
        kinds=options.kinds_of(labels),
        classes=options.classes_of(labels),
        splits=splits,
        counter=None if like is None else like.counter,
        options=options.text,
        name=path.stem,
    )


def read_json_lines(path: Path, options: ReadOptions) -> TextDataset:
    """Read a .jsonl file: each line an object with its text under "text" and labels beside it, which may be missing."""
    lines = _read_lines(path)
    available = list(dict.fromkeys(key for line in lines for key in line if key != _TEXT))
    factors = factor_names(path, available, options.named_factors, options.like)
    labels = {name: [line.get(name) for line in lines] for name in factors}
    texts = [line[_TEXT] for line in lines]
    return make_texts(path, texts, labels, options, options.split(len(texts)))


def read_text_folder(folder: Path, options: ReadOptions) -> TextDataset:
    """Read all .txt files below a folder, in the order of their names: as UTF-8, else as Latin-1.

    Labels and splits come from ``labels.csv`` or from sub-folders (:mod:`unknot.data.readers.labels`).
    """
    names = text_names(folder)
    splits = folder_splits(names) or options.split(len(names))
    labels = folder_labels(folder, names, options, splits)
    texts = [_read_text(folder / name) for name in names]
    return make_texts(folder, texts, labels, options, splits)


def text_names(folder: Path) -> list[str]:
    """Return the texts below a folder, by their paths from it, in the order in which they are read."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() == _ENDING)
    if not paths:
        raise DataError(f"{folder} holds no texts ({_ENDING}).")
    return [p.relative_to(folder).as_posix() for p in paths]


def has_texts(folder: Path) -> bool:
    """Return whether there are texts below a folder."""
    return any(p.suffix.lower() == _ENDING for p in folder.rglob("*"))


def _read_lines(path: Path) -> list[dict[str, Any]]:
    refuse_special_file(path)
    try:
        content = path.read_text("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}.") from None
    lines = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}, line {number} is not JSON: {error}.") from None
        if not isinstance(entry, dict) or not isinstance(entry.get(_TEXT), str):
            raise DataError(f'{path}, line {number}: expected an object with a "{_TEXT}" of words.')
        lines.append(entry)
    if not lines:
        raise DataError(f"{path} is empty: expected one object per line.")
    return lines


def _read_text(path: Path) -> str:
    refuse_special_file(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # every byte is a character
