"""Sealed text comes back as it was, and any change of it shows."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unknot.seal import open_sealed_json, open_sealed_lines, sealed_json, sealed_lines

CONTENT = {"step": 5, "random": {"numpy": [1.5, None]}, "classes": ["a", "ü"], "1": float("inf")}


def test_a_table_comes_back() -> None:
    assert open_sealed_json(sealed_json(CONTENT)) == CONTENT
    assert open_sealed_json(sealed_json({1: (2, 3)}, indent=1)) == {"1": [2, 3]}


def test_a_text_comes_back() -> None:
    assert open_sealed_lines(sealed_lines(b"train:\n  steps: 5\n")) == b"train:\n  steps: 5\n"


def test_a_changed_value_shows() -> None:
    changed = json.loads(sealed_json(CONTENT)) | {"step": 10**12}
    with pytest.raises(ValueError, match=r"not as it was written"):
        open_sealed_json(json.dumps(changed).encode())


@given(st.integers(0, len(sealed_lines(b"train:\n  steps: 5\n  seed: 1\n")) - 1))
def test_a_missing_end_shows(length: int) -> None:
    with pytest.raises(ValueError, match=r"missing|not as it was written"):
        open_sealed_lines(sealed_lines(b"train:\n  steps: 5\n  seed: 1\n")[:length])


def test_what_is_no_table_is_refused() -> None:
    for text in (b"[1]", b"5", b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(ValueError, match=r"table|nested|Expecting|decode"):
            open_sealed_json(text)


def test_files_of_earlier_versions_have_no_seal() -> None:
    assert open_sealed_json(b'{"step": 1}') == {"step": 1}
    assert open_sealed_lines(b"train: {}\n") == b"train: {}\n"
