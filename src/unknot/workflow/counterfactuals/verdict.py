"""Verdict: one sentence about what happens when a factor is changed, and how much of it is left in the style.

Shares are judged beside what a perfect change would give: a reader who reads 95 % of real items right is not expected
to read more of made ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unknot.metrics.leak import Leak

if TYPE_CHECKING:
    from unknot.workflow.counterfactuals.counterfactual import Beside, Counterfactual, Read

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
