"""Downloads from a file's published addresses, by pooch: checked, retried, with a progress bar on a terminal.

The file gathers in a folder ``.download`` beside its target, and appears under its name once its checksum is right.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from unknot.data.files.catalogue import DataFile, SourceUnavailable
from unknot.files import disk_error, explaining, make_folder

ATTEMPTS = 3  # for each address
PAUSE = 1.0  # seconds before the second attempt, doubled each time
TIMEOUT = 30.0  # seconds without a byte
LARGEST = 20 << 30  # bytes of a file whose size is not known
_CHUNK = 1 << 16
_LONGEST = 200  # characters of a library's message


def download(file: DataFile, target: Path) -> None:
    """Fetch a file from the first of its addresses that delivers it.

    Parameters
    ----------
    file : DataFile
        The addresses, the checksum and the size.
    target : Path
        Where the file goes. The caller holds the lock of its folder.

    Raises
    ------
    SourceUnavailable
        If no address delivers the file; the message has the reason for each.
    DiskError
        If the file cannot be written.
    """
    folder = target.parent / ".download"
    shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
    make_folder(folder)
    reasons = []
    try:
        for url in file.urls:
            try:
                arrived = _from_address(url, file, folder)
            except SourceUnavailable as error:
                reasons.append(f"{url}: {error}")
                continue
            with explaining(target):
                arrived.replace(target)
            return
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    raise SourceUnavailable("; ".join(reasons))


def _from_address(url: str, file: DataFile, folder: Path) -> Path:
    """Fetch the file from one address, in a few attempts if the connection is at fault."""
    import pooch
    import requests

    pooch.get_logger().setLevel(
        logging.WARNING
    )  # it reports every file, and the checksum of those without one
    for attempt in range(ATTEMPTS):
        is_last = attempt == ATTEMPTS - 1
        with _Progress(file) as progress:
            # The identity encoding, so that bytes are counted as they are in the file.
            fetch = pooch.HTTPDownloader(
                progressbar=progress,
                chunk_size=_CHUNK,
                timeout=TIMEOUT,
                headers={"Accept-Encoding": "identity"},
            )
            try:
                return Path(pooch.retrieve(url, file.checksum, file.name, folder, downloader=fetch))
            except SourceUnavailable:
                raise
            except requests.HTTPError as error:
                response = error.response
                if response is None or response.status_code < 500 or is_last:
                    raise SourceUnavailable(f"the server answered {_line(error)}") from error
            except requests.RequestException as error:
                is_broken = isinstance(error, requests.Timeout | requests.exceptions.ChunkedEncodingError)
                what = "the connection broke off" if is_broken else "no connection"
                if not is_broken or is_last:
                    raise SourceUnavailable(f"{what} ({_line(error)})") from error
            except OSError as error:
                raise disk_error(folder / file.name, error) from error
            except ValueError as error:  # of pooch: another checksum; of headers: not a number
                raise SourceUnavailable(f"what it sent is not the expected file ({_line(error)})") from error
        time.sleep(PAUSE * 2**attempt)
    raise AssertionError("the last attempt returns or raises")


class _Progress:
    """What pooch tells about a download: shown on a terminal, and stopped above the expected size.

    ``total`` (as the server announces it), ``update``, ``reset`` and ``close`` are the interface of pooch.
    """

    def __init__(self, file: DataFile) -> None:
        self.total, self.received, self._file = 0, 0, file
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> _Progress:
        if sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            columns = (
                "{task.description}",
                progress.BarColumn(),
                progress.DownloadColumn(),
                progress.TransferSpeedColumn(),
                progress.TimeRemainingColumn(),
            )
            self._bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._file.name, total=self._file.size)
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, count: int) -> None:
        expected = self._file.size
        if expected is not None and self.total not in (0, expected):
            raise SourceUnavailable(f"it announces {self.total} bytes, expected {expected}")
        self.received += count
        limit = LARGEST if expected is None else expected
        if self.received >= limit + _CHUNK:  # the last chunk counts as a whole one
            raise SourceUnavailable(f"it sends more than {limit} bytes")
        if self._bar is not None:
            self._bar.update(self._task, completed=self.received, total=self.total or expected)

    def reset(self) -> None:
        self.received = 0

    def close(self) -> None:
        """Nothing remains to be closed: the bar ends with the attempt."""


def _line(message: object) -> str:
    """Return a library's message in one short line."""
    line = " ".join(str(message).split()) or type(message).__name__
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "..."
