"""Packed bits behave like the images they hold."""

import numpy as np
import pytest
import torch

from tests.data.packing import packed
from unknot.data.packed import PackedBits
from unknot.errors import DataError


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
