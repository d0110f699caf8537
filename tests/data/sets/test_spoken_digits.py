"""Spoken digits: the three forms, lengths, splits, and the real file."""

from __future__ import annotations

import io
import itertools
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.io import wavfile

from tests.data.found_files import found
from unknot.data import Dataset, LabelBudget, load
from unknot.data.files.sources import verify
from unknot.data.sets import spoken_digits
from unknot.data.sets.loading import entries
from unknot.data.sets.log_mel import FLOOR, log_mel_frames, mfcc_means
from unknot.errors import DataError, UnknotWarning

SPEAKERS = ("ann", "bob")
REPETITIONS = 6  # the first five are the test set
KEYS = sorted(itertools.product(range(10), range(2), range(REPETITIONS)), key=lambda key: f"{key[2]}")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A data set of two speakers and six repetitions."""
    monkeypatch.setattr(spoken_digits, "_SPEAKERS", SPEAKERS)
    monkeypatch.setattr(spoken_digits, "_REPETITIONS", REPETITIONS)


def signal(key: tuple[int, int, int]) -> np.ndarray:
    """A short tone with noise; pitch, loudness and duration differ between recordings."""
    digit, speaker, repetition = key
    time = np.arange(300 + 100 * repetition + 10 * digit) / 8000
    noise = np.random.default_rng(key).normal(size=len(time))
    tone = np.sin(2 * np.pi * (300 + 250 * digit) * time)
    return ((8000 + 4000 * speaker) * tone + 500 * noise).astype(np.int16)


def write_arrays(folder: Path) -> None:
    signals = [signal(key) for key in KEYS]
    digit, speaker, repetition = np.array(KEYS, dtype=np.uint8).T
    np.savez(
        folder / "spoken_digits_8khz.npz",
        signal=np.concatenate(signals),
        length=np.array([len(s) for s in signals], dtype=np.int32),
        digit=digit,
        speaker=speaker,
        repetition=repetition,
        speakers=np.array(SPEAKERS),
    )


def wavs(rate: int = 8000) -> dict[str, bytes]:
    made = {}
    for key in KEYS:
        stream = io.BytesIO()
        wavfile.write(stream, rate, signal(key))
        made[f"{key[0]}_{SPEAKERS[key[1]]}_{key[2]}.wav"] = stream.getvalue()
    return made


def write_folder(folder: Path, content: dict[str, bytes]) -> None:
    (folder / "recordings").mkdir()
    for name, data in content.items():
        (folder / "recordings" / name).write_bytes(data)


def from_arrays(folder: Path, **options: bool | int) -> Dataset:
    return spoken_digits.build(found(spoken_digits.ENTRY, "arrays", folder), **options)  # type: ignore[arg-type]


def test_items_are_padded_log_mel_frames(tmp_path: Path, small: None) -> None:
    write_arrays(tmp_path)
    dataset = from_arrays(tmp_path, frames=12, standardize=False)
    assert dataset.name == "spoken-digits"
    assert dataset.x.shape == (120, 12, 40)
    assert dataset.x.dtype == torch.float32
    assert dataset.ids.tolist() == list(range(120))  # sorted by digit, speaker, repetition
    row = (3 * 2 + 1) * REPETITIONS + 4  # digit 3, bob, repetition 4
    expected = log_mel_frames(torch.from_numpy(signal((3, 1, 4))))
    length = dataset.factor("length").values
    assert len(expected) == length[row] == 7  # 730 samples
    torch.testing.assert_close(dataset.x[row, :7], expected)
    torch.testing.assert_close(dataset.x[row, 7:], torch.full((5, 40), FLOOR).log())
    assert dataset.factor("digit").values[row] == 3
    assert dataset.factor("speaker").classes == SPEAKERS
    assert dataset.factor("speaker").values[row] == 1
    assert {name: len(rows) for name, rows in dataset.splits.items()} == {"train": 20, "test": 100}


def test_longer_recordings_are_cut(tmp_path: Path, small: None) -> None:
    write_arrays(tmp_path)
    whole, cut = (from_arrays(tmp_path, frames=n, standardize=False) for n in (12, 5))
    torch.testing.assert_close(cut.x, whole.x[:, :5])
    assert torch.equal(cut.factor("length").values, whole.factor("length").values.clamp(max=5))
    with pytest.raises(DataError, match="frames is at least 1, got 0"):
        from_arrays(tmp_path, frames=0)


def test_standardization_uses_true_frames_of_the_training_recordings(tmp_path: Path, small: None) -> None:
    write_arrays(tmp_path)
    raw, dataset = (from_arrays(tmp_path, frames=12, standardize=on) for on in (False, True))
    train = dataset.split("train")
    assert isinstance(train.x, torch.Tensor)
    true = torch.arange(12) < train.factor("length").values[:, None]
    torch.testing.assert_close(train.x[true].mean(0), torch.zeros(40), atol=1e-4, rtol=0)
    torch.testing.assert_close(train.x[true].std(0), torch.ones(40), atol=1e-4, rtol=0)
    padding = torch.arange(12) >= dataset.factor("length").values[:, None]
    assert bool((dataset.x[:][padding] == 0).all())
    frames = raw.split("train").x[:][true]
    torch.testing.assert_close(train.x[true], (frames - frames.mean(0)) / frames.std(0), atol=1e-3, rtol=0)


def test_folder_and_zip_give_the_same_items_as_the_arrays(
    tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_arrays(tmp_path)
    content = wavs()
    stranger = {"0_carol_0.wav": content["0_ann_0.wav"], "notes.wav": b"not a recording"}
    write_folder(tmp_path, content | stranger)
    with zipfile.ZipFile(tmp_path / "free-spoken-digit-dataset-1.0.10.zip", "w") as archive:
        archive.writestr("free-spoken-digit-dataset-1.0.10/README.md", "about")
        for name, data in content.items():
            archive.writestr(f"free-spoken-digit-dataset-1.0.10/recordings/{name}", data)
    recordings = spoken_digits._read_arrays(tmp_path / "spoken_digits_8khz.npz")
    monkeypatch.setattr(spoken_digits, "_SAMPLES_DIGEST", spoken_digits._digest(recordings))
    expected = from_arrays(tmp_path)
    for form in ("wav folder", "wav zip"):
        dataset = spoken_digits.build(found(spoken_digits.ENTRY, form, tmp_path))
        assert dataset.fingerprint() == expected.fingerprint()
        assert torch.equal(dataset.x[:], expected.x[:])
        for name, factor in expected.factors.items():
            assert torch.equal(dataset.factor(name).values, factor.values)
            assert dataset.factor(name).classes == factor.classes


def test_other_samples_give_a_warning(tmp_path: Path, small: None) -> None:
    write_folder(tmp_path, wavs())
    with pytest.warns(UnknotWarning, match=r"samples differ from those of spoken_digits_8khz\.npz"):
        spoken_digits.build(found(spoken_digits.ENTRY, "wav folder", tmp_path))


def test_an_incomplete_folder_names_the_first_missing_recording(tmp_path: Path, small: None) -> None:
    content = wavs()
    del content["7_bob_2.wav"], content["7_bob_3.wav"]
    write_folder(tmp_path, content)
    with pytest.raises(DataError, match=r"2 of 120 recordings are missing, first 7_bob_2\.wav"):
        spoken_digits.build(found(spoken_digits.ENTRY, "wav folder", tmp_path))


def test_another_sample_rate_is_refused(tmp_path: Path, small: None) -> None:
    write_folder(tmp_path, wavs(16000))
    with pytest.raises(DataError, match=r"0_ann_0\.wav has 16000 Hz, type int16, .* expected 8000 Hz"):
        spoken_digits.build(found(spoken_digits.ENTRY, "wav folder", tmp_path))


def test_arrays_whose_lengths_do_not_add_up_are_refused(tmp_path: Path, small: None) -> None:
    write_arrays(tmp_path)
    path = tmp_path / "spoken_digits_8khz.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "signal": arrays["signal"][:-1]})
    with pytest.raises(DataError, match=r"spoken_digits_8khz\.npz cannot be read as .* by the lengths"):
        from_arrays(tmp_path)


def test_a_budget_that_names_the_length_keeps_it(tmp_path: Path, small: None) -> None:
    write_arrays(tmp_path)
    dataset = from_arrays(tmp_path)
    hidden = LabelBudget.draw(dataset, 0, digit=10, length="all").apply(dataset)
    batch = next(hidden.batches(30, seed=0, labeled_share=0.5, labeled_by="digit"))
    assert int(batch.known["digit"].sum()) == 15
    assert bool(batch.known["length"].all())
    assert batch.x.shape == (30, 96, 40)


def test_the_real_file(real_data: Path) -> None:
    if verify(spoken_digits.ENTRY, real_data, entries()).state == "missing":
        pytest.skip("needs the files of spoken-digits in UNKNOT_DATA")
    dataset = load("spoken-digits", real_data, download=False, standardize=False)
    assert dataset.x.shape == (3000, 96, 40)
    train, test = dataset.split("train"), dataset.split("test")
    for part, repetitions in ((train, 45), (test, 5)):
        pairs = part.factor("digit").values * 6 + part.factor("speaker").values
        assert pairs.bincount().tolist() == [repetitions] * 60
    assert bool((test.ids % 50 < 5).all())
    length = dataset.factor("length").values
    assert int(length.min()) == 12
    assert int((length == 96).sum()) == 25  # 22 of them were cut
    # The nearest mean of each speaker, in mean MFCCs, identifies most test recordings.
    features = mfcc_means(dataset.x[:], length)
    codes = dataset.factor("speaker").values
    rows = dataset.splits["train"]
    centers = torch.stack([features[rows][codes[rows] == speaker].mean(0) for speaker in range(6)])
    nearest = torch.cdist(features[dataset.splits["test"]], centers).argmin(1)
    assert float((nearest == codes[dataset.splits["test"]]).float().mean()) > 0.7
    recordings = spoken_digits._read_arrays(real_data / "spoken-digits" / "spoken_digits_8khz.npz")
    assert spoken_digits._digest(recordings) == spoken_digits._SAMPLES_DIGEST
