"""Where results come from: the revision, and what the runs of one cell have in common."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.ledger import source_closure
from experiments.ledger.jobs import origin, revision_of


def commit_of(folder: Path) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for arguments in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    found = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()[:12]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package ``madeup`` of two modules, of which ``run`` imports ``used``."""
    folder = tmp_path / "madeup"
    folder.mkdir()
    for name, text in (("__init__", ""), ("used", "a = 1\n"), ("unused", "b = 1\n")):
        (folder / f"{name}.py").write_text(text)
    (folder / "run.py").write_text("from madeup.used import a\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(source_closure, "PACKAGES", ("madeup",))
    monkeypatch.setattr("experiments.ledger.jobs.PACKAGES", ("madeup",))
    for one in (source_closure._path, source_closure._imports, source_closure._code_digest):
        one.cache_clear()
    importlib.invalidate_caches()
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "madeup"]:
        del sys.modules[name]


def test_a_revision_is_marked_when_code_that_counts_has_changed(package: Path) -> None:
    (package.parent / "result.json").write_text("1")
    commit = commit_of(package.parent)
    (package.parent / "result.json").write_text("2")
    (package / "unused.py").write_text("b = 2\n")
    assert revision_of("madeup.run") == commit
    (package / "used.py").write_text("a = 2\n")
    assert revision_of("madeup.run") == f"{commit}-dirty"


def test_a_package_that_no_checkout_holds_is_installed(package: Path) -> None:
    (package.parent / "notes.txt").write_text("")
    (package.parent / ".gitignore").write_text("madeup\n")
    commit_of(package.parent)
    assert revision_of("madeup.run") == "installed"


def test_origins_differ_by_code_and_by_data() -> None:
    run = {"revision": "a", "code": "1", "data": {"mnist": "2"}}
    assert origin(run) == origin({**run, "revision": "b"})
    others = ({**run, "code": "3"}, {**run, "data": {"mnist": "3"}}, {"revision": "a"}, {"revision": "b"})
    assert len({origin(run), *map(origin, others)}) == 5
