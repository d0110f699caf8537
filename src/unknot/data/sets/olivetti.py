"""Olivetti faces (AT&T Laboratories Cambridge): 40 people, ten pictures of each, 64 x 64."""

from __future__ import annotations

import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import read_npz

ENTRY = Entry(
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


def build(files: Files) -> Dataset:
    """Factor ``identity`` (40 classes); there is no standard split."""
    raw = read_npz(files.first, "images", "identity")
    identity = torch.from_numpy(raw["identity"].astype("int64"))
    names = tuple(f"person {number + 1}" for number in range(40))
    x = torch.from_numpy(raw["images"])[:, None]  # (400, 1, 64, 64) uint8
    factors = {"identity": Factor("identity", "categorical", identity, names)}
    return Dataset("olivetti", x, torch.arange(len(x)), factors, {}, files.entry.licence)
