"""The way of a figure to text and files, without a window."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unknot.errors import DiskError, SpecError
from unknot.plots.style import data_uri, new_figure, quiet, save


def test_a_figure_as_text_is_a_png_of_its_size() -> None:
    kind, content = data_uri(new_figure(2, 1), dpi=50).split(",")
    assert kind == "data:image/png;base64"
    assert Image.open(io.BytesIO(base64.b64decode(content))).size == (100, 50)


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a", b"\x89PNG")]
)
def test_a_file_s_ending_is_its_format(tmp_path: Path, name: str, start: bytes) -> None:
    save(new_figure(1, 1), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_format_that_there_is_not_is_said(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"got \.doc"):
        save(new_figure(1, 1), tmp_path / "a.doc")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said(small_disk: Path) -> None:
    figure = new_figure(8, 8)
    figure.figimage(np.random.default_rng(0).random((800, 800)))  # noise does not compress
    with pytest.raises(DiskError, match=r"Could not write .*a\.png: the disk is full"):
        save(figure, small_disk / "a.png", dpi=100)
    assert list(small_disk.iterdir()) == []


def test_names_that_look_like_formulas_are_text() -> None:
    figure = new_figure(2, 2)
    axes = figure.add_subplot()
    axes.set_xlabel("$50K_$")
    axes.set_yticks([0, 1], ["$a_$", "b"])
    axes.set_xscale("log")
    axes.legend([axes.plot([1, 10], [0, 1])[0]], ["$\\no$"])
    assert data_uri(figure).startswith("data:image/png")  # would raise
    powers = [text for text in axes.get_xticklabels() if text.get_text()]
    assert powers
    assert all(text.get_parse_math() for text in powers)


def test_quiet_axes_have_two_sides() -> None:
    axes = new_figure(1, 1).add_subplot()
    quiet(axes)
    assert [side for side, spine in axes.spines.items() if spine.get_visible()] == ["left", "bottom"]
