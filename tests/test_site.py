"""The site: every page is in it, and every link between pages leads somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
import yaml

from tools.site import markup

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


class _Settings(yaml.SafeLoader):
    """Reads the tag !ENV as what stands behind it."""


_Settings.add_constructor("!ENV", lambda loader, node: loader.construct_sequence(node))


def test_markup() -> None:
    assert doctest.testmod(markup).failed == 0


def test_the_menu_has_every_page() -> None:
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(), _Settings)

    def files(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        values = entry.values() if isinstance(entry, dict) else entry
        return [file for value in values for file in files(value)]

    menu = files(settings["nav"])
    assert len(menu) == len(set(menu))
    there = {str(p.relative_to(ROOT / "docs")) for p in [*PAGES, *(ROOT / "docs/tutorials").glob("*.py")]}
    made = {file for file in menu if file.startswith("reference/unknot")}
    free = {file for file in there if file.startswith("results/")}
    assert there - free <= set(menu)
    assert set(menu) - made <= there


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in LINK.findall(text):
        if "://" in target or target.startswith("unknot."):
            continue
        assert (page.parent / target).exists(), target


def test_tutorials_are_notebooks_of_text_and_code() -> None:
    for path in (ROOT / "docs" / "tutorials").glob("*.py"):
        cells = path.read_text().split("# %%")
        assert cells[0] == ""
        assert cells[1].startswith(" [markdown]\n# # ")
        assert sum(not cell.startswith(" [markdown]") for cell in cells[1:]) >= 2
