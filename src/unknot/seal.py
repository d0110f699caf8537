"""Sealed text: a file that carries a digest of itself, so that a change, or an end that is missing, shows.

A seal is no signature: it finds damage and hand-made edits, not an enemy. A file without one is taken as it is, as
earlier versions wrote it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_KEY = "seal"
_COMMENT = b"# seal: "


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def sealed_json(content: Mapping[str, Any], indent: int | None = None) -> bytes:
    """A table as JSON text with its seal.

    >>> open_sealed_json(sealed_json({"step": 5}))
    {'step': 5}
    """
    plain = json.loads(json.dumps(content))  # keys and lists as they will come back
    return json.dumps({**plain, _KEY: _digest_of(plain)}, indent=indent).encode()


def open_sealed_json(text: bytes) -> dict[str, Any]:
    """The table in a JSON text, without its seal; a ValueError if it is no table or not as it was written."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not a table of settings")
    if _KEY in content and content.pop(_KEY) != _digest_of(content):
        raise ValueError("it is not as it was written")
    return content


def sealed_lines(text: bytes) -> bytes:
    """A text in which ``#`` begins a comment, with its seal as the first line."""
    return _COMMENT + digest(text).encode() + b"\n" + text


def open_sealed_lines(text: bytes) -> bytes:
    """The text without its seal; a ValueError if it is empty or not as it was written."""
    first, _, rest = text.partition(b"\n")
    if not text.strip() or (first.startswith(b"#") and not rest):
        raise ValueError("its content is missing")
    if not first.startswith(_COMMENT):
        return text
    if first.removeprefix(_COMMENT).strip() != digest(rest).encode():
        raise ValueError("it is not as it was written")
    return rest


def _digest_of(content: Mapping[str, Any]) -> str:
    return digest(json.dumps(content, sort_keys=True).encode())
