"""``docs/equations.md`` names functions, modules and tests that are there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "equations.md").read_text()
SOURCES = {path.relative_to(TESTS).as_posix(): path.read_text() for path in TESTS.rglob("test_*.py")}
NAMED = sorted(set(re.findall(r"`((?:\w+/)*test_\w+(?:\.py)?)`", PAGE.replace("`tests/", "`"))))
PATHS = sorted(set(re.findall(r"`(unknot(?:\.\w+)+)`", PAGE)))


@pytest.mark.parametrize("name", NAMED)
def test_every_test_it_names_is_there(name: str) -> None:
    if name.endswith(".py"):
        assert any(f"/{path}".endswith(f"/{name}") for path in SOURCES)
    else:
        assert any(f"def {name}(" in text for text in SOURCES.values())


@pytest.mark.parametrize("path", PATHS)
def test_every_path_it_names_leads_somewhere(path: str) -> None:
    module, _, name = path.rpartition(".")
    try:
        importlib.import_module(path)
    except ModuleNotFoundError:
        assert hasattr(importlib.import_module(module), name)


def test_it_names_many() -> None:
    assert len(NAMED) > 30
    assert len(PATHS) > 8
