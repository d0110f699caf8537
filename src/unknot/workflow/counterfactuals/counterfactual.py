"""Counterfactual: the numbers of one factor that is changed while everything else is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from unknot.metrics.leak import Leak
from unknot.workflow.counterfactuals.reader import LABELS_A_SETTING

# ---- Rows: a factor's numbers as a table says them, each with what it is to be compared with -------------


def rows(found: Counterfactual) -> list[tuple[str, str, str]]:
    """What is measured, the number, and what stands beside it."""
    told = [("read as intended by the encoder", *_read(found.encoder))]
    if found.reader is not None:
        share, beside = _read(found.reader)
        told.append(
            ("read as intended by another reader", share, f"{beside}; learned from {found.labels:,} labels")
        )
    else:
        few = f"{found.labels:,} labels to learn from; {LABELS_A_SETTING} a class are needed"
        told.append(("read as intended by another reader", "unknown", few))
    for name, move in found.moves.items():
        beside = f"{move.unchanged:.2f} without a change; 1: another item"
        told.append((f"{name} moves", f"{move.changed:.2f}", beside))
    if found.leak is not None:
        told += _probes(found.factor, " and ".join(found.style), found.leak)
    if found.sharpness is not None:
        beside = f"{found.sharpness.unchanged:.2f} without a change; 1: real items"
        told.append(("sharpness", f"{found.sharpness.changed:.2f}", beside))
    return told


def _read(read: Read) -> tuple[str, str]:
    beside = (
        "no labels of real items"
        if read.real is None
        else f"{100 * read.real:.1f} % of real items read right"
    )
    return f"{100 * read.share:.1f} ± {100 * read.standard_error:.1f} %", beside


def _probes(factor: str, style: str, leak: Leak) -> list[tuple[str, str, str]]:
    errors = {"linear probe": leak.linear, "five neighbors": leak.neighbors, "small network": leak.network}
    beside = f"{100 * leak.chance:.1f} % is chance"
    return [
        (f"{factor} read from {style}, {name}", f"{100 * error:.1f} % error", beside)
        for name, error in errors.items()
    ]


# Verdict: one sentence about what happens when a factor is changed, and how much of it is left in the style.
# Shares are judged beside what a perfect change would give: a reader who reads 95 % of real items right is not expected
# to read more of made ones.

CLEAN, MOSTLY = 0.97, 0.85  # shares read as intended, of those that real items are read right
STAYS, DRIFTS = 0.1, 0.35  # moves beyond those of an item that is made anew without a change
LITTLE = 0.05  # a smaller share of a factor in the style is not worth a word

_FRACTIONS = (
    (0.95, "all"),
    (0.82, "nine tenths"),
    (0.71, "three quarters"),
    (0.58, "two thirds"),
    (0.42, "half"),
    (0.29, "a third"),
    (0.22, "a quarter"),
    (0.15, "a fifth"),
    (0.0, "a tenth"),
)


def verdict(found: Counterfactual) -> str:
    """The sentence of one factor.

    ``digit changes cleanly; the style still carries a third of it.``
    """
    parts = [f"{found.factor} {_change(found)}", *_movement(found.moves)]
    if found.leak is not None:
        parts.append(_left(" and ".join(found.style), found.leak))
    return "; ".join(parts) + "."


def _change(found: Counterfactual) -> str:
    reads = [found.encoder] if found.reader is None else [found.encoder, found.reader]
    share, chance = min(_of_possible(one) for one in reads), 1 / max(found.settings, 1)
    if share >= CLEAN:
        return "changes cleanly"
    if share >= MOSTLY:
        return f"mostly changes ({100 * share:.0f} % of what can be read)"
    if share > chance + 0.1:
        return f"changes in {100 * share:.0f} % of items only"
    return "does not change"


def _of_possible(read: Read) -> float:
    """The share read as intended, of the share of real items that is read right."""
    return min(1.0, read.share / read.real) if read.real else read.share


def _movement(moves: dict[str, Beside]) -> list[str]:
    beyond = {name: move.changed - move.unchanged for name, move in moves.items()}
    far = [name for name, by in beyond.items() if by > DRIFTS]
    near = [name for name, by in beyond.items() if STAYS < by <= DRIFTS]
    said = [f"{_names(far)} with it"] if far else []
    return said + ([f"{_names(near)} a little"] if near else [])


def _names(names: list[str]) -> str:
    return f"{' and '.join(names)} {'moves' if len(names) == 1 else 'move'}"


def _left(style: str, leak: Leak) -> str:
    """What the style holds of the factor; less than so few items can show is nothing."""
    if leak.carried <= max(LITTLE, 1 / leak.items**0.5):
        return f"{style} holds nothing of it"
    share = next(word for least, word in _FRACTIONS if leak.carried >= least)
    return f"{style} still carries {share} of it"


@dataclass(frozen=True)
class Read:
    """How often changed items are read as intended, and real items (where labels tell) as what they are."""

    share: float
    standard_error: float
    real: float | None


@dataclass(frozen=True)
class Beside:
    """A number of changed items, beside the same number of items made anew without a change."""

    changed: float
    unchanged: float


@dataclass(frozen=True)
class Counterfactual:
    """What happens when one named factor is changed and everything else is kept.

    - ``settings``, ``items``: how many settings each of so many items is changed to.
    - ``encoder``: the reading of the model's own encoder.
    - ``reader``: that of a reader which learned from ``labels`` labels; None where they are too few.
    - ``moves``: how far the encoder sees each other variable move: 0 not at all, 1 as far as to another item.
    - ``leak``: what probes read of the factor from ``style``, the variables without a name; None where there are none,
      or too few labels.
    - ``sharpness``: of images, over that of the real ones.
    """

    factor: str
    settings: int
    items: int
    labels: int
    encoder: Read
    reader: Read | None
    moves: dict[str, Beside]
    style: tuple[str, ...]
    leak: Leak | None
    sharpness: Beside | None

    @property
    def verdict(self) -> str:
        """One sentence (:mod:`unknot.workflow.counterfactuals.counterfactual`)."""
        return verdict(self)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """What is measured, the number, and what stands beside it."""
        return rows(self)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and the verdict, as JSON has them."""
        carried = None if self.leak is None else self.leak.carried
        return {"verdict": self.verdict, **asdict(self), "carried": carried}

    def __str__(self) -> str:
        lines = [f"  {what}: {value} ({beside})" for what, value, beside in self.rows]
        return "\n".join([self.verdict, *lines])
