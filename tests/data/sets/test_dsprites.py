"""dSprites from a small .npz of the same layout: a full grid of 1 x 3 x 2 x 2 x 2 x 2 images."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tests.data.found_files import found
from unknot.data.sets import dsprites
from unknot.errors import DataError

FORM = "npz"


def write_small(folder: Path, seed: int = 0) -> np.ndarray:
    classes = np.array(list(itertools.product([0], range(3), *[range(2)] * 4)), dtype=np.int64)  # (48, 6)
    values = classes * 0.25 + 0.5
    images = np.random.default_rng(seed).integers(0, 2, (len(classes), 64, 64), dtype=np.uint8)
    metadata = np.array({"pickled": True}, dtype=object)  # the published file has one; it must not be read
    path = folder / dsprites.ENTRY.forms[0].files[0].name
    np.savez_compressed(path, metadata=metadata, imgs=images, latents_classes=classes, latents_values=values)
    return images


def test_images_factors_and_their_values(tmp_path: Path) -> None:
    images = write_small(tmp_path)
    dataset = dsprites.build(found(dsprites.ENTRY, FORM, tmp_path))
    assert dataset.x.shape == (48, 1, 64, 64)
    np.testing.assert_array_equal(dataset.x[:][:, 0].numpy(), images * 255)
    assert list(dataset.factors) == ["shape", "scale", "orientation", "posX", "posY"]
    assert dataset.factor("shape").classes == ("square", "ellipse", "heart")
    assert dataset.factor("posY").classes == ("0.5", "0.75")
    assert dataset.factor("shape").values.tolist() == [0] * 16 + [1] * 16 + [2] * 16
    assert dataset.factor("posY").values[:4].tolist() == [0, 1, 0, 1]


def test_images_are_packed_once(tmp_path: Path) -> None:
    write_small(tmp_path)
    files = found(dsprites.ENTRY, FORM, tmp_path)
    dsprites.build(files)
    (packed,) = files.cache.glob("*.npy")
    assert packed.stat().st_size == 48 * 512 + 128  # one bit a pixel, and the .npy header
    before = packed.stat().st_mtime_ns
    dsprites.build(files)
    assert packed.stat().st_mtime_ns == before


def test_damaged_packed_images_are_made_anew(tmp_path: Path) -> None:
    images = write_small(tmp_path)
    files = found(dsprites.ENTRY, FORM, tmp_path)
    dsprites.build(files)
    (packed,) = files.cache.glob("*.npy")
    packed.write_bytes(packed.read_bytes()[:-1000])
    dataset = dsprites.build(files)
    np.testing.assert_array_equal(dataset.x[:][:, 0].numpy(), images * 255)


def test_writing_to_the_tensor_does_not_change_the_cache(tmp_path: Path) -> None:
    images = write_small(tmp_path)
    files = found(dsprites.ENTRY, FORM, tmp_path)
    dsprites.build(files).x.bits.zero_()
    np.testing.assert_array_equal(dsprites.build(files).x[:][:, 0].numpy(), images * 255)


def test_a_cut_file_is_named_and_leaves_no_packed_images(tmp_path: Path) -> None:
    write_small(tmp_path)
    files = found(dsprites.ENTRY, FORM, tmp_path)
    files.first.write_bytes(files.first.read_bytes()[:5000])
    with pytest.raises(DataError, match=r"dsprites_ndarray.*npz cannot be read"):
        dsprites.build(files)
    assert not list(files.cache.glob("*"))


def test_damage_inside_the_images_is_found(tmp_path: Path) -> None:
    write_small(tmp_path)
    files = found(dsprites.ENTRY, FORM, tmp_path)
    content = bytearray(files.first.read_bytes())
    at = content.index(b"imgs.npy") + 10_000
    content[at : at + 100] = bytes(100)
    files.first.write_bytes(content)
    with pytest.raises(DataError, match=r"dsprites_ndarray.*npz cannot be read"):
        dsprites.build(files)
    assert not list(files.cache.glob("*.npy"))
