"""Extended Yale B: both forms, the light's direction, the split by image."""

from __future__ import annotations

import itertools
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.found_files import found
from unknot.data.sets import yale_b
from unknot.errors import DataError, UnknotWarning

PEOPLE = [number for number in range(1, 40) if number != 14]
LIGHTS = list(itertools.product(range(-80, 80, 20), range(-70, 90, 20)))  # 64 invented pairs


def names() -> list[str]:
    """The file names of a complete CroppedYale: 38 x 64 images, one of them bad, and an ambient one."""
    made = [f"yaleB{p:02d}/yaleB{p:02d}_P00A{a:+04d}E{e:+03d}.pgm" for p in PEOPLE for a, e in LIGHTS]
    made[5] += ".bad"
    return [*made, "yaleB01/yaleB01_P00_Ambient.pgm"]


def pgm(name: str) -> bytes:
    """192 x 168; the left half of each 2 x 2 block is 10, the right half 13: the average 11.5 rounds to 12."""
    if "Ambient" in name:
        return b"P5 640 480 255 " + bytes(640 * 480)
    return b"P5 168 192 255 " + bytes([10, 13]) * (84 * 192)


def write_zip(path: Path, chosen: list[str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in chosen:
            archive.writestr(f"CroppedYale/{name}", pgm(name))


def test_the_published_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_zip(tmp_path / "CroppedYale.zip", names())
    monkeypatch.setattr(yale_b, "_compare", lambda path, raw: None)  # these faces are invented
    dataset = yale_b.build(found(yale_b.ENTRY, "PGM zip", tmp_path))
    assert dataset.x.shape == (38 * 64 - 1, 1, 96, 84)  # all but the bad one
    assert dataset.x.unique().tolist() == [12]
    assert dataset.factor("identity").classes[12:14] == ("yaleB13", "yaleB15")


def test_what_is_not_the_data_set_is_refused_and_other_pixels_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_zip(tmp_path / "CroppedYale.zip", names())
    files = found(yale_b.ENTRY, "PGM zip", tmp_path)
    with pytest.raises(DataError, match=r"CroppedYale.zip is not Extended Yale B: its names tell of other"):
        yale_b.build(files)
    raw = yale_b._read_pgm(tmp_path / "CroppedYale.zip")
    labels = yale_b._digest(*(raw[name] for name in ("identity", "azimuth", "elevation", "bad")))
    monkeypatch.setattr(yale_b, "_LABELS_DIGEST", labels)
    with pytest.warns(UnknotWarning, match="its pixels are not those"):
        yale_b.build(files)


def test_an_incomplete_folder_is_named(tmp_path: Path) -> None:
    for name in names()[:3]:
        path = tmp_path / "CroppedYale" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pgm(name))
    with pytest.raises(DataError, match=r"CroppedYale cannot be read .*3 images found, expected 2432"):
        yale_b.build(found(yale_b.ENTRY, "PGM folders", tmp_path))


def write_arrays(folder: Path) -> None:
    person, light = (grid.reshape(-1) for grid in np.meshgrid(PEOPLE, range(64), indexing="ij"))
    azimuth, elevation = np.array(LIGHTS, dtype=np.int16)[light].T
    np.savez(
        folder / "yaleb_96x84.npz",
        images=np.random.default_rng(0).integers(0, 256, (len(person), 96, 84), dtype=np.uint8),
        identity=person.astype(np.int16),
        azimuth=azimuth,
        elevation=elevation,
        bad=np.arange(len(person)) == 5,
    )


def test_bad_images_and_steep_lights_are_left_out(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    files = found(yale_b.ENTRY, "arrays", tmp_path)
    assert len(yale_b.build(files)) == 38 * 64 - 1
    flat = yale_b.build(files, max_angle=50)
    assert flat.factor("azimuth").values.abs().max() < 50
    assert flat.factor("elevation").values.abs().max() < 50
    assert len(flat) == 38 * 5 * 4  # azimuths -40, -20, 0, 20, 40; elevations -30, -10, 10, 30
    with pytest.raises(DataError, match="no image has azimuth and elevation below 0"):
        yale_b.build(files, max_angle=0)


def test_light_is_a_unit_vector() -> None:
    azimuth = torch.tensor([0.0, 90.0, 0.0, -30.0])
    elevation = torch.tensor([0.0, 0.0, 90.0, 40.0])
    light = yale_b.light_direction(azimuth, elevation)
    expected = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    torch.testing.assert_close(light[:3], expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(light.norm(dim=1), torch.ones(4))
    torch.testing.assert_close(torch.rad2deg(torch.atan2(light[3, 0], light[3, 2])), azimuth[3])


def test_the_split_is_by_image_and_repeatable() -> None:
    identity = torch.arange(38).repeat_interleave(60)
    splits = yale_b.split_by_image(identity, seed=3, test_share=0.2)
    assert torch.cat([splits["train"], splits["test"]]).sort().values.tolist() == list(range(len(identity)))
    assert identity[splits["test"]].bincount().tolist() == [12] * 38
    again = yale_b.split_by_image(identity, seed=3, test_share=0.2)
    assert torch.equal(splits["test"], again["test"])
    assert not torch.equal(splits["test"], yale_b.split_by_image(identity, seed=4, test_share=0.2)["test"])
    with pytest.raises(DataError, match=r"test_share is a share from 0 up to 1, got 1\.5"):
        yale_b.split_by_image(identity, seed=0, test_share=1.5)
