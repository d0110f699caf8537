"""The catalogue, and whether a file is the published one."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from unknot.data.files.catalogue import Archive, DataFile, Entry, Files, Form, fault
from unknot.data.sets.loading import entries


def test_a_form_is_fetchable_if_every_file_is() -> None:
    archive = Archive("pack", "1.0", "0" * 64)
    there, bare = DataFile("a", urls=("http://x/a",), archive=archive), DataFile("b")
    assert Form("both", (there,)).in_package
    assert Form("both", (there,)).on_the_web
    assert not Form("half", (there, bare)).in_package
    assert not Form("half", (there, bare)).on_the_web
    assert str(archive) == "pack 1.0"


def test_found_files_are_looked_up_by_name(tmp_path: Path) -> None:
    form = Form("two", (DataFile("a"), DataFile("b")))
    entry = Entry("set", "Set", "", "", "", "", "", forms=(form,))
    files = Files(entry, form, {"b": tmp_path / "b", "a": tmp_path / "a"}, "cache", tmp_path)
    assert files["b"] == tmp_path / "b"
    assert files.first == tmp_path / "a"


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_every_entry_is_complete(entry: Entry) -> None:
    assert all((entry.title, entry.what, entry.items, entry.shape, entry.factors, entry.licence))
    assert entry.forms or entry.made_from
    for form in entry.forms:
        assert form.files
        for file in form.files:
            assert file.checksum is None or re.fullmatch(
                r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", file.checksum
            )
            assert file.archive is None or (
                file.member and re.fullmatch(r"[0-9a-f]{64}", file.archive.sha256)
            )


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_a_good_file_has_no_fault(tmp_path: Path, algorithm: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    good = f"{algorithm}:{hashlib.new(algorithm, b'abc').hexdigest()}"
    assert fault(path, DataFile("x", good, 3)) is None
    path.write_bytes(b"abd")
    assert str(fault(path, DataFile("x", good, 3))).startswith(f"is corrupt or another file ({algorithm} ")


def test_what_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    assert fault(tmp_path / "folder", DataFile("folder")) == "is not a regular file"
    assert fault(tmp_path / "folder", DataFile("folder", is_folder=True)) is None
    assert fault(tmp_path / "file", DataFile("file", is_folder=True)) == "is not a folder"
