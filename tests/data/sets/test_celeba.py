"""Both forms of CelebA, small: flat-colored JPEG images whose color tells their number."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.data.found_files import found
from unknot.data.sets import celeba
from unknot.errors import DataError

NAMES = [f"Attribute_{i}" for i in range(40)]


def write_jpegs(path: Path, count: int, size: tuple[int, int], prefix: str = "") -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in reversed(range(1, count + 1)):  # the order in the zip must not matter
            buffer = io.BytesIO()
            Image.new("RGB", size, (number * 10, 100, 200)).save(buffer, "JPEG", quality=95)
            archive.writestr(f"{prefix}{number:06d}.jpg", buffer.getvalue())


def write_published(folder: Path) -> np.ndarray:
    """Six images: four train, one validation, one test."""
    attributes = np.random.default_rng(0).integers(0, 2, (6, 40))
    files = [f"{number:06d}.jpg" for number in range(1, 7)]
    write_jpegs(folder / "img_align_celeba.zip", 6, (178, 218), "img_align_celeba/")
    lines = [
        f"{file} " + " ".join(f"{2 * a - 1:2d}" for a in row)
        for file, row in zip(files, attributes, strict=True)
    ]
    (folder / "list_attr_celeba.txt").write_text("\n".join(["6", " ".join(NAMES), *lines]) + "\n")
    people = "\n".join(f"{file} {person}" for file, person in zip(files, [50, 7, 7, 50, 9, 7], strict=True))
    (folder / "identity_CelebA.txt").write_text(people + "\n")
    splits = "\n".join(f"{file} {split}" for file, split in zip(files, [0, 0, 0, 0, 1, 2], strict=True))
    (folder / "list_eval_partition.txt").write_text(splits + "\n")
    return attributes


def test_the_published_files(tmp_path: Path) -> None:
    attributes = write_published(tmp_path)
    dataset = celeba.build(found(celeba.ENTRY, "published", tmp_path), size=16)
    assert dataset.name == "celeba"
    assert dataset.x.shape == (6, 3, 16, 16)
    reds = dataset.x[:, 0].float().mean(dim=(1, 2))
    np.testing.assert_allclose(reds, np.arange(1, 7) * 10, atol=2)  # JPEG is not exact
    assert dataset.ids.tolist() == [1, 2, 3, 4, 5, 6]
    for column, name in enumerate(NAMES):
        assert dataset.factor(name).values.tolist() == attributes[:, column].tolist()
    identity = dataset.factor("identity")
    assert [identity.classes[i] for i in identity.values] == ["50", "7", "7", "50", "9", "7"]
    sizes = {name: rows.tolist() for name, rows in dataset.splits.items()}
    assert sizes == {"train": [0, 1, 2, 3], "validation": [4], "test": [5]}


def test_the_first_10000_are_called_the_subset(tmp_path: Path) -> None:
    write_jpegs(tmp_path / "celeba_first10000_89x109_jpeg.zip", 20, (89, 109))
    np.savez(
        tmp_path / "celeba_first10000_attributes.npz",
        attributes=np.zeros((20, 40), dtype=np.uint8),
        names=np.array(NAMES),
        identity=np.arange(20, dtype=np.int32),
        files=np.array([f"{number:06d}.jpg" for number in range(1, 21)]),
    )
    dataset = celeba.build(found(celeba.ENTRY, "first 10000", tmp_path), size=8)
    assert dataset.name == "celeba-subset"
    assert dataset.x.shape == (20, 3, 8, 8)
    assert [len(rows) for rows in dataset.splits.values()] == [18, 2]


def test_the_central_square_is_kept(tmp_path: Path) -> None:
    write_published(tmp_path)
    image = np.zeros((218, 178, 3), dtype=np.uint8)
    image[20:198] = 200  # exactly the central 178 rows
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=100)
    with zipfile.ZipFile(tmp_path / "img_align_celeba.zip", "w") as archive:
        for number in range(1, 7):
            archive.writestr(f"{number:06d}.jpg", buffer.getvalue())
    dataset = celeba.build(found(celeba.ENTRY, "published", tmp_path), size=32)
    assert dataset.x.min() > 190


def test_a_broken_jpeg_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    write_published(tmp_path)
    with zipfile.ZipFile(tmp_path / "img_align_celeba.zip", "w") as archive:
        for number in range(1, 7):
            archive.writestr(f"{number:06d}.jpg", b"not a picture")
    files = found(celeba.ENTRY, "published", tmp_path)
    with pytest.raises(DataError, match=r"img_align_celeba\.zip cannot be read as a zip of JPEG images"):
        celeba.build(files)
    assert not list(files.cache.glob("*.npy"))
    with pytest.raises(DataError, match="size is the side of the images in pixels, at least 1, got 0"):
        celeba.build(files, size=0)
