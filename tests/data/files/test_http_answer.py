"""A server's answer: within bounded time, and in words where it is odd (see test_download for real servers)."""

from __future__ import annotations

import urllib.request

import pytest

from tests.data.http_server import Site, serve
from unknot.data.files.http_answer import Odd, announced_length, first_byte, in_words, opened


def test_words_are_one_short_line() -> None:
    assert in_words("a\n  b") == "a b"
    assert in_words(TimeoutError()) == "TimeoutError"
    assert len(in_words("x" * 9999)) < 250


def test_where_and_how_much() -> None:
    with serve(Site(b"0123456789")) as site:
        with opened(urllib.request.Request(site.address), 5.0) as response:
            assert (first_byte(response), announced_length(response)) == (0, 10)
            assert response.read() == b"0123456789"
        asked = urllib.request.Request(site.address, headers={"Range": "bytes=4-"})
        with opened(asked, 5.0) as response:
            assert (first_byte(response), announced_length(response)) == (4, 6)


def test_what_is_odd() -> None:
    with (
        serve(Site(b"x", headers={"Content-Length": "1e3"})) as site,
        opened(urllib.request.Request(site.address), 5.0) as response,
        pytest.raises(Odd, match="Content-Length: 1e3"),
    ):
        announced_length(response)
