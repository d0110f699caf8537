"""What CONTRIBUTING says about the floor plan holds, and the paths it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_layers import FOUNDATION, MAY_IMPORT, PARTS, SOURCE

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
CHANGES = [
    "a site",
    "a family of latent nodes",
    "a likelihood",
    "an objective",
    "a metric",
    "a data set",
    "an experiment",
    "a command",
    "an augmentation",
    "a model of one's own",
]


def _section(title: str) -> str:
    return TEXT.split(f"## {title}\n")[1].split("\n## ")[0]


def _rows(section: str) -> dict[str, list[str]]:
    """The tables of a section: first cell -> the others."""
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in lines if not set("".join(line)) <= set("- ")]
    return {first: rest for first, *rest in cells[1:]}


def _quoted(text: str) -> list[str]:
    """What stands in backticks, blocks of code left out."""
    return re.findall(r"`([^`\n]+)`", "".join(text.split("```")[::2]))


def test_the_ten_changes_are_told() -> None:
    assert list(_rows(_section("Ten everyday changes"))) == CHANGES


@pytest.mark.parametrize("path", sorted({p for p in _quoted(TEXT) if "/" in p and " " not in p}))
def test_every_path_is_there(path: str) -> None:
    assert (ROOT / path).exists(), f"CONTRIBUTING.md speaks of {path}, which is gone"


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_names_files_and_a_test(change: str) -> None:
    files, twin = _rows(_section("Ten everyday changes"))[change]
    assert any((ROOT / path).is_file() for path in _quoted(files))
    assert any(path.startswith("tests/") for path in _quoted(twin))


def test_the_picture_shows_every_part() -> None:
    picture = _section("Where things are").split("```")[1]
    there = {path.stem for path in SOURCE.iterdir() if not path.name.startswith(("_", "py.typed"))}
    assert there <= set(re.findall(r"\w+", picture))


def test_the_table_of_parts_is_the_rule_of_the_layers() -> None:
    said: dict[str, set[str]] = {}
    for parts, (_, may) in _rows(_section("Where things are")).items():
        for part in _quoted(parts):
            if may == "all of the above":
                said[part] = set(said)
            elif may.startswith("all but"):
                said[part] = set(said) - set(_quoted(may.split(";")[0]))
            elif may == "everything":
                said[part] = {*said, "__init__"}
            else:
                said[part] = set(_quoted(may))
    rule = {part: may for part, may in MAY_IMPORT.items() if part not in FOUNDATION and "__" not in part}
    assert said == rule
    assert set(said) >= PARTS
