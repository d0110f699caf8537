"""`unknot data`, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.sets.idx_files import write_set
from unknot.cli import main
from unknot.cli.data import _sample_row
from unknot.data import Dataset, names
from unknot.data.from_arrays import from_arrays


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNKNOT_DATA", raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and error output of one command line."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_list_names_every_set(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "data", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["name", *names()]


def test_check_says_what_is_missing_and_where_to_put_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = run(capsys, "data", "check", "--data-dir", str(tmp_path))
    assert code == 0  # nothing is bad
    assert "digits" in out
    assert "svhn: `unknot data get svhn` fetches it; or put train_32x32.mat, test_32x32.mat or" in out
    assert f"20news: put 20news_prodlda_bow.npz into {tmp_path}/20news" in out
    assert run(capsys, "data", "check", "svhn")[0] == 1
    assert run(capsys, "data", "check", "digits")[0] == 0


def test_check_finds_a_bad_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_set(tmp_path, ".gz")
    code, out, _ = run(capsys, "data", "check", "mnist", "--data-dir", str(tmp_path))
    assert code == 1
    assert f"mnist: The data file {tmp_path}/train-images-idx3-ubyte.gz is truncated" in out


def test_get_of_a_set_that_needs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "data", "get", "digits")[1] == "digits: comes with scikit-learn, nothing to fetch.\n"


def test_get_goes_on_after_a_set_that_cannot_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "data", "get", "20news", "digits")
    assert code == 2
    assert out.startswith("digits: ")
    assert err.startswith("unknot: The data set 20news was not found")


def test_samples_draws_a_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "data", "samples", "digits", "-o", str(tmp_path / "new" / "s.png"))
    assert (code, out) == (0, f"Wrote {tmp_path}/new/s.png.\n")
    assert (tmp_path / "new" / "s.png").read_bytes().startswith(b"\x89PNG")


def test_samples_of_a_set_without_factors_have_no_captions() -> None:
    row = _sample_row(from_arrays(np.zeros((3, 8, 8), np.uint8)), seed=0)
    assert row.captions == ["", "", ""]


def test_sequences_are_drawn_with_time_from_left_to_right() -> None:
    sequences = np.zeros((3, 9, 4), np.float32) - 1
    sequences[:, 2, 0] = 1  # the third step, the first column
    row = _sample_row(Dataset("tones", torch.from_numpy(sequences), torch.arange(3)), seed=0)
    assert row.images is not None
    assert row.images.shape == (3, 1, 4, 9)
    assert row.images.dtype == np.uint8
    assert np.argwhere(row.images[0, 0]).tolist() == [[3, 2]]  # the bottom row


def test_a_seed_beyond_any_generators_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "data", "samples", "digits", "--seed", str(10**30))
    assert code == 2
    assert "--seed" in err


def test_a_mistake_is_one_sentence_and_code_2() -> None:
    command = [sys.executable, "-m", "unknot", "data", "get", "mnits"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "unknot: There is no data set named 'mnits'; did you mean 'mnist'? There are: "
    )
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
