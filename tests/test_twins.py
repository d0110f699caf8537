"""Every module of the package is exercised by a test of its own part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_layers import FILES, SOURCE, part_of

TESTS = Path(__file__).parent
MODULES = [path for path in FILES if not path.name.startswith("__")]


def texts(part: str) -> str:
    """All tests of a part, in one string."""
    folder = TESTS / part
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else sorted(TESTS.glob(f"test_{part}*.py"))
    return "\n".join(path.read_text() for path in files)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_is_exercised_by_a_test_of_its_part(path: Path) -> None:
    """By a file of the module's name, or by an import of it."""
    place = path.relative_to(SOURCE)
    twin = TESTS / place.parent / f"test_{place.name}"
    module = ".".join(["unknot", *place.with_suffix("").parts])
    found = (twin.exists() and "def test_" in twin.read_text()) or module in texts(part_of(path))
    assert found, f"{place} has neither {twin.relative_to(TESTS.parent)} nor a test that imports {module}"
