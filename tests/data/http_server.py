"""A real HTTP server on this machine whose faults a test can choose."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What the server offers at every path, and how it misbehaves."""

    content: bytes
    ranges: bool = True  # understands the Range header
    break_after: list[int] = field(default_factory=list)  # request i sends so many bytes, then hangs up
    stall_after: int | None = None  # sends so many bytes, then nothing until the client goes away
    drip: float | None = None  # seconds between the bytes of the body, one by one
    drip_headers: bool = False  # the same before the body, in a header without end
    headers: dict[str, str] = field(
        default_factory=dict
    )  # take the place of the right ones, or come beside them
    status: int = 200
    requests: list[str | None] = field(default_factory=list)  # the Range header of each request
    address: str = ""
    stalled: threading.Event = field(default_factory=threading.Event)


@contextlib.contextmanager
def serve(site: Site) -> Iterator[Site]:
    """Run the server for the length of the block; `site.address` is its URL with a trailing slash."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = len(site.requests)
            site.requests.append(self.headers["Range"])
            if site.status != 200:
                self.send_error(site.status)
                return
            start = 0
            if site.ranges and (match := re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")):
                start = int(match[1])
                if start >= len(site.content):
                    self.send_error(416)
                    return
            self.send_response(206 if start else int(site.headers.get("status", 200)))
            headers = {"Content-Length": str(len(site.content) - start)}
            if start:
                last = len(site.content) - 1
                headers["Content-Range"] = f"bytes {start}-{last}/{len(site.content)}"
            for name, value in {**headers, **site.headers}.items():
                if value and name != "status":
                    self.send_header(name, value)
            if site.drip_headers:
                self.flush_headers()
                self._drip(b"X-Slow: " + b"x" * 10_000)
                return
            self.end_headers()
            body = site.content[start:]
            if site.stall_after is not None and number == 0:
                self.wfile.write(body[: site.stall_after])
                self.wfile.flush()
                site.stalled.set()
                self.connection.recv(1)  # returns when the client closes its end
                self.close_connection = True
                return
            if site.drip is not None:
                self._drip(body)
                return
            if number < len(site.break_after):
                body = body[: site.break_after[number]]
                self.close_connection = True
            self.wfile.write(body)

        def _drip(self, content: bytes) -> None:
            self.close_connection = True
            with contextlib.suppress(OSError):
                for byte in content:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(site.drip or 0.01)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_port}/"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
