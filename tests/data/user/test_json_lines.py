"""JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.user.text_files import write_lines
from unknot.data.user.json_lines import read_json_lines
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError


def test_labels_are_those_named(tmp_path: Path) -> None:
    write_lines(tmp_path / "t.jsonl")
    assert list(read_json_lines(tmp_path / "t.jsonl", Wanted(["id", "topic"])).factors) == [
        "id",
        "topic",
    ]
    assert not read_json_lines(tmp_path / "t.jsonl", Wanted()).factors
    with pytest.raises(DataError, match="no labels of 'mood'; it has topic, id"):
        read_json_lines(tmp_path / "t.jsonl", Wanted(["mood"]))


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
        read_json_lines(tmp_path / "t.jsonl", Wanted())


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_json_lines(tmp_path / "none.jsonl", Wanted())
    (tmp_path / "t.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_json_lines(tmp_path / "t.jsonl", Wanted())
