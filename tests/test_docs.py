"""Every example in the docstrings and in docs runs and says what it shows."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCE / "unknot").rglob("*.py")
    if path.name != "__main__.py"
)
PAGES = sorted((ROOT / "docs").rglob("*.md"))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] == "unknot":
            raise
        pytest.skip(f"needs {missing.name}")  # an extra that is not installed
    result = doctest.testmod(module, extraglobs={"torch": torch}, optionflags=OPTIONS)
    assert result.failed == 0


def test_pages_have_examples() -> None:
    examples = doctest.DocTestParser().get_examples((ROOT / "docs" / "language.md").read_text())
    assert len(examples) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path) -> None:
    """A page is one session: what one block defines, the next may use."""
    torch.manual_seed(0)
    result = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert result.failed == 0
