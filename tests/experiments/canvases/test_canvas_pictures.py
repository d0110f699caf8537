"""The picture of canvases, their reconstructions and their parts."""

from __future__ import annotations

from pathlib import Path

from experiments.canvases.canvas_fit import canvases, fitted_canvas, labeled
from experiments.canvases.canvas_pictures import CAPTIONS, draw_canvases
from experiments.canvases.multi_mnist import cases


def test_it_is_drawn(tmp_path: Path) -> None:
    data = canvases("digits", n=60)
    model = fitted_canvas(labeled(data.split("train"), 20, seed=0), cases("smoke")[0], seed=0)
    draw_canvases(model, data.split("test"), tmp_path / "canvases.png")
    assert (tmp_path / "canvases.png").stat().st_size > 5000
    assert "canvases" in CAPTIONS
