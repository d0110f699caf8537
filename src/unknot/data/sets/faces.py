"""Small sets of faces: Olivetti (AT&T Laboratories Cambridge), and Frey's film (B. Frey), as .npz files of the user.

Olivetti has ten pictures of each of 40 people, 64 x 64; Frey has 1,965 frames of one person's face, 28 x 20. Neither
file is published at a fixed address in this form.
"""

from __future__ import annotations

import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import read_npz

OLIVETTI = Entry(
    name="olivetti",
    title="Olivetti faces",
    what="40 faces, ten pictures of each",
    items="400",
    shape="1x64x64",
    factors="identity (40)",
    licence="none stated",
    folder="faces",
    forms=(
        Form(
            "arrays",
            (
                DataFile(
                    "olivetti_64x64.npz",
                    "sha256:d0a50b141f60e9ef31f9b4f964f1b1d9c7437990c62fc7419aeb4f4407fc2325",
                    1412953,
                ),
            ),
        ),
    ),
)


def build_olivetti(files: Files) -> Dataset:
    """Return Olivetti: factor ``identity`` (40 classes), no standard split."""
    raw = read_npz(files.first, "images", "identity")
    identity = torch.from_numpy(raw["identity"].astype("int64"))
    names = tuple(f"person {number + 1}" for number in range(40))
    x = torch.from_numpy(raw["images"])[:, None]  # (400, 1, 64, 64) uint8
    factors = {"identity": Factor("identity", "categorical", identity, names)}
    return Dataset("olivetti", x, torch.arange(len(x)), factors, {}, files.entry.licence)


FREY = Entry(
    name="frey",
    title="Frey faces",
    what="one face in a film",
    items="1965",
    shape="1x28x20",
    factors="none",
    licence="none stated",
    folder="faces",
    forms=(
        Form(
            "arrays",
            (
                DataFile(
                    "frey_28x20.npz",
                    "sha256:3c70375e0a9c4751ad49ad5f1f692bd094c46f133cf4aa8ea77d1cb14e1efcd1",
                    996890,
                ),
            ),
        ),
    ),
)


def build_frey(files: Files) -> Dataset:
    """Return Frey in the order of the film: no factors, no standard split."""
    x = torch.from_numpy(read_npz(files.first, "images")["images"])[:, None]  # (1965, 1, 28, 20) uint8
    return Dataset("frey", x, torch.arange(len(x)), licence=files.entry.licence)
