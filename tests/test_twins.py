"""``tests/`` mirrors ``src/unknot/``: every module has a file of tests of its own name, in the same place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_layers import FILES, SOURCE

TESTS = Path(__file__).parent
MODULES = [path for path in FILES if not path.name.startswith("__")]


def twin(path: Path) -> Path:
    place = path.relative_to(SOURCE)
    return TESTS / place.parent / f"test_{place.name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_has_its_twin(path: Path) -> None:
    assert twin(path).exists(), f"{path.relative_to(SOURCE)} has no {twin(path).relative_to(TESTS.parent)}"
    assert "def test_" in twin(path).read_text()
