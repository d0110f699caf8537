"""The state of a data set on this machine, told without fetching anything."""

from __future__ import annotations

import hashlib
from pathlib import Path

from unknot.data.files.catalogue import DataFile, Entry, Form
from unknot.data.files.verification import verify

CONTENT = b"shapes" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def _entry(**more: object) -> Entry:
    file = DataFile("shapes.bin", f"sha256:{DIGEST}", len(CONTENT), ("http://nowhere.invalid/shapes.bin",))
    form = Form("web", (file,), note="a part")
    return Entry("shapes", "Shapes", "", "", "", "", "", folder="shapes", forms=(form,), **more)  # type: ignore[arg-type]


def test_a_good_file_is_told_with_its_source_size_and_checksum(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "shapes.bin").write_bytes(CONTENT)
    found = verify(_entry(), tmp_path)
    assert (found.state, found.source, found.size) == ("OK", "data directory (a part)", "0.0 MB")
    assert found.checksum == f"sha256 {DIGEST[:8]}"
    (cache / "shapes").mkdir(parents=True)
    (cache / "shapes" / "shapes.bin").write_bytes(CONTENT)
    assert verify(_entry()).source == "cache (a part)"


def test_a_bad_file_is_told(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "shapes.bin").write_bytes(CONTENT[:-1])
    found = verify(_entry(), tmp_path)
    assert (found.state, found.checksum) == ("bad", "wrong")
    assert "shapes.bin is truncated" in found.advice


def test_a_missing_file_comes_with_what_to_do(tmp_path: Path, cache: Path) -> None:
    found = verify(_entry(hint="or draw them"), tmp_path)
    assert found.state == "missing"
    assert found.advice == (
        f"`unknot data get shapes` fetches it; or put shapes.bin into {tmp_path / 'shapes'} (or draw them)."
    )
    assert not cache.exists()


def test_what_needs_no_files_is_there() -> None:
    found = verify(Entry("digits", "Digits", "", "", "", "", "", made_from="scikit-learn"))
    assert (found.state, found.source) == ("OK", "with scikit-learn")
