"""NodeSpec: one node of a model as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from unknot.errors import SpecError
from unknot.suggest import did_you_mean


@dataclass(frozen=True)
class NodeSpec:
    """One variable of a model.

    ``parents`` are its parents in the generative model. ``recognised_from`` are its parents in the
    recognition model, among them data nodes; a node without is data: it is observed and never inferred.
    ``labels`` says that a user may hand over labels for it, for some items or all.
    """

    name: str
    family: str
    size: int | None = None  # how many numbers or classes; data nodes take it from the data
    parents: tuple[str, ...] = ()
    recognised_from: tuple[str, ...] = ()
    labels: bool = False
    gradient: str | None = None  # how draws carry gradient; None: the family's default
    hidden: tuple[int, ...] = ()  # hidden layers of its generative network; (): the default
    recognition_hidden: tuple[int, ...] = ()  # hidden layers of its recognition network; (): the default
    channels: tuple[int, ...] = ()  # image data: channels of the recogniser's convolutions; (): the default
    pooled: bool = False  # image data: whether these convolutions are pooled instead of strided
    recogniser: str = (
        ""  # image data: "faces" for the recogniser of faces under changing light; "": the default
    )
    sees: str = ""  # which part of what the recogniser makes of the data the node is recognised from; "": all
    confidence: float | None = None  # its own threshold of agreement; None: the model's
    centre: tuple[float, ...] = ()  # a normal latent's prior mean, () is 0: in whose units its labels are
    spread: tuple[float, ...] = ()  # and its prior standard deviation, () is 1
    scale: float | None = None  # a normal data node's standard deviation; None: learned
    columns: tuple[Mapping[str, Any], ...] = ()  # a table's columns; (): taken from the data

    @property
    def is_data(self) -> bool:
        return not self.recognised_from


def node(
    name: str,
    family: str,
    size: int | None = None,
    *,
    parents: Sequence[str] = (),
    recognised_from: Sequence[str] = (),
    **settings: Any,
) -> NodeSpec:
    """Describe a node: ``node("digit", "concrete", 10, recognised_from=["x"], labels=True)``."""
    known = [f.name for f in fields(NodeSpec)]
    for key in settings:
        if key not in known:
            raise SpecError(f"node '{name}': unknown key '{key}'; {did_you_mean(key, known)}")
    for key in ("hidden", "recognition_hidden", "channels", "centre", "spread", "columns"):
        if key in settings:
            settings[key] = _tuple(name, key, settings[key])
    return NodeSpec(name, family, size, _names(parents), _names(recognised_from), **settings)


def refuse_units(spec: NodeSpec) -> None:
    """Refuse a prior's centre or spread: only a normal latent node has them, one number for each dimension."""
    for key in ("centre", "spread"):
        if getattr(spec, key):
            raise units_error(spec, key)


def units_error(spec: NodeSpec, key: str) -> SpecError:
    """What is wrong with a node's centre or spread."""
    return SpecError(
        f"node '{spec.name}': {key} takes one number for each dimension of a normal latent node, "
        f"but got {len(getattr(spec, key))} for a {spec.family} node of size {spec.size}"
    )


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _tuple(name: str, key: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise SpecError(f"node '{name}': {key} is a list, but got {given!r}")
    return tuple(given)
