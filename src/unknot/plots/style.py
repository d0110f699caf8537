"""Shared by all figures: colors, a light frame, and writing to text and files."""

from __future__ import annotations

import base64
import io
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from unknot.errors import SpecError
from unknot.files import atomic_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#243042", "#d5dae1"
COLORS = ("#2b6cb0", "#dd6b20", "#2f855a", "#b83280", "#6b46c1", "#b7791f", "#2c7a7b", "#c53030")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure without a window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def quiet(axes: Axes) -> None:
    """Draw frame and grid in the background."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=8)
    axes.grid(True, color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


def wrapped(name: str, width: int, lines: int) -> str:
    """A name in lines of at most ``width`` letters, cut where there would be more than ``lines``.

    >>> wrapped("a very long name of a class", 10, 2)
    'a very\\nlong name…'
    """
    parts = textwrap.wrap(name, width, break_long_words=True) or [""]
    if len(parts) > lines:
        parts = [*parts[: lines - 1], f"{parts[lines - 1][: width - 1]}…"]
    return "\n".join(parts)


def data_uri(figure: Figure, dpi: int = 144) -> str:
    """The figure as a PNG in a data URI, for a page that needs no other file."""
    stream = io.BytesIO()
    _settle(figure)
    figure.savefig(stream, format="png", dpi=dpi)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def save(figure: Figure, path: str | Path, dpi: int = 130) -> None:
    """Write the figure to a file, whole or not at all, in the format of its ending; without one as PNG."""
    ending = Path(path).suffix.removeprefix(".").lower() or "png"
    if ending not in figure.canvas.get_supported_filetypes():
        raise SpecError(f"{path}: expected a figure's file ending in .png, .svg or .pdf, got .{ending}.")
    _settle(figure)
    with atomic_file(Path(path)) as stream:
        figure.savefig(stream, dpi=dpi, format=ending)


def _settle(figure: Figure) -> None:
    """Lay the figure out once before drawing: around images of fixed shape the second layout has room for labels.

    Names of the user are text also where they look like formulas, such as "$50K_$"; only ticks of logarithmic axes are
    formulas.
    """
    from matplotlib.text import Text

    axes = [axis for one in figure.axes for axis in (one.xaxis, one.yaxis)]
    powers = {
        text for axis in axes if axis.get_scale() == "log" for text in axis.get_ticklabels(which="both")
    }
    for text in figure.findobj(Text):
        if text not in powers:
            text.set_parse_math(False)
    figure.draw_without_rendering()
