"""Downloads from a real server on this machine: broken connections, wrong files, full disks."""

from __future__ import annotations

import hashlib
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.http_server import Site, serve
from unknot.data.files import download as module
from unknot.data.files.catalogue import DataFile, SourceUnavailable
from unknot.data.files.download import download
from unknot.errors import DiskError

CONTENT = random.Random(0).randbytes(1_000_000)


def data_file(*urls: str, content: bytes = CONTENT, size: bool = True) -> DataFile:
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return DataFile("data.bin", checksum, len(content) if size else None, urls)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.001)


def test_a_file_arrives_whole(tmp_path: Path) -> None:
    with serve(Site(CONTENT)) as site:
        download(data_file(site.address + "data.bin"), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"]


def test_a_wrong_file_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    wrong = b"<html>log in first</html>" + bytes(len(CONTENT) - 25)
    with (
        serve(Site(wrong)) as site,
        pytest.raises(SourceUnavailable, match=r"what it sent is not the expected file"),
    ):
        download(data_file(site.address), tmp_path / "data.bin")
    assert site.requests == [None]  # asking again would give the same
    assert list(tmp_path.iterdir()) == []


def test_the_second_address_helps_when_the_first_fails(tmp_path: Path) -> None:
    with serve(Site(b"wrong")) as bad, serve(Site(b"", status=404)) as gone, serve(Site(CONTENT)) as good:
        download(data_file(bad.address, gone.address, good.address), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert len(gone.requests) == 1


def test_a_server_in_trouble_is_asked_again(tmp_path: Path) -> None:
    with (
        serve(Site(b"", status=503)) as site,
        pytest.raises(SourceUnavailable, match="the server answered 503"),
    ):
        download(data_file(site.address), tmp_path / "data.bin")
    assert len(site.requests) == module.ATTEMPTS


def test_no_network_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/data.bin"
        with pytest.raises(SourceUnavailable, match=r"data\.bin: no connection"):
            download(data_file(url), tmp_path / "data.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_and_leaves_nothing(small_disk: Path) -> None:
    with (
        serve(Site(CONTENT)) as site,
        pytest.raises(DiskError, match=r"Could not write .*data\.bin: the disk is full; free"),
    ):
        download(data_file(site.address), small_disk / "data.bin")
    assert list(small_disk.iterdir()) == []


def test_a_size_limit_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    # The limit holds for the whole process, so it gets one of its own.
    code = (
        "import resource, sys; from pathlib import Path; from unknot.data.files.catalogue import DataFile\n"
        "from unknot.data.files.download import download\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "download(DataFile('data.bin', urls=(sys.argv[1],)), Path(sys.argv[2]) / 'data.bin')\n"
    )
    with serve(Site(CONTENT)) as site:
        command = [sys.executable, "-c", code, site.address, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True)
    assert "DiskError: Could not write" in done.stderr
    assert "the file size limit is reached" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_ends_at_its_known_size(tmp_path: Path) -> None:
    longer = Site(
        CONTENT * 3, headers={"Content-Length": ""}
    )  # the end of the connection is the end of the file
    with serve(longer) as site, pytest.raises(SourceUnavailable, match="it sends more than 1000000 bytes"):
        download(data_file(site.address), tmp_path / "data.bin")
    with serve(Site(CONTENT * 3)) as site, pytest.raises(SourceUnavailable, match="announces 3000000 bytes"):
        download(data_file(site.address), tmp_path / "data.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_unknown_size_has_a_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 500_000)
    endless = Site(CONTENT, headers={"Content-Length": ""})
    with serve(endless) as site, pytest.raises(SourceUnavailable, match="it sends more than 500000 bytes"):
        download(DataFile("data.bin", urls=(site.address,)), tmp_path / "data.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_connection_is_tried_again(tmp_path: Path) -> None:
    with serve(Site(CONTENT, break_after=[600_000, 100])) as site:
        download(data_file(site.address), tmp_path / "data.bin")
    assert len(site.requests) == 3
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_a_connection_that_always_breaks_is_given_up(tmp_path: Path) -> None:
    with (
        serve(Site(CONTENT, break_after=[200_000] * 9)) as site,
        pytest.raises(SourceUnavailable, match="the connection broke off"),
    ):
        download(data_file(site.address), tmp_path / "data.bin")
    assert len(site.requests) == module.ATTEMPTS
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".download").mkdir()
    (tmp_path / ".download" / "tmp123").write_bytes(b"x" * 700_000)
    with serve(Site(CONTENT)) as site:
        download(DataFile("data.bin", urls=(site.address,)), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"]


def test_silence_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    with (
        serve(Site(CONTENT, stall_after=1000)) as site,
        serve(Site(CONTENT)) as good,
    ):
        download(data_file(site.address, good.address), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_a_read_only_disk_is_said(read_only_folder: Path) -> None:
    with serve(Site(CONTENT)) as site, pytest.raises(DiskError, match=r"read-only|not permitted"):
        download(data_file(site.address), read_only_folder / "data.bin")
    assert site.requests == []


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Content-Length": "many"}, "not the expected file"),
        ({"Content-Length": "-5"}, "not the expected file|announces -5 bytes"),
        ({"status": "204"}, "not the expected file"),
        ({"status": "302", "Location": "/"}, "redirects"),
        ({"status": "302", "Location": "file:///etc/passwd"}, "no connection"),
        ({"Transfer-Encoding": "chunked", "Content-Length": ""}, "the connection broke off|no connection"),
    ],
)
def test_odd_headers_are_answered_in_words(headers: dict[str, str], words: str, tmp_path: Path) -> None:
    with (
        serve(Site(CONTENT, headers=headers)) as site,
        pytest.raises(SourceUnavailable, match=words) as error,
    ):
        download(data_file(site.address), tmp_path / "data.bin")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500
    assert not (tmp_path / "data.bin").exists()
