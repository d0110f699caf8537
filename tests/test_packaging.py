"""What the package says of itself: its version, the Pythons and libraries it needs, and what checks them."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import yaml

import unknot

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
CLAIMED = [
    line.rsplit(" ", 1)[1] for line in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", line)
]


def _name(requirement: str) -> str:
    """A library's name in one spelling: ``PyYAML>=6.0`` and ``pyyaml==6.0.3`` are ``pyyaml``."""
    return re.split(r"[<>=\[; ]", requirement)[0].lower().replace("_", "-")


def _outside(path: Path) -> set[str]:
    """The libraries that a file imports, anywhere in it."""
    found = set()
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            found |= {alias.name.split(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            found.add(statement.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"unknot", "experiments", "benchmarks"}


def test_the_version_is_written_once() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/unknot/__init__.py"
    lines = [
        line for line in (ROOT / "src/unknot/__init__.py").read_text().splitlines() if "__version__" in line
    ]
    assert lines == [f'__version__ = "{unknot.__version__}"']
    assert f"## {unknot.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_library_that_is_imported_is_declared_and_every_declared_one_imported() -> None:
    distributions = packages_distributions()
    files = [
        path for folder in ("src", "experiments", "benchmarks") for path in (ROOT / folder).rglob("*.py")
    ]
    modules = {module for path in files for module in _outside(path)}
    # a library of an extra need not be installed here: it goes by the name of its module
    distributions.setdefault("pyro", ["pyro-ppl"])
    used = {_name(distributions.get(module, [module])[0]) for module in modules}
    declared = {_name(requirement) for requirement in PROJECT["project"]["dependencies"]}
    indirect = {"tensorboard"}  # torch.utils.tensorboard writes with it
    extras = PROJECT["project"]["optional-dependencies"]
    optional = ("bench", "cells", "explore", "sweep")
    chosen = {_name(requirement) for extra in optional for requirement in extras[extra]}
    assert used == (declared - indirect) | chosen


def test_every_declared_library_has_its_tested_version() -> None:
    pinned = {_name(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    extras = PROJECT["project"]["optional-dependencies"].values()
    declared = {_name(r) for group in (PROJECT["project"]["dependencies"], *extras) for r in group}
    assert declared <= pinned


def test_the_checks_run_on_the_oldest_and_the_newest_python_claimed() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    job = workflow["jobs"]["check"]
    assert job["strategy"]["matrix"]["python"] == [CLAIMED[0], CLAIMED[-1]]
    assert PROJECT["project"]["requires-python"] == f">={CLAIMED[0]}"
    assert PROJECT["tool"]["mypy"]["python_version"] == CLAIMED[0]
    assert {"run": ".ci/run"} in job["steps"]


def test_what_must_pass_is_lint_all_tests_and_the_wheel() -> None:
    for name in ("run", "wheel"):
        assert os.access(ROOT / ".ci" / name, os.X_OK)
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("make")]
    assert lines == ["make lint", "make test", "make test-slow", "make wheel"]
    makefile = (ROOT / "Makefile").read_text()
    assert {line.removeprefix("make ") for line in lines} <= set(
        re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    )
    assert "-m slow" in makefile.split("test-slow:")[1].splitlines()[1]
