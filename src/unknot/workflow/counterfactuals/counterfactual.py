"""Counterfactual: what happens when one named factor of an item is changed and everything else is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from unknot.metrics.probes import Leak

LABELS_PER_SETTING = (
    10  # labels that a predictor learns from, per class of a factor or per one of five numbers
)
CLEAN, MOSTLY = (
    0.97,
    0.85,
)  # shares predicted as intended, relative to the share of real items predicted correctly
STAYS, DRIFTS = 0.1, 0.35  # distances moved beyond those of a reconstruction without a change
_BEYOND_CHANCE = 0.1  # a factor that is predicted as intended in no more items than this does not change
LITTLE = 0.05  # a smaller share of a factor in the style is not mentioned

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


@dataclass(frozen=True)
class Agreement:
    """How often a prediction is the intended value.

    Parameters
    ----------
    share : float
        The share of changed items that are predicted as intended.
    standard_error : float
        Its standard error over items.
    real : float or None
        The share of real items that are predicted as labeled; None without labels to compare with.
    """

    share: float
    standard_error: float
    real: float | None


@dataclass(frozen=True)
class Change:
    """A number of the changed items, beside the same number of their reconstructions without a change."""

    changed: float
    unchanged: float


@dataclass(frozen=True)
class Counterfactual:
    """What happens when one named factor is changed and everything else is kept.

    Parameters
    ----------
    factor : str
        The factor.
    settings, items : int
        How many values each of how many items is changed to.
    labels : int
        How many labels the independent predictor and the probes learned from.
    encoder : Agreement
        The predictions of the model's own encoder.
    predictor : Agreement or None
        Those of a predictor that shares nothing with the model; None where there are too few labels.
    moves : dict from str to Change
        How far the predictions of each other variable move: 0 not at all, 1 as far as to another item.
    style : tuple of str
        The variables without labels.
    leak : Leak or None
        What probes predict of the factor from the style; None without style, or with too few labels.
    sharpness : Change or None
        Of images, relative to that of the real ones.
    """

    factor: str
    settings: int
    items: int
    labels: int
    encoder: Agreement
    predictor: Agreement | None
    moves: dict[str, Change]
    style: tuple[str, ...]
    leak: Leak | None
    sharpness: Change | None

    @property
    def verdict(self) -> str:
        """One sentence: whether the factor changes, what moves with it, and how much of it the style keeps.

        Shares are relative to what a perfect change would give: a predictor that is right on 95 % of real items is
        not expected to agree on more of the changed ones.
        """
        parts = [f"{self.factor} {_change(self)}", *_movement(self.moves)]
        if self.leak is not None:
            parts.append(_left(" and ".join(self.style), self.leak))
        return "; ".join(parts) + "."

    @property
    def does_not_change(self) -> bool:
        """Whether about as few items as by chance are predicted as intended."""
        return _share(self) <= 1 / max(self.settings, 1) + _BEYOND_CHANCE

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Rows of a table: the name of a number, the number, and what to compare it with."""
        rows = [("predicted as intended by the encoder", *_agreement(self.encoder))]
        name = "predicted as intended by an independent predictor"
        if self.predictor is not None:
            share, beside = _agreement(self.predictor)
            rows.append((name, share, f"{beside}; trained on {self.labels:,} labels"))
        else:
            few = f"{self.labels:,} labels to learn from; {LABELS_PER_SETTING} per class are needed"
            rows.append((name, "unknown", few))
        for other, move in self.moves.items():
            rows.append(
                (
                    f"{other} moves",
                    f"{move.changed:.2f}",
                    f"{move.unchanged:.2f} without a change; 1: another item",
                )
            )
        if self.leak is not None:
            rows += _probes(self.factor, " and ".join(self.style), self.leak)
        if self.sharpness is not None:
            beside = f"{self.sharpness.unchanged:.2f} without a change; 1: real items"
            rows.append(("sharpness", f"{self.sharpness.changed:.2f}", beside))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """All numbers and the verdict, as JSON has them."""
        carried = None if self.leak is None else self.leak.carried
        return {"verdict": self.verdict, **asdict(self), "carried": carried}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Counterfactual:
        """The counterfactual that :meth:`to_dict` wrote."""
        values = {key: value for key, value in content.items() if key not in ("verdict", "carried")}
        values["encoder"] = Agreement(**values["encoder"])
        values["moves"] = {name: Change(**move) for name, move in values["moves"].items()}
        values["style"] = tuple(values["style"])
        for key, kind in (("predictor", Agreement), ("leak", Leak), ("sharpness", Change)):
            values[key] = None if values[key] is None else kind(**values[key])
        return cls(**values)

    def __str__(self) -> str:
        lines = [f"  {name}: {value} ({beside})" for name, value, beside in self.rows]
        return "\n".join([self.verdict, *lines])


def _change(found: Counterfactual) -> str:
    share = _share(found)
    if share >= CLEAN:
        return "changes cleanly"
    if share >= MOSTLY:
        return f"mostly changes ({100 * share:.0f} % of what can be predicted)"
    return "does not change" if found.does_not_change else f"changes in {100 * share:.0f} % of items only"


def _share(found: Counterfactual) -> float:
    """The share predicted as intended by the encoder or by the predictor, whichever is smaller, of what is possible."""
    agreements = [found.encoder] if found.predictor is None else [found.encoder, found.predictor]
    return min(_of_possible(one) for one in agreements)


def _of_possible(agreement: Agreement) -> float:
    """The share predicted as intended, relative to the share of real items predicted correctly."""
    return min(1.0, agreement.share / agreement.real) if agreement.real else agreement.share


def _movement(moves: Mapping[str, Change]) -> list[str]:
    beyond = {name: move.changed - move.unchanged for name, move in moves.items()}
    far = [name for name, distance in beyond.items() if distance > DRIFTS]
    near = [name for name, distance in beyond.items() if STAYS < distance <= DRIFTS]
    parts = [f"{_names(far)} with it"] if far else []
    return parts + ([f"{_names(near)} a little"] if near else [])


def _names(names: list[str]) -> str:
    return f"{' and '.join(names)} {'moves' if len(names) == 1 else 'move'}"


def _left(style: str, leak: Leak) -> str:
    """How much of the factor the style keeps; shares that so few items cannot show count as none."""
    if leak.carried <= max(LITTLE, 1 / leak.items**0.5):
        return f"{style} holds nothing of it"
    share = next(word for least, word in _FRACTIONS if leak.carried >= least)
    return f"{style} still carries {share} of it"


def _agreement(agreement: Agreement) -> tuple[str, str]:
    beside = (
        "no held-out labels of real items"
        if agreement.real is None
        else f"{100 * agreement.real:.1f} % of real items predicted correctly"
    )
    return f"{100 * agreement.share:.1f} ± {100 * agreement.standard_error:.1f} %", beside


def _probes(factor: str, style: str, leak: Leak) -> list[tuple[str, str, str]]:
    errors = {"linear probe": leak.linear, "five neighbors": leak.neighbors, "small network": leak.network}
    beside = f"{100 * leak.chance:.1f} % is chance"
    return [
        (f"{factor} predicted from {style}, {name}", f"{100 * error:.1f} % error", beside)
        for name, error in errors.items()
    ]
