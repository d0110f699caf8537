"""Imports point down only: the layers of the design, read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "unknot"

FOUNDATION = {"errors", "files", "missing", "parallel", "schema", "seal", "suggest", "yaml_file"}
PARTS = {"core", "graph", "data", "objectives", "models", "metrics", "train", "plots"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "missing": set(),
    "schema": set(),
    "seal": set(),
    "suggest": set(),
    "yaml_file": set(),
    "files": set(),
    "parallel": set(),
    "core": set(),
    "data": set(),
    "graph": {"core"},
    "objectives": {"core"},
    "models": {"core", "data"},
    "metrics": set(),
    "plots": set(),
    "train": {"core", "data", "objectives", "models", "metrics"},
    "workflow": PARTS,
    "report": PARTS | {"workflow"},
    "explorer": PARTS | {"workflow"},
    "estimator": PARTS | {"workflow", "report", "explorer"},  # the pages of the command line
    "__init__": {"core", "graph", "objectives", "models", "workflow", "estimator"},
    "cli": PARTS | {"workflow", "report", "explorer", "estimator", "__init__"},
    "__main__": {"cli"},
}
"""What each part may import of ours, besides itself and the foundation."""

FILES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """The parts of unknot that a file imports, anywhere in it."""
    found: set[str] = set()
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, f"{path}: imports are absolute"
            module = statement.module or ""
            names = [f"unknot.{a.name}" for a in statement.names] if module == "unknot" else [module]
        else:
            continue
        found |= {name.split(".")[1] if "." in name else "__init__" for name in names if is_ours(name)}
    return found - {"__version__"}  # a fact, not a part


def is_ours(name: str) -> bool:
    return name == "unknot" or name.startswith("unknot.")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, f"'{part}' is a new part: say here what it may import"
    beyond = imported_parts(path) - MAY_IMPORT[part] - {part} - FOUNDATION
    assert not beyond, (
        f"{path.relative_to(SOURCE)} imports {', '.join(sorted(beyond))}, above or beside {part}"
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_imports_the_experiments(path: Path) -> None:
    names = set()
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            names |= {alias.name.split(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            names.add((statement.module or "").split(".")[0])
    assert "experiments" not in names


def test_the_rule_can_fail(tmp_path: Path) -> None:
    """The reader of imports sees all forms."""
    file = tmp_path / "file.py"
    file.write_text(
        "import unknot\nimport unknot.train.loop\nfrom unknot import models\n"
        "def f():\n    from unknot.cli import main\n"
    )
    assert imported_parts(file) == {"__init__", "train", "models", "cli"}


def test_the_top_file_only_names() -> None:
    """``unknot/__init__.py`` holds imports, the version, the names and their lazy lookup; nothing runs there."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr, ast.FunctionDef, ast.If)
    for statement in ast.parse((SOURCE / "__init__.py").read_text()).body:
        assert isinstance(statement, allowed)
        if isinstance(statement, ast.If):
            assert ast.unparse(statement.test) == "TYPE_CHECKING"
