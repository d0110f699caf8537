"""Section: a part of the page, with a figure or a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def three_digits(value: float) -> str:
    """A number to three digits, with an exponent only if it is very small or large, and years without a comma.

    >>> three_digits(2008.4), three_digits(12345.6), three_digits(0.03567), three_digits(2.5e-9)
    ('2008', '12,346', '0.0357', '2.5e-09')
    """
    if 999.5 <= abs(value) < 9999.5:
        return f"{value:.0f}"
    return f"{value:,.0f}" if 9999.5 <= abs(value) < 1e9 else f"{value:.3g}"


@dataclass(frozen=True)
class TextTable:
    """Words in rows and columns; the first cell of a row is its name."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Parameters
    ----------
    title, caption : str
        The heading, and how to interpret what is shown.
    figure : Figure or None
        A figure.
    table : TextTable or None
        A table.
    wide : bool, default=False
        Whether it takes the whole width of the page, or half of it.
    """

    title: str
    caption: str
    figure: Figure | None = None
    table: TextTable | None = None
    wide: bool = False
