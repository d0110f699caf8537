"""The canonical download: resumable, bounded, verified, with a progress bar on a terminal.

The bytes gather in ``<name>.part`` beside the target. A broken connection leaves that file, and the next
attempt asks for the rest with an HTTP Range request; the target itself appears only after the checksum holds.
No server can fill the disk or hold the line: a file ends at its known size, and a transfer below a least rate is
broken off.
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

from unknot.data.files.catalogue import DataFile, SourceUnavailable
from unknot.data.files.checksum import fault
from unknot.data.files.http_answer import Odd, announced_length, first_byte, in_words, opened
from unknot.files import disk_error, explaining, make_folder

ATTEMPTS = 3  # for each address
PAUSE = 1.0  # seconds before the second attempt, doubled each time
TIMEOUT = 30.0  # seconds without a byte, and for all headers together
SLOWEST = 1000.0  # bytes a second, on the mean once the first TIMEOUT is over
LARGEST = 20 << 30  # bytes of a file whose size nobody knows
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
    headers = {"User-Agent": "unknot", **({"Range": f"bytes={start}-"} if start else {})}
    try:
        with opened(urllib.request.Request(url, headers=headers), TIMEOUT) as response:
            if (begins := first_byte(response)) not in (0, start):
                part.unlink(missing_ok=True)
                raise _Broken(f"asked for the bytes from {start} on, it sent those from {begins}")
            start = begins
            length = announced_length(response)
            total = file.size if length is None else start + length
            if file.size is not None and total != file.size:
                raise SourceUnavailable(f"it announces {total} bytes, expected {file.size}")
            with _progress(file.name, total, start) as advance:
                end = _copy(response, part, start, total, advance)
    except SourceUnavailable:
        raise
    except urllib.error.HTTPError as error:
        said = f"the server answered {error.code} {in_words(error.reason)}"
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink(missing_ok=True)
        elif error.code < 500:
            raise SourceUnavailable(said) from error
        raise _Broken(said) from error
    except urllib.error.URLError as error:
        fate = _Broken if isinstance(error.reason, TimeoutError) else SourceUnavailable
        raise fate(f"no connection ({in_words(error.reason)})") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise _Broken(f"the connection broke off ({in_words(error)})") from error
    except (Odd, ValueError) as error:
        raise SourceUnavailable(f"its answer is odd ({in_words(error)})") from error
    if total is not None and end < total:
        raise _Broken(f"the connection broke off after {end} of {total} bytes; the next run resumes there")
    return start


def _copy(
    source: http.client.HTTPResponse,
    part: Path,
    start: int,
    total: int | None,
    advance: Callable[[int], None],
) -> int:
    """Write the stream into ``part`` from ``start``; return the file's new length. A full disk leaves no part."""
    with explaining(part):
        sink = part.open("r+b" if start else "wb")
    with contextlib.ExitStack() as stack:
        stack.callback(sink.close)
        sink.seek(start)
        began, end = time.monotonic(), start
        while block := source.read1(_BLOCK):  # what has come, without waiting for a whole block
            end += len(block)
            if end > (LARGEST if total is None else total):
                stack.callback(part.unlink, missing_ok=True)
                raise SourceUnavailable(f"it sends more than {LARGEST if total is None else total} bytes")
            try:
                sink.write(block)
                sink.flush()
            except OSError as error:
                with contextlib.suppress(OSError):
                    part.unlink()
                raise disk_error(part, error) from error
            advance(len(block))
            _refuse_drip(time.monotonic() - began, end - start)
        return end


def _refuse_drip(seconds: float, came: int) -> None:
    """Break off a transfer that would take for ever; what has come is kept."""
    if seconds > TIMEOUT and came < SLOWEST * seconds:
        raise _Broken(f"the connection is too slow ({came} bytes in {seconds:.0f} seconds)")


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
