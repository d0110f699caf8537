"""A small corpus of real texts that every machine with the library has: the docstrings of three packages."""

from __future__ import annotations

from pathlib import Path

import matplotlib.axes
import numpy as np
import torch


def docstrings(count: int) -> dict[str, list[str]]:
    """So many texts of each package."""
    places = {"numpy": np, "torch": torch, "matplotlib": matplotlib.axes.Axes}
    found = {}
    for name, place in places.items():
        texts = [getattr(place, key).__doc__ for key in sorted(dir(place)) if not key.startswith("_")]
        long = dict.fromkeys(text for text in texts if isinstance(text, str) and len(text) > 300)
        found[name] = list(long)[:count]
    return found


def write_docstrings(folder: Path, count: int) -> None:
    """A sub-folder of .txt files for each package."""
    for name, texts in docstrings(count).items():
        (folder / name).mkdir(parents=True)
        for number, text in enumerate(texts):
            (folder / name / f"{number:03}.txt").write_text(text, "utf-8")
