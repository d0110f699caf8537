"""Helpers for tests of the commands: run one in this process, and small data of every form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from unknot.cli import main

SPEC = """
data: {name: digits}
labels: {budget: {digit: 100}}
model: {style: 3, width: 32}
train: {steps: 6, batch_size: 60, log_every: 3, device: cpu}
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and error stream of a command, without the progress of cross-fitting."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    err = "".join(line for line in captured.err.splitlines(True) if not line.startswith("Cross-fitting: "))
    return int(ended.value.code or 0), captured.out, err


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence with which a command ends with code 2."""
    code, _, err = run(capsys, *arguments)
    assert code == 2, err
    assert err.startswith("unknot: ")
    assert err.count("\n") == 1, err
    return err.removeprefix("unknot: ").strip()


def spec_file(folder: Path, text: str = SPEC) -> Path:
    path = folder / "spec.yaml"
    path.write_text(text)
    return path


def digits() -> tuple[np.ndarray, np.ndarray]:
    """300 images (N, 8, 8) of uint8 and their digits."""
    found = load_digits()
    return np.round(found.images[:300] * 255 / 16).astype(np.uint8), found.target[:300]


def npz_file(path: Path) -> Path:
    """Images with half of the digits unknown, and a test split."""
    images, classes = digits()
    shown = np.where(np.arange(240) % 2, classes[:240], -1)
    np.savez(path, x=images[:240], digit=shown, x_test=images[240:], digit_test=classes[240:])
    return path


def csv_file(path: Path) -> Path:
    """A table with holes: two kinds of label, four kinds of column."""
    rng = np.random.default_rng(0)
    lines = ["patient,age,smokes,blood,visits,group,severity"]
    for i in range(200):
        group = int(rng.integers(0, 2))
        cells = [
            f"p{i}",
            "" if i % 7 == 0 else f"{40 + 20 * group + rng.normal(0, 5):.1f}",
            "" if i % 11 == 0 else str(int(rng.random() < 0.2 + 0.6 * group)),
            "" if i % 13 == 0 else str(rng.choice(["A", "B", "O"])),
            str(rng.poisson(1 + 4 * group)),
            ("ill", "well")[group] if i % 2 else "",
            f"{100 * group + rng.normal(0, 5):.2f}" if i % 3 else "",
        ]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")
    return path


CSV_SPEC = """
data:
  factors: [group, severity]
  columns: {patient: leave out, visits: count}
  test_share: 0.25
model: {kind: class_style, style: 2, width: 32}
train: {steps: 8, batch_size: 50}
"""


def image_folder(folder: Path) -> Path:
    """Forty PNG files, most of them labeled by word in labels.csv."""
    from PIL import Image

    folder.mkdir()
    images, classes = digits()
    lines = ["file,parity"]
    for i in range(40):
        Image.fromarray(images[i]).save(folder / f"image-{i:02d}.png")
        if i % 4:
            lines.append(f"image-{i:02d}.png,{('even', 'odd')[classes[i] % 2]}")
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    return folder
