"""Where files come from, in which order, and what happens when a source is bad."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.files.test_package_archive import CONTENT as PACKAGED
from tests.data.files.test_package_archive import local_index, make_wheel
from tests.data.http_server import Site, serve
from unknot.data.files import download
from unknot.data.files.catalogue import DataFile, Entry, Form
from unknot.data.files.sources import find, verify
from unknot.errors import DataError, DiskError

__all__ = ["local_index"]  # a fixture

CONTENT = random.Random(1).randbytes(300_000)


def make_entry(*forms: Form, name: str = "shapes") -> Entry:
    return Entry(name, name, "", "", "", "", "", folder=name, forms=forms)


def web_form(address: str, content: bytes = CONTENT, name: str = "shapes.bin") -> Form:
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return Form("web", (DataFile(name, checksum, len(content), (address + name,) if address else ()),))


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSE", 0.001)


@pytest.mark.parametrize("folder", ["shapes", "."])
def test_the_data_directory_comes_first(tmp_path: Path, cache: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "shapes.bin").write_bytes(CONTENT)
    with serve(Site(CONTENT)) as site:
        files = find(make_entry(web_form(site.address)), tmp_path)
    assert files.source == "data directory"
    assert files.first == tmp_path / folder / "shapes.bin"
    assert site.requests == []
    assert not cache.exists()


def test_the_variable_names_the_data_directory(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shapes.bin").write_bytes(CONTENT)
    monkeypatch.setenv("UNKNOT_DATA", str(tmp_path))
    assert find(make_entry(web_form("")), fetch=False).source == "data directory"
    monkeypatch.setenv("UNKNOT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"nowhere \(from the variable UNKNOT_DATA\) is not a folder"):
        find(make_entry(web_form("")), fetch=False)


def test_then_the_cache_then_the_download(cache: Path) -> None:
    with serve(Site(CONTENT)) as site:
        entry = make_entry(web_form(site.address))
        assert find(entry).source == "download"
        assert find(entry).source == "cache"
    assert site.requests == [None]
    assert (cache / "shapes" / "shapes.bin").read_bytes() == CONTENT


def test_the_download_comes_before_a_package(cache: Path, local_index: Path) -> None:
    packaged = make_wheel(local_index)[1]
    with serve(Site(CONTENT)) as site:
        files = find(make_entry(Form("wheel", (packaged,)), web_form(site.address)))
    assert files.source == "download"


def test_a_package_helps_when_the_download_does_not(cache: Path, local_index: Path) -> None:
    packaged = make_wheel(local_index)[1]
    with serve(Site(b"", status=404)) as site:
        files = find(make_entry(web_form(site.address), Form("wheel", (packaged,))))
    assert files.source == "package carrier 1.0"
    assert files["data.bin"].read_bytes() == PACKAGED
    assert len(site.requests) == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (CONTENT[:1000], r"is truncated \(1000 bytes, expected 300000\)"),
        (b"x" + CONTENT[1:], r"is corrupt or another file \(sha256 "),
        (CONTENT + b"x", r"is not the expected file \(300001 bytes"),
    ],
)
def test_a_bad_file_of_the_user_is_reported_and_kept(
    tmp_path: Path, cache: Path, content: bytes, complaint: str
) -> None:
    (tmp_path / "shapes").mkdir()
    bad = tmp_path / "shapes" / "shapes.bin"
    bad.write_bytes(content)
    with (
        serve(Site(CONTENT)) as site,
        pytest.raises(DataError, match=rf"The data file .*shapes\.bin {complaint}.*: replace it by"),
    ):
        find(make_entry(web_form(site.address)), tmp_path)
    assert bad.read_bytes() == content
    assert site.requests == []


def test_a_bad_file_in_the_cache_is_replaced(cache: Path) -> None:
    (cache / "shapes").mkdir(parents=True)
    (cache / "shapes" / "shapes.bin").write_bytes(CONTENT[:1000])
    with serve(Site(CONTENT)) as site:
        assert find(make_entry(web_form(site.address))).source == "download"
    assert (cache / "shapes" / "shapes.bin").read_bytes() == CONTENT


def test_a_bad_file_in_the_cache_stays_until_a_good_one_comes(cache: Path) -> None:
    (cache / "shapes").mkdir(parents=True)
    (cache / "shapes" / "shapes.bin").write_bytes(CONTENT[:1000])
    with (
        serve(Site(b"wrong")) as site,
        pytest.raises(DataError, match=r"cache.shapes.shapes\.bin is truncated.*it announces 5 bytes"),
    ):
        find(make_entry(web_form(site.address)))
    assert (cache / "shapes" / "shapes.bin").read_bytes() == CONTENT[:1000]


def test_only_what_is_lacking_is_fetched(cache: Path) -> None:
    with serve(Site(CONTENT)) as site:
        one, two = (web_form(site.address, name=name).files[0] for name in ("one.bin", "two.bin"))
        (cache / "shapes").mkdir(parents=True)
        (cache / "shapes" / "one.bin").write_bytes(CONTENT)
        files = find(make_entry(Form("web", (one, two))))
    assert site.requests == [None]
    assert set(files.paths) == {"one.bin", "two.bin"}


def test_missing_says_where_to_put_which_file(tmp_path: Path, cache: Path) -> None:
    entry = make_entry(web_form(""), Form("other", (DataFile("shapes.mat"),)))
    where = rf"put shapes\.bin or shapes\.mat into {tmp_path}/shapes\."
    with pytest.raises(
        DataError, match=rf"was not found in {tmp_path} or .*downloading was switched off.*{where}"
    ):
        find(entry, tmp_path, fetch=False)
    with pytest.raises(DataError, match=r"into DIR/shapes and set UNKNOT_DATA=DIR"):
        find(entry)


def test_a_namesake_of_another_set_is_passed_over_in_a_flat_folder(tmp_path: Path, cache: Path) -> None:
    mine = make_entry(web_form(""), name="mine")
    twin = make_entry(web_form("", content=b"twin"), name="twin")
    (tmp_path / "shapes.bin").write_bytes(b"twin")
    assert find(twin, tmp_path, fetch=False, others=(mine, twin)).source == "data directory"
    with pytest.raises(DataError, match="mine was not found"):
        find(mine, tmp_path, fetch=False, others=(mine, twin))


def test_a_read_only_cache_is_said(
    read_only_folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNKNOT_CACHE", str(read_only_folder))
    with (
        serve(Site(CONTENT)) as site,
        pytest.raises(DiskError, match=r"Could not write .*(read-only|not permitted).*set UNKNOT_CACHE"),
    ):
        find(make_entry(web_form(site.address)))
    assert site.requests == []


CHILD = (
    "import hashlib, sys; from unknot.data.files.catalogue import *; from unknot.data.files.sources import find\n"
    "file = DataFile('shapes.bin', 'sha256:' + sys.argv[2], urls=(sys.argv[1],))\n"
    "entry = Entry('shapes', '', '', '', '', '', '', 'shapes', (Form('web', (file,)),))\n"
    "print(hashlib.sha256(find(entry).first.read_bytes()).hexdigest() == sys.argv[2])\n"
)


def test_a_killed_download_is_repeated_by_the_next_run(cache: Path) -> None:
    with serve(Site(CONTENT, stall_after=290_000)) as site:
        entry = make_entry(web_form(site.address))
        digest = hashlib.sha256(CONTENT).hexdigest()
        child = subprocess.Popen([sys.executable, "-c", CHILD, site.address, digest])
        assert site.stalled.wait(60)
        child.kill()
        child.wait()
        assert find(entry).first.read_bytes() == CONTENT  # the dead process's lock is free again
    assert sorted(p.name for p in (cache / "shapes").iterdir() if not p.name.endswith(".lock")) == [
        "shapes.bin"
    ]


def test_a_path_that_cannot_be_reached_is_said(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "shapes").symlink_to(tmp_path / "shapes")  # round and round
    with pytest.raises(DataError, match=r"shapes\.bin cannot be reached \(Too many levels"):
        find(make_entry(web_form("")), tmp_path, fetch=False)


def test_two_processes_fetch_once_and_both_have_the_file(cache: Path) -> None:
    content = random.Random(2).randbytes(30_000_000)
    digest = hashlib.sha256(content).hexdigest()
    with serve(Site(content)) as site:
        command = [sys.executable, "-c", CHILD, site.address, digest]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        assert [process.communicate(timeout=120)[0] for process in both] == ["True\n", "True\n"]
    assert site.requests == [None]
    assert sorted(p.name for p in (cache / "shapes").iterdir() if not p.name.endswith(".lock")) == [
        "shapes.bin"
    ]


SMALL = b"shapes" * 1000
DIGEST = hashlib.sha256(SMALL).hexdigest()


def _entry(**more: object) -> Entry:
    file = DataFile("shapes.bin", f"sha256:{DIGEST}", len(SMALL), ("http://nowhere.invalid/shapes.bin",))
    form = Form("web", (file,), note="a part")
    return Entry("shapes", "Shapes", "", "", "", "", "", folder="shapes", forms=(form,), **more)  # type: ignore[arg-type]


def test_a_good_file_is_told_with_its_source_size_and_checksum(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "shapes.bin").write_bytes(SMALL)
    found = verify(_entry(), tmp_path)
    assert (found.state, found.source, found.size) == ("OK", "data directory (a part)", "0.0 MB")
    assert found.checksum == f"sha256 {DIGEST[:8]}"
    (cache / "shapes").mkdir(parents=True)
    (cache / "shapes" / "shapes.bin").write_bytes(SMALL)
    assert verify(_entry()).source == "cache (a part)"


def test_a_bad_file_is_told(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "shapes.bin").write_bytes(SMALL[:-1])
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
