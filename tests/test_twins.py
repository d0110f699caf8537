"""``tests/`` mirrors ``src/unknot/``: every module has a file of tests of its own name, in the same place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_layers import FILES, SOURCE, part_of

TESTS = Path(__file__).parent
NOT_YET = {"workflow", "estimator", "report", "papers", "cli"}
"""Parts in which some module still has no twin; the list only shrinks."""

MODULES = [path for path in FILES if not path.name.startswith("__")]


def twin(path: Path) -> Path:
    place = path.relative_to(SOURCE)
    return TESTS / place.parent / f"test_{place.name}"


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if part_of(path) not in NOT_YET],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_every_module_has_its_twin(path: Path) -> None:
    assert twin(path).exists(), f"{path.relative_to(SOURCE)} has no {twin(path).relative_to(TESTS.parent)}"
    assert "def test_" in twin(path).read_text()
