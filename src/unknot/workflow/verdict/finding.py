"""Finding: one thing that went wrong, how grave it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gravity = Literal["red", "amber"]


@dataclass(frozen=True)
class Finding:
    """Something that went wrong.

    Parameters
    ----------
    kind : str
        What went wrong: "below linear", "overconfident", "class shares", "unchanged", "few labels", "overfitting",
        "collapsed" or "improving".
    text : str
        One sentence with the numbers, and one with what to do.
    gravity : {"amber", "red"}
        Red: the predictions should not be used as they are. Amber: something to know before they are used.
    """

    kind: str
    text: str
    gravity: Gravity = "amber"
