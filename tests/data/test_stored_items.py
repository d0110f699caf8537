"""Items that are read from a file, or unpacked, when a batch needs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.packing import packed
from unknot.data import stored_items
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.data.stored_items import PackedBits, StoredItems
from unknot.errors import DataError


def stored(folder: Path, array: np.ndarray, *cuts: int) -> StoredItems:
    """The array in files, cut into parts."""
    parts = []
    for i, part in enumerate(np.split(array, cuts)):
        np.save(folder / f"{i}.npy", part)
        parts.append(np.load(folder / f"{i}.npy", mmap_mode="r"))
    return StoredItems(parts)


def both(folder: Path, array: np.ndarray, *cuts: int) -> tuple[Dataset, Dataset]:
    y, splits = np.arange(len(array)) % 3, {"train": np.arange(0, len(array), 2), "test": [1, 3]}
    return tuple(  # type: ignore[return-value]
        from_arrays(x, {"y": y}, splits=splits) for x in (array, stored(folder, array, *cuts))
    )


@pytest.mark.parametrize("dtype", ["u1", ">f8", "<f4", "<i2", "?"])
@pytest.mark.parametrize("cuts", [(), (4,)])
def test_batches_are_the_same(dtype: str, cuts: tuple[int, ...], tmp_path: Path) -> None:
    array = np.random.default_rng(0).integers(0, 2, (12, 5)).astype(dtype)
    memory, disk = both(tmp_path, array, *cuts)
    assert isinstance(disk.x, StoredItems)
    assert disk.x.dtype == memory.x.dtype
    assert disk.fingerprint() == memory.fingerprint()
    for one, other in ((memory, disk), (memory.split("train"), disk.split("train"))):
        assert one.x.shape == other.x.shape
        assert torch.equal(one.x[:], other.x[:])
        assert torch.equal(one.x[torch.tensor([3, 0])], other.x[torch.tensor([3, 0])])
        assert torch.equal(one.x[2], other.x[2])
        for a, b in zip(one.batches(4, seed=1), other.batches(4, seed=1), strict=True):
            assert torch.equal(a.x, b.x)
            assert torch.equal(a["y"], b["y"])


def test_grey_images_get_their_channel(tmp_path: Path) -> None:
    memory, disk = both(tmp_path, np.random.default_rng(0).integers(0, 256, (6, 4, 4), dtype=np.uint8))
    assert disk.item_shape == memory.item_shape == (1, 4, 4)
    assert torch.equal(disk.subset([5, 2]).batch([0, 1]).x, memory.subset([5, 2]).batch([0, 1]).x)


def test_every_block_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_items, "_BLOCK", 16)
    array = np.zeros((9, 2), dtype=np.float32)
    array[7] = (-3, 4)
    items = stored(tmp_path, array)
    assert items.extremes().tolist() == [[-3], [4]]
    assert items.columns(1, 2).flatten().tolist() == [0] * 7 + [4, 0]
    array[7, 0] = np.inf
    with pytest.raises(DataError, match="infinity in row 7"):
        from_arrays(stored(tmp_path, array))


def test_a_selection_reads_nothing(tmp_path: Path) -> None:
    class Silent:
        shape, dtype = (4, 2), np.dtype(np.float32)

        def __getitem__(self, rows: np.ndarray) -> np.ndarray:
            assert len(rows) == 0, "rows were read"
            return np.zeros((0, 2), dtype=np.float32)

    chosen = StoredItems([Silent()]).select(torch.tensor([2, 0])).to("cpu")
    assert chosen.shape == (2, 2)
    assert "in a file" in repr(chosen)


@pytest.fixture
def images() -> torch.Tensor:
    # 35 pixels: not a multiple of eight, so the last byte is partly used.
    return torch.randint(0, 2, (50, 1, 5, 7), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def test_indexing_gives_the_images_back_as_0_and_255(images):
    held = packed(images)
    rows = torch.tensor([3, 3, 49, 0])
    assert torch.equal(held[rows], images[rows] * 255)
    assert torch.equal(held[[1, 2]], images[[1, 2]] * 255)
    assert torch.equal(held[10:20:3], images[10:20:3] * 255)
    assert torch.equal(held[-1], images[-1] * 255)
    assert held[rows].dtype == torch.uint8
    assert held.shape == images.shape
    assert len(held) == 50
    with pytest.raises(IndexError):
        held[50]


def test_floats_are_0_and_1(images):
    rows = torch.tensor([7, 8])
    assert torch.equal(packed(images).floats(rows), images[rows].float())


def test_select_stays_packed(images):
    rows = torch.tensor([5, 1])
    chosen = packed(images).select(rows)
    assert torch.equal(chosen[:], images[rows] * 255)


def test_one_bit_a_pixel(images):
    assert packed(images).nbytes == 50 * 5  # 35 bits in 5 bytes


def test_bits_of_the_wrong_size_are_refused():
    with pytest.raises(DataError, match=r"need uint8 bits \(N, 5\)"):
        PackedBits(torch.from_numpy(np.zeros((2, 4), dtype=np.uint8)), (1, 5, 7))
