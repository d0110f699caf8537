"""SVHN, cropped digits (Netzer et al. 2011): house numbers from street pictures, 32 x 32 in color.

It is read from the two MATLAB files as published, or from two contact sheets that the user places in the data
directory: the first 20000 and 10000 digits, cut from the full pictures by the published rule. That data set is named
"svhn-subset", so that its results are not mistaken for those of SVHN.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import read_npz

_SITE = "http://ufldl.stanford.edu/housenumbers/"
_SIDE = 32
_TRAIN_SIZE = 73257  # ids of the test digits begin here, in both forms
_ACROSS = 100  # tiles in a row of a contact sheet

_MATLAB = Form(
    "MATLAB",
    (
        DataFile(
            "train_32x32.mat", "md5:e26dedcc434d2e4c54c9b2d4a06d8373", 182040794, (f"{_SITE}train_32x32.mat",)
        ),
        DataFile(
            "test_32x32.mat", "md5:eb5a983be6a315427106f1b164d9cef3", 64275384, (f"{_SITE}test_32x32.mat",)
        ),
    ),
)
_SHEETS = Form(  # files that the user places; they are not published
    "contact sheets",
    (
        DataFile(
            "train_first20000.png",
            "sha256:77f443c751ac425c5b76d8bd311db13b4c4bf18edae291c21c57ae6fee823ee1",
            32367286,
        ),
        DataFile(
            "train_first20000_labels.npz",
            "sha256:7ca5677a93df2c25dff0791246d0b3a8fb7aed23ece53beaa8d3835087e6545a",
            25162,
        ),
        DataFile(
            "test_first10000.png",
            "sha256:a3dc39255945f1f302bd885525df03d816e57595a4dfaa4524f8811d0116b6c7",
            15579388,
        ),
        DataFile(
            "test_first10000_labels.npz",
            "sha256:8a838fbe444bf1f35861d186a0e41eb0f6f59f02ef8d6e4942b4e72e55378739",
            13396,
        ),
    ),
    note="subset: first 20000 of 73257 and 10000 of 26032",
)

ENTRY = Entry(
    name="svhn",
    title="SVHN, cropped digits",
    what="house numbers in street pictures",
    items="73257 + 26032",
    shape="3x32x32",
    factors="digit (10)",
    licence="non-commercial use only",
    folder="svhn",
    forms=(_MATLAB, _SHEETS),
)


def build(files: Files) -> Dataset:
    """Return SVHN or its subset: factor ``digit``; splits ``train`` and ``test``."""
    if files.form == _MATLAB:
        parts = [_read_matlab(files[file.name]) for file in _MATLAB.files]
    else:
        sheets = [files[file.name] for file in _SHEETS.files]
        parts = [_read_sheet(sheets[0], sheets[1]), _read_sheet(sheets[2], sheets[3])]
    (train_x, train_y), (test_x, test_y) = parts
    x = torch.from_numpy(np.concatenate([train_x, test_x]))  # (N, 3, 32, 32) uint8
    y = torch.from_numpy(np.concatenate([train_y, test_y]).astype(np.int64))
    rows = torch.arange(len(x))
    ids = torch.cat([torch.arange(len(train_x)), _TRAIN_SIZE + torch.arange(len(test_x))])
    name = "svhn" if files.form == _MATLAB else "svhn-subset"
    splits = {"train": rows[: len(train_x)], "test": rows[len(train_x) :]}
    factors = {"digit": Factor("digit", "categorical", y, tuple("0123456789"))}
    return Dataset(name, x, ids, factors, splits, files.entry.licence)


def _read_matlab(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from scipy.io import loadmat

    with explain_broken_file(path, "a MATLAB file with X and y"):
        content = loadmat(path, variable_names=("X", "y"))
        x = np.ascontiguousarray(content["X"].transpose(3, 2, 0, 1))  # (H, W, C, N) -> (N, C, H, W)
        return x, content["y"].reshape(-1) % 10  # the files write 10 for the digit zero


def _read_sheet(sheet: Path, labels: Path) -> tuple[np.ndarray, np.ndarray]:
    from PIL import Image

    with explain_broken_file(sheet, "a contact sheet of 32 x 32 tiles"), Image.open(sheet) as image:
        pixels = np.asarray(image.convert("RGB"))
        tiles = pixels.reshape(-1, _SIDE, _ACROSS, _SIDE, 3)  # (rows, y, columns, x, C)
        x = np.ascontiguousarray(tiles.transpose(0, 2, 4, 1, 3)).reshape(-1, 3, _SIDE, _SIDE)
    return x, read_npz(labels, "labels")["labels"]
