"""Images decoded once into the cache are those decoded into memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unknot.data.stored_items import StoredItems
from unknot.data.user import image_items
from unknot.data.user.image_items import read_images
from unknot.errors import DataError


def write(folder: Path, count: int, colored: tuple[int, ...] = ()) -> list[Path]:
    draw = np.random.default_rng(0)
    for i in range(count):
        pixels = draw.integers(0, 256, (4, 5, 3) if i in colored else (4, 5), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i:03d}.png")
    return sorted(folder.glob("*.png"))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(("colored", "colors"), [((), 0), ((), 3), ((69,), 0), ((0,), 0)])
def test_the_cache_holds_what_memory_would(
    colored: tuple[int, ...], colors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write(tmp_path, 70, colored)
    memory = read_images(paths, colors, mapped=False)
    disk = read_images(paths, colors, mapped=True)
    assert isinstance(disk, StoredItems)
    assert isinstance(memory, np.ndarray)
    np.testing.assert_array_equal(disk[:], memory)
    monkeypatch.setattr(image_items, "_decoded", lambda *_: 1 / 0)  # the second time nothing is decoded
    np.testing.assert_array_equal(read_images(paths, colors, mapped=True)[:], memory)  # type: ignore[union-attr]


def test_the_cache_goes_by_content(tmp_path: Path) -> None:
    paths = write(tmp_path, 3)
    before = read_images(paths, 0, mapped=True)
    Image.fromarray(np.zeros((4, 5), dtype=np.uint8)).save(paths[1])
    after = read_images(paths, 0, mapped=True)
    assert before[1].any()  # type: ignore[union-attr]
    assert not after[1].any()  # type: ignore[union-attr]


def test_a_wrong_image_leaves_no_cache(tmp_path: Path) -> None:
    paths = write(tmp_path, 3)
    Image.fromarray(np.zeros((9, 5), dtype=np.uint8)).save(paths[2])
    with pytest.raises(DataError, match="images must have one size"):
        read_images(paths, 0, mapped=True)
    assert not list((tmp_path / "cache").rglob("*.npy"))
