"""Malformed data files: arrays of every type and shape, tables with any cells and names, broken images."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from tests.fuzz.outcomes import answered, fuzz
from unknot.data.readers.user_files import read_user_data
from unknot.workflow.recipe import Recipe

TYPES = [
    "?",
    "u1",
    "<i2",
    ">i4",
    "<i8",
    "<u8",
    "<f2",
    "<f4",
    ">f8",
    "<f8",
    "g",
    "<c8",
    "<U3",
    "S2",
    "<M8[s]",
    "<m8[s]",
]
KINDS = [None, "categorical", "binary", "continuous", "count", "color"]


SHARES = [1.0] * 12 + [0.0, 0.2, 0.5, 0.9, 0.99]  # of a file that are kept: most are whole


def _array(rows: int, rest: st.SearchStrategy[list[int]]) -> st.SearchStrategy[np.ndarray]:
    shapes = rest.map(lambda more: (rows, *more))
    return st.sampled_from(TYPES).flatmap(lambda dtype: arrays.arrays(np.dtype(dtype), shapes))


def _drawn(rows: int) -> st.SearchStrategy[dict[str, np.ndarray]]:
    """Items that are mostly in order, with labels of any type, mostly as many."""
    items = st.lists(st.integers(1, 3), min_size=1, max_size=3)
    labels = st.sampled_from([[]] * 5 + [[1], [2], [0], [2, 2]])
    many = st.sampled_from([rows] * 6 + [rows + 1, 0])
    numbers = arrays.arrays(
        np.float32, items.map(lambda more: (rows, *more)), elements=st.floats(0, 1, width=32)
    )
    fields = {"x": st.one_of(numbers, _array(rows, items)), "y": many.flatmap(lambda n: _array(n, labels))}
    extra = {
        name: many.flatmap(lambda n: _array(n, labels)) for name in ("y_test", "type", "a b", "Sepal.Length")
    }
    extra["x_test"] = many.flatmap(lambda n: _array(n, items))
    return st.fixed_dictionaries(fields, optional=extra)


def _used(path: Path, **settings: Any) -> None:
    """As `unknot fit` reads it: the data, and every label in its budget."""
    recipe = Recipe.from_dict({"data": {"file": str(path), **settings}})
    train = recipe.training_data(recipe.dataset())
    recipe.budget(train).apply(train)


@pytest.mark.parametrize("cases", [100, pytest.param(700, marks=pytest.mark.slow)])
def test_arrays(cases: int, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"

    def body(drawn: tuple[dict[str, np.ndarray], str | None, float]) -> None:
        content, kind, cut = drawn
        np.savez(path, **content)
        path.write_bytes(path.read_bytes()[: int(cut * path.stat().st_size)])
        answered(lambda: _used(path, **({} if kind is None else {"kinds": {"y": kind}})))

    several = st.sampled_from([1, 2, 5, 9]).flatmap(_drawn)
    fuzz(cases, st.tuples(several, st.sampled_from(KINDS), st.sampled_from(SHARES)), body)


CELLS = [
    "",
    "?",
    "1",
    "0",
    "-1",
    "2.5",
    "1e400",
    "nan",
    "inf",
    "yes",
    "no",
    "=cmd|'/c'!A1",
    '"',
    "a,b",
    "é",
    "1_000",
    "٣",
    "x" * 3000,
]
cells = st.one_of(st.sampled_from(CELLS), st.text(max_size=5), st.integers().map(str), st.floats().map(str))
tables = st.tuples(
    st.lists(
        st.one_of(st.sampled_from(["type", "a b", "Sepal.Length", "", "x", "$50K_$"]), st.text(max_size=8)),
        max_size=4,
        unique=True,
    ),
    st.lists(st.lists(cells, max_size=4), max_size=6),
)


@pytest.mark.parametrize("cases", [150, pytest.param(700, marks=pytest.mark.slow)])
def test_tables(cases: int, tmp_path: Path) -> None:
    import csv

    path = tmp_path / "data.csv"

    def body(drawn: tuple[tuple[list[str], list[list[str]]], bool, bytes]) -> None:
        (header, rows), squared, junk = drawn
        if squared:
            rows = [(row + ["1"] * len(header))[: len(header)] for row in rows]
        with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
            csv.writer(file).writerows([header, *rows])
        if junk:
            path.write_bytes(path.read_bytes() + junk)
        answered(lambda: _used(path))
        if header:
            answered(lambda: _used(path, factors=[name] if (name := " ".join(header[0].split())) else []))

    fuzz(
        cases,
        st.tuples(tables, st.booleans(), st.sampled_from([b""] * 9 + [b"\xff", b"\x00", b'"', b"\r"])),
        body,
    )


MODES = ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "I;16", "I", "F", "YCbCr"]


@pytest.mark.parametrize("cases", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_folders_of_images(cases: int, tmp_path: Path) -> None:
    folder = tmp_path / "images"

    def body(drawn: tuple[list[tuple[str, str, float]], str]) -> None:
        images, labels = drawn
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for number, (mode, ending, kept) in enumerate(images):
            path = folder / f"{number}.{ending}"
            try:
                Image.new(mode, (4, 4)).save(path)
            except (OSError, ValueError, KeyError):  # a format that does not have the mode
                path.write_bytes(b"")
            path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
        if labels:
            (folder / "labels.csv").write_text(labels)
        answered(lambda: read_user_data(folder))

    image = st.tuples(
        st.sampled_from(MODES),
        st.sampled_from(["png", "jpg", "gif", "tiff", "bmp", "webp"]),
        st.sampled_from(SHARES),
    )
    labels = st.sampled_from(
        [
            "",
            "",
            "",
            "",
            "file,y\n0.png,1\n",
            "file\n",
            "y\n1\n",
            "file,y\n0.png,a\n0.png,b\n",
            "file,y\n../x,1\n",
        ]
    )
    fuzz(cases, st.tuples(st.lists(image, max_size=3), labels), body)
