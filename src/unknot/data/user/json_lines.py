"""Texts as JSON lines: an object a line, its text under "text" and labels beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unknot.data.files.special_file import refuse_special_file
from unknot.data.text_dataset import TextDataset
from unknot.data.user.label_cells import wanted_names
from unknot.data.user.texts import make_texts
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError

TEXT = "text"


def read_json_lines(path: Path, wanted: Wanted) -> TextDataset:
    """The texts of a .jsonl file; ``wanted`` names the labels, one that a line lacks is unknown."""
    lines = _read_lines(path)
    there = list(dict.fromkeys(key for line in lines for key in line if key != TEXT))
    named = wanted_names(path, there, wanted.named_factors, wanted.like)
    labels = {name: [line.get(name) for line in lines] for name in named}
    texts = [line[TEXT] for line in lines]
    return make_texts(path, texts, labels, wanted, wanted.split(len(texts)))


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
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}, line {number} is not JSON: {error}.") from None
        if not isinstance(found, dict) or not isinstance(found.get(TEXT), str):
            raise DataError(f'{path}, line {number}: expected an object with a "{TEXT}" of words.')
        lines.append(found)
    if not lines:
        raise DataError(f"{path} is empty: expected an object a line.")
    return lines
