"""Multi-MNIST through the catalogue: made once, kept, made anew when damaged."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.data.found_files import found
from tests.data.sets.idx_files import write_set
from unknot.data.files.catalogue import Files
from unknot.data.sets import computed


def small_mnist(folder: Path) -> Files:
    write_set(folder, "")
    return found(computed.MULTI_MNIST, "idx", folder)


def test_multi_mnist_is_kept_and_remade_when_damaged(tmp_path: Path, cache: Path) -> None:
    files = small_mnist(tmp_path)
    made = computed.build_multi_mnist(files, n=20, canvas=40, counts=(1, 2))
    assert made.name == "multi-mnist"
    assert made.x.shape == (20, 1, 40, 40)
    assert set(made.splits) == {"train", "test"}
    (kept,) = (cache / "multi-mnist").glob("*.npz")
    before = kept.stat().st_mtime_ns
    again = computed.build_multi_mnist(files, n=20, canvas=40, counts=(1, 2))
    assert kept.stat().st_mtime_ns == before
    kept.write_bytes(kept.read_bytes()[:-500])
    remade = computed.build_multi_mnist(files, n=20, canvas=40, counts=(1, 2))
    for other in (again, remade):
        assert torch.equal(other.x, made.x)
        assert torch.equal(other.factor("digit_2").values, made.factor("digit_2").values)
        assert other.factor("digit_1").classes == made.factor("digit_1").classes
        assert other.fingerprint() == made.fingerprint()


def test_other_options_are_kept_apart(tmp_path: Path, cache: Path) -> None:
    files = small_mnist(tmp_path)
    one = computed.build_multi_mnist(files, n=10, seed=1)
    two = computed.build_multi_mnist(files, n=10, seed=2)
    assert not torch.equal(one.x, two.x)
    assert len(list((cache / "multi-mnist").glob("*.npz"))) == 2
