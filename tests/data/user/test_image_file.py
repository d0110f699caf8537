"""One image as pixels (see test_image_folder for what is refused)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from unknot.data.user.image_file import read_image


def test_grey_and_colored(tmp_path: Path) -> None:
    Image.fromarray(np.full((2, 3), 7, dtype=np.uint8)).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").shape == (2, 3, 3)
    assert (read_image(tmp_path / "a.png") == 7).all()
