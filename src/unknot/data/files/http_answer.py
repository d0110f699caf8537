"""What a server answers, before the bytes: headers in bounded time, and what is odd about them in words."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import threading
import urllib.request
from collections.abc import Iterator

_LONGEST = 200  # characters of a server's own words


class Odd(Exception):
    """An answer that cannot be used, and asking again would give the same."""


def in_words(said: object) -> str:
    """A server's or a library's words in one short line."""
    line = " ".join(str(said).split()) or type(said).__name__
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "..."


@contextlib.contextmanager
def opened(request: urllib.request.Request, seconds: float) -> Iterator[http.client.HTTPResponse]:
    """The response to a request, its headers read within ``seconds``, redirections included.

    A time limit of a socket begins anew with every byte, so a clock of our own hangs up on a server that drips.
    """
    sockets: list[socket.socket] = []
    late = threading.Event()

    def hang_up() -> None:
        late.set()
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    clock = threading.Timer(seconds, hang_up)
    clock.daemon = True
    clock.start()
    try:
        response = _opener(sockets).open(request, timeout=seconds)
    except (OSError, http.client.HTTPException) as error:
        if late.is_set():
            raise TimeoutError(f"no answer within {seconds:g} seconds") from error
        raise
    finally:
        clock.cancel()
    with response:
        if late.is_set():  # hung up in the middle, which looks like the end of the headers
            raise TimeoutError(f"no answer within {seconds:g} seconds")
        yield response


def announced_length(response: http.client.HTTPResponse) -> int | None:
    """The bytes that are to come, if the server says so."""
    if (packed := response.headers.get("Content-Encoding", "identity")) != "identity":
        raise Odd(f"the file comes packed, Content-Encoding: {packed}")
    said = response.headers.get("Content-Length")
    if said is None:
        return None
    if not re.fullmatch(r"\d{1,18}", said.strip(), re.ASCII):
        raise Odd(f"Content-Length: {said}")
    return int(said)


def first_byte(response: http.client.HTTPResponse) -> int:
    """Where in the file the answer begins: at 0, or where the server says that a part begins."""
    if response.status == http.HTTPStatus.OK:
        return 0
    said = response.headers.get("Content-Range", "")
    match = re.match(r"bytes (\d{1,18})-", said, re.ASCII)
    if response.status != http.HTTPStatus.PARTIAL_CONTENT or match is None:
        raise Odd(f"status {response.status}, Content-Range: {said or 'none'}")
    return int(match[1])


def _opener(sockets: list[socket.socket]) -> urllib.request.OpenerDirector:
    """urllib's own opener, which notes the sockets it makes."""

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, req)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Secure, req)

    return urllib.request.build_opener(PlainHandler, SecureHandler)
