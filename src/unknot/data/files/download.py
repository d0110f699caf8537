"""The canonical download: resumable, verified, with a progress bar on a terminal.

The bytes gather in ``<name>.part`` beside the target. A broken connection leaves that file, and the next
attempt asks for the rest with an HTTP Range request; the target itself appears only after the checksum holds.
"""

from __future__ import annotations

import contextlib
import http.client
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from unknot.data.files.catalogue import DataFile, SourceUnavailable
from unknot.data.files.checksum import fault
from unknot.files import disk_error, explaining, make_folder

ATTEMPTS = 3  # for each address
PAUSE = 1.0  # seconds before the second attempt, doubled each time
TIMEOUT = 30.0  # seconds without a byte
_BLOCK = 1 << 18


class _Broken(Exception):
    """The transfer stopped for a reason that another attempt may not meet."""


def download(file: DataFile, target: Path) -> None:
    """Fetch ``file`` from the first of its addresses that delivers it, into ``target``."""
    make_folder(target.parent)
    part = target.with_name(target.name + ".part")
    reasons = []
    for url in file.urls:
        try:
            _from_address(url, file, part)
        except SourceUnavailable as error:
            reasons.append(f"{url}: {error}")
            continue
        with explaining(target):
            part.replace(target)
        return
    raise SourceUnavailable("; ".join(reasons))


def _from_address(url: str, file: DataFile, part: Path) -> None:
    """Complete and verify ``part`` from one address, in a few attempts."""
    reason = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        # Without a checksum nothing proves that old and new bytes belong together, so start over.
        start = part.stat().st_size if part.exists() and file.checksum is not None else 0
        try:
            if file.size is None or start < file.size:
                start = _transfer(url, file, part, start)
        except _Broken as error:
            reason = str(error)
            continue
        problem = fault(part, file)
        if problem is None:
            return
        part.unlink()
        reason = f"what it sent {problem}"
        if start == 0:  # the address itself gives a wrong file; a resumed one may only have had bad old bytes
            break
    raise SourceUnavailable(reason)


def _transfer(url: str, file: DataFile, part: Path, start: int) -> int:
    """Append the bytes from ``start`` on; return where the server really began (0 if it cannot resume)."""
    request = urllib.request.Request(url, headers={"User-Agent": "unknot"})
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            if response.status != http.HTTPStatus.PARTIAL_CONTENT:
                start = 0  # the whole file comes again
            length = response.headers.get("Content-Length")
            total = start + int(length) if length is not None else file.size
            with _progress(file.name, total, start) as advance:
                end = _copy(response, part, start, advance)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink(missing_ok=True)
        elif error.code < 500:
            raise SourceUnavailable(f"the server answered {error.code} {error.reason}") from error
        raise _Broken(f"the server answered {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        fate = _Broken if isinstance(error.reason, TimeoutError) else SourceUnavailable
        raise fate(f"no connection ({error.reason})") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise _Broken(f"the connection broke off ({error or type(error).__name__})") from error
    if total is not None and end < total:
        raise _Broken(f"the connection broke off after {end} of {total} bytes; the next run resumes there")
    return start


def _copy(source: IO[bytes], part: Path, start: int, advance: Callable[[int], None]) -> int:
    """Write the stream into ``part`` from ``start``; return the file's new length. A full disk leaves no part."""
    with explaining(part):
        sink = part.open("r+b" if start else "wb")
    with contextlib.ExitStack() as stack:
        stack.callback(sink.close)
        sink.seek(start)
        while block := source.read(_BLOCK):
            try:
                sink.write(block)
                sink.flush()
            except OSError as error:
                with contextlib.suppress(OSError):
                    part.unlink()
                raise disk_error(part, error) from error
            advance(len(block))
        return sink.tell()


@contextlib.contextmanager
def _progress(name: str, total: int | None, start: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error when that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        "{task.description}",
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total, completed=start)
        yield lambda count: bar.advance(task, count)
