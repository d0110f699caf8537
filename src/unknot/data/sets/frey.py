"""Frey faces (B. Frey): 1,965 frames of one person's face in a film, 28 x 20, without labels."""

from __future__ import annotations

import torch

from unknot.data.dataset import Dataset
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import read_npz

ENTRY = Entry(
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


def build(files: Files) -> Dataset:
    """Frames in the order of the film; there are neither factors nor a standard split."""
    x = torch.from_numpy(read_npz(files.first, "images")["images"])[:, None]  # (1965, 1, 28, 20) uint8
    return Dataset("frey", x, torch.arange(len(x)), licence=files.entry.licence)
