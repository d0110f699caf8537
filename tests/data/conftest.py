"""Fixtures of the data tests: an empty cache, disks that refuse, the real data where there is some."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data directory but the ones a test names."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("UNKNOT_CACHE", str(folder))
    monkeypatch.delenv("UNKNOT_DATA", raising=False)
    return folder


def _mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"needs the right to mount a small disk: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB."""
    yield from _mounted(tmp_path / "small-disk", "size=256k")


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing can be written: by its rights, or, for root, a read-only disk."""
    if os.geteuid() == 0:
        yield from _mounted(tmp_path / "read-only", "size=64k,ro")
        return
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    yield folder
    folder.chmod(0o700)


@pytest.fixture
def real_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory that UNKNOT_DATA names; a test that wants it is skipped where there is none."""
    named = os.environ.get("UNKNOT_DATA")
    if not named:
        pytest.skip("needs the real data: set UNKNOT_DATA to a folder that has them")
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))
    return Path(named)
