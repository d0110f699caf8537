"""Extended Yale B, cropped (Georghiades et al. 2001; Lee et al. 2005): 38 faces under 64 lights, 96 x 84.

The published files are 192 x 168; each 2 x 2 block is averaged, which gives the size of S17's experiment (after Jampani
et al.). The file names have the direction of the light, ``yaleB01_P00A+005E-10.pgm``: azimuth +5 (to the right of the
face), elevation -10 (from below). The distribution marks 18 nearly black images as bad. The averaged images may also be
in one .npz file that the user places in the data directory.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import read_npz
from unknot.errors import DataError, UnknotWarning

_LIGHTS = 64
_IMAGES = 38 * _LIGHTS
# The published files have no checksum, so the labels and pixels that are read from them are checked.
_LABELS_DIGEST = "7b6461e325235648f7d5d406225f64f83d80b298ab3fc4edd8234161b6c04eba"
_PIXELS_DIGEST = "bfae8d57e946e56d192e27b381b51e7a6474090c2256ac68c61d07276ee28552"
_FILE_NAME = re.compile(r"yaleB(\d\d)_P00A([+-]\d+)E([+-]\d+)\.pgm(\.bad)?$")

_ARRAYS = Form(  # a file that the user places; it is not published
    "arrays",
    (
        DataFile(
            "yaleb_96x84.npz",
            "sha256:091bec595677fde5a1cfd884e45f551b62eacee524ad2efc6f3e0af87be78de4",
            14886461,
        ),
    ),
)
_FOLDERS = Form("PGM folders", (DataFile("CroppedYale", is_folder=True),))
_ZIP = Form(
    "PGM zip",
    (DataFile("CroppedYale.zip", urls=("http://vision.ucsd.edu/extyaleb/CroppedYaleBZip/CroppedYale.zip",)),),
)

ENTRY = Entry(
    name="yale-b",
    title="Extended Yale B, cropped",
    what="38 faces under 64 lights",
    items="2414",
    shape="1x96x84",
    factors="identity (38), light (3), azimuth, elevation",
    licence="free for research with citation",
    folder="yaleb",
    forms=(_ARRAYS, _FOLDERS, _ZIP),
)


def build(
    files: Files,
    include_bad: bool = False,
    max_angle: float | None = None,
    seed: int = 0,
    test_share: float = 0.2,
) -> Dataset:
    """Return Yale B: factors ``identity`` (38 classes), ``light`` (unit vector), ``azimuth``, ``elevation`` (degrees).

    Parameters
    ----------
    files : Files
        The files of one form.
    include_bad : bool, default=False
        Whether to include the images that are marked as bad.
    max_angle : float, optional
        Keep the lights with azimuth and elevation below it; 85 keeps 45 per person, as in S17.
    seed, test_share : int and float
        There is no standard split; the seed draws one in which this share of every person's images is ``test``.

    Returns
    -------
    Dataset
    """
    if files.form == _ARRAYS:
        raw = read_npz(files.first, "images", "identity", "azimuth", "elevation", "bad")
    else:
        raw = _read_pgm(files.first)
        _compare(files.first, raw)
    pairs = np.stack([raw["azimuth"], raw["elevation"]], axis=1)
    light = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)  # 0..63 in sorted order
    keep = np.ones(len(light), dtype=bool) if include_bad else ~raw["bad"]
    if max_angle is not None:
        keep &= (np.abs(pairs) < max_angle).all(axis=1)
    if not keep.any():
        raise DataError(f"yale-b: no image has azimuth and elevation below {max_angle} degrees.")
    people, person = np.unique(raw["identity"], return_inverse=True)
    ids = torch.from_numpy((person * _LIGHTS + light)[keep])
    azimuth, elevation = (torch.from_numpy(raw[n][keep].astype(np.float32)) for n in ("azimuth", "elevation"))
    identity = torch.from_numpy(person[keep].astype(np.int64))
    factors = (
        Factor("identity", "categorical", identity, tuple(f"yaleB{number:02d}" for number in people)),
        Factor("light", "continuous", light_direction(azimuth, elevation)),
        Factor("azimuth", "continuous", azimuth),
        Factor("elevation", "continuous", elevation),
    )
    x = torch.from_numpy(raw["images"][keep])[:, None]  # (N, 1, 96, 84) uint8
    splits = split_by_image(identity, seed, test_share)
    return Dataset("yale-b", x, ids, {f.name: f for f in factors}, splits, files.entry.licence)


def light_direction(azimuth: torch.Tensor, elevation: torch.Tensor) -> torch.Tensor:
    """Unit vectors (N, 3) to the light: x to the right of the face, y up, z towards the camera."""
    a, e = torch.deg2rad(azimuth), torch.deg2rad(elevation)
    return torch.stack([torch.cos(e) * torch.sin(a), torch.sin(e), torch.cos(e) * torch.cos(a)], dim=-1)


def split_by_image(identity: torch.Tensor, seed: int, test_share: float) -> dict[str, torch.Tensor]:
    """Rows ``train`` and ``test``: of each person, ``test_share`` of the images (rounded) go to the test."""
    if not 0.0 <= test_share < 1.0:
        raise DataError(f"yale-b: test_share is a share from 0 up to 1, got {test_share}.")
    generator = torch.Generator().manual_seed(seed)
    test = torch.zeros(len(identity), dtype=torch.bool)
    for person in identity.unique():
        rows = (identity == person).nonzero()[:, 0]
        order = rows[torch.randperm(len(rows), generator=generator)]
        test[order[: round(test_share * len(rows))]] = True
    return {"train": (~test).nonzero()[:, 0], "test": test.nonzero()[:, 0]}


def _read_pgm(path: Path) -> dict[str, np.ndarray]:
    """All images of a CroppedYale folder or zip, at half size, sorted by person, azimuth, elevation."""
    from PIL import Image

    found: dict[tuple[int, int, int], tuple[np.ndarray, bool]] = {}
    with explain_broken_file(path, "the CroppedYale images"):
        for name, content in _contents(path):
            if match := _FILE_NAME.search(name):
                with Image.open(io.BytesIO(content)) as image:
                    pixels = np.asarray(image.convert("L"), dtype=np.uint16)
                halved = (pixels.reshape(96, 2, 84, 2).sum(axis=(1, 3)) + 2) // 4
                person, azimuth, elevation = (int(number) for number in match.groups()[:3])
                found[person, azimuth, elevation] = halved.astype(np.uint8), match[4] is not None
        if len(found) != _IMAGES:
            raise ValueError(f"{len(found)} images found, expected {_IMAGES}")
    keys = sorted(found)
    columns = np.array(keys, dtype=np.int16)
    return {
        "images": np.stack([found[key][0] for key in keys]),
        "identity": columns[:, 0],
        "azimuth": columns[:, 1],
        "elevation": columns[:, 2],
        "bad": np.array([found[key][1] for key in keys]),
    }


def _compare(path: Path, raw: Mapping[str, np.ndarray]) -> None:
    """Refuse images of other people or lights than the data set's; warn of other pixels."""
    if _digest(raw["identity"], raw["azimuth"], raw["elevation"], raw["bad"]) != _LABELS_DIGEST:
        raise DataError(
            f"The data file {path} is not Extended Yale B: its names tell of other people, lights or bad images; "
            "replace it by a good copy."
        )
    if _digest(raw["images"]) != _PIXELS_DIGEST:
        warnings.warn(
            f"{path}: its pixels are not those that published numbers were made with; a damaged copy, or one that "
            "was scaled or compressed on its way.",
            UnknotWarning,
            stacklevel=2,
        )


def _digest(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.pgm*")):
            yield file.name, file.read_bytes()
    else:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if ".pgm" in name:
                    yield name, archive.read(name)
