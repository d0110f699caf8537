"""Spoken digits (Free Spoken Digit Dataset 1.0.10, Jackson et al.): six speakers say each digit fifty times, 8 kHz.

Three forms: the recordings as published, one wav file each, in a folder or in the zip of the release, or all samples
in one .npz file. The published files are named ``digit_speaker_repetition.wav``, for instance ``7_jackson_32.wav``.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import read_npz
from unknot.data.sets.log_mel import FLOOR, log_mel_frames, mfcc_means
from unknot.errors import DataError, UnknotWarning

__all__ = ["ENTRY", "build", "mfcc_means"]

_RATE = 8000
_DIGITS = 10
_SPEAKERS = ("george", "jackson", "lucas", "nicolas", "theo", "yweweler")
_REPETITIONS = 50
_TEST_REPETITIONS = 5
_FILE_NAME = re.compile(r"(\d)_([a-z]+)_(\d+)\.wav$")
# No checksum is published for the zip or the folder, so their samples are compared with those of the .npz file.
_SAMPLES_DIGEST = "97f8cedf2b38fa4ed528641bf7d9a859359f121f13e5624f958a9256d1491be7"

_ARRAYS = Form(
    "arrays",
    (
        DataFile(
            "spoken_digits_8khz.npz",
            "sha256:bf09b46974248b84dec2c350298fb9aaf20115bdf84d97983055bcf253ccf260",
            15425244,
        ),
    ),
)
_FOLDER = Form("wav folder", (DataFile("recordings", is_folder=True),))
_ZIP = Form(
    "wav zip",
    (
        DataFile(
            "free-spoken-digit-dataset-1.0.10.zip",
            urls=("https://github.com/Jakobovski/free-spoken-digit-dataset/archive/refs/tags/v1.0.10.zip",),
        ),
    ),
)

ENTRY = Entry(
    name="spoken-digits",
    title="Free Spoken Digit Dataset",
    what="spoken digits of six speakers",
    items="2700 + 300",
    shape="96x40 (frames=96)",
    factors="digit (10), speaker (6), length",
    licence="CC BY-SA 4.0",
    folder="spoken-digits",
    forms=(_ARRAYS, _FOLDER, _ZIP),
)


@dataclass(frozen=True)
class _Recordings:
    """Recordings sorted by digit, speaker, repetition, so that every form gives the same rows."""

    signals: list[np.ndarray]  # int16, of different lengths
    digit: Tensor  # (N,) int64
    speaker: Tensor  # (N,) int64, an index into the names
    repetition: Tensor  # (N,) int64
    names: tuple[str, ...]


def build(files: Files, frames: int = 96, standardize: bool = True) -> Dataset:
    """Log-mel frames (N, frames, 40) float32; factors ``digit``, ``speaker`` and ``length``.

    A frame has 40 mel bands of a window of 25 ms; there is one frame per 10 ms
    (:func:`unknot.data.sets.log_mel.log_mel_frames`). Recordings are padded at their end. The factor ``length``, a
    count, is the number of true frames. It is known for every item: a label budget must name it (``length="all"``),
    and ``labeled_by`` of the batches should name the factors that count as labels.

    The splits are the published ones: repetitions 0 to 4 are ``test`` (300), the others ``train`` (2700).

    Parameters
    ----------
    files : Files
        The files found.
    frames : int, default=96
        Number of frames of an item. Longer recordings are cut at their end: with 96, which is 0.975 s, 22 of 3000.
        These keep at least 99 % of their energy.
    standardize : bool, default=True
        Subtract the mean and divide by the standard deviation of each band over the true frames of the training
        recordings; padding is 0. If False, x is the logarithm of the energy and padding is log(1e-6), the smallest
        value. :func:`unknot.data.sets.log_mel.mfcc_means` needs the latter.

    Returns
    -------
    Dataset
        ``ids`` are (digit * 6 + speaker) * 50 + repetition.
    """
    if frames < 1:
        raise DataError(f"spoken-digits: frames is at least 1, got {frames}.")
    recordings = _read_arrays(files.first) if files.form == _ARRAYS else _read_wavs(files.first)
    x, length = _padded(recordings.signals, frames)
    is_test = recordings.repetition < _TEST_REPETITIONS
    splits = {"train": (~is_test).nonzero()[:, 0], "test": is_test.nonzero()[:, 0]}
    if standardize:
        x = _standardized(x, length, splits["train"])
    factors = (
        Factor("digit", "categorical", recordings.digit, tuple(str(digit) for digit in range(_DIGITS))),
        Factor("speaker", "categorical", recordings.speaker, recordings.names),
        Factor("length", "count", length),
    )
    ids = _ids(recordings.digit, recordings.speaker, recordings.repetition)
    return Dataset("spoken-digits", x, ids, {f.name: f for f in factors}, splits, files.entry.licence)


def _ids(digit: Tensor, speaker: Tensor, repetition: Tensor) -> Tensor:
    return (digit * len(_SPEAKERS) + speaker) * _REPETITIONS + repetition


def _padded(signals: Sequence[np.ndarray], frames: int) -> tuple[Tensor, Tensor]:
    """Log-mel frames (N, frames, 40), padded with the logarithm of the floor, and lengths (N,)."""
    x = torch.full((len(signals), frames, 40), float(np.log(FLOOR)))
    length = torch.empty(len(signals), dtype=torch.int64)
    for row, signal in enumerate(signals):
        log_mel = log_mel_frames(torch.from_numpy(signal), _RATE)[:frames]
        x[row, : len(log_mel)] = log_mel
        length[row] = len(log_mel)
    return x, length


def _standardized(x: Tensor, length: Tensor, train: Tensor) -> Tensor:
    """Mean 0 and standard deviation 1 in each band over the true frames of the training rows; padding is 0."""
    mask = torch.arange(x.shape[1]) < length[:, None]  # (N, T)
    true_frames = x[train][mask[train]].double()  # (frames of the training rows, 40)
    mean, deviation = true_frames.mean(0), true_frames.std(0).clamp(min=1e-6)
    return ((x - mean) / deviation).float() * mask[..., None]


def _read_arrays(path: Path) -> _Recordings:
    raw = read_npz(path, "signal", "length", "digit", "speaker", "repetition", "speakers")
    with explain_broken_file(path, "the samples of spoken digits"):
        if int(raw["length"].sum()) != len(raw["signal"]):
            raise ValueError(f"{len(raw['signal'])} samples, expected {raw['length'].sum()} by the lengths")
        signals = np.split(raw["signal"], np.cumsum(raw["length"])[:-1])
        labels = np.stack([raw[name] for name in ("digit", "speaker", "repetition")])
        return _sorted(signals, labels, tuple(raw["speakers"].tolist()))


def _read_wavs(path: Path) -> _Recordings:
    """The recordings of a folder or a zip; refused if one is missing, a warning if the samples are other ones."""
    from scipy.io import wavfile

    found: dict[tuple[int, str, int], np.ndarray] = {}
    with explain_broken_file(path, "the recordings of the Free Spoken Digit Dataset"):
        for name, content in _contents(path):
            match = _FILE_NAME.search(name)
            if match is None or match[2] not in _SPEAKERS:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", wavfile.WavFileWarning)  # chunks of metadata
                rate, signal = wavfile.read(io.BytesIO(content))
            if rate != _RATE or signal.dtype != np.int16 or signal.ndim != 1:
                raise ValueError(
                    f"{name} has {rate} Hz, type {signal.dtype}, shape {signal.shape}; expected 8000 Hz, int16, mono"
                )
            found[int(match[1]), match[2], int(match[3])] = signal.copy()  # bytes are read-only
        expected = list(itertools.product(range(_DIGITS), _SPEAKERS, range(_REPETITIONS)))
        missing = [key for key in expected if key not in found]
        if missing:
            first = "_".join(map(str, missing[0]))
            raise ValueError(f"{len(missing)} of {len(expected)} recordings are missing, first {first}.wav")
    labels = [(digit, _SPEAKERS.index(name), repetition) for digit, name, repetition in expected]
    recordings = _sorted([found[key] for key in expected], np.array(labels).T, _SPEAKERS)
    if _digest(recordings) != _SAMPLES_DIGEST:
        warnings.warn(
            f"{path}: its samples differ from those of {_ARRAYS.files[0].name}; it is another version of the data set, "
            "or the recordings were converted.",
            UnknotWarning,
            stacklevel=2,
        )
    return recordings


def _sorted(signals: Sequence[np.ndarray], labels: np.ndarray, names: tuple[str, ...]) -> _Recordings:
    """Recordings in the order of their ids; ``labels`` (3, N) are digit, speaker and repetition."""
    digit, speaker, repetition = torch.from_numpy(labels.astype(np.int64))
    order = _ids(digit, speaker, repetition).argsort()
    rows = [signals[row] for row in order.tolist()]
    return _Recordings(rows, digit[order], speaker[order], repetition[order], names)


def _digest(recordings: _Recordings) -> str:
    digest = hashlib.sha256()
    for signal in recordings.signals:
        digest.update(len(signal).to_bytes(4, "little") + signal.astype("<i2").tobytes())
    return digest.hexdigest()


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the wav files of a folder or a zip."""
    if path.is_dir():
        for file in sorted(path.glob("*.wav")):
            yield file.name, file.read_bytes()
    else:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".wav"):
                    yield Path(name).name, archive.read(name)
