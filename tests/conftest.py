"""Every test starts from the same random state, on one thread, with checks on; disks that refuse."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

import unknot

settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=False, max_examples=50)
settings.load_profile("fixed")
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _fixed_start() -> Iterator[None]:
    torch.manual_seed(0)
    with unknot.validation(True):
        yield


def _mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"needs the right to mount a small disk: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB."""
    yield from _mounted(tmp_path / "small-disk", "size=256k")


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing can be written: by its rights, or, for root, a read-only disk."""
    if os.geteuid() == 0:
        yield from _mounted(tmp_path / "read-only", "size=64k,ro")
        return
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    yield folder
    folder.chmod(0o700)


@pytest.fixture
def two_ray_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Ray cluster of two workers on this machine, of the tests' own priority: Ray's are polite, and may starve."""
    ray = pytest.importorskip("ray", reason="Ray is an extra: pip install 'unknot[sweep]'")
    monkeypatch.setenv("RAY_worker_niceness", "0")
    from unknot.parallel.ray_tasks import connect

    connect(ray, "local", num_cpus=2, include_dashboard=False)
    yield
    ray.shutdown()
