"""The revision that a result is marked with, and what tells one job from another."""

from __future__ import annotations

import subprocess
from pathlib import Path

from experiments.ledger.jobs import revision_of


def commit_of(folder: Path) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for arguments in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    found = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()[:12]


def test_a_revision_is_marked_when_the_code_has_changed_and_not_when_results_have(tmp_path: Path) -> None:
    package, result = tmp_path / "package", tmp_path / "result.json"
    package.mkdir()
    (package / "__init__.py").write_text("")
    result.write_text("1")
    commit = commit_of(tmp_path)
    result.write_text("2")
    assert revision_of(package) == commit
    other = tmp_path / "other"
    other.mkdir()
    (other / "__init__.py").write_text("")
    commit = commit_of(tmp_path)
    assert revision_of(package, other) == commit
    (other / "new.py").write_text("")
    assert revision_of(package) == commit
    assert revision_of(package, other) == f"{commit}-dirty"


def test_a_package_that_no_checkout_holds_is_installed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    commit_of(tmp_path)
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "__init__.py").write_text("")
    assert revision_of(package) == "installed"
