"""The model a data set gets when nobody describes one: its factors, a style, and everything made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unknot.errors import SpecError
from unknot.models.families import FAMILIES
from unknot.models.node_spec import NodeSpec, node
from unknot.models.spec import ModelSpec, check_spec

SEPARATE = {"swap": 1.0, "independence": 1000.0}  # weights that part style and factors


def default_model(
    data_family: str,
    factors: Mapping[str, Mapping[str, Any]],
    style: int = 10,
    *,
    gradient: str | None = None,
    separate: bool = False,
    columns: tuple[Mapping[str, Any], ...] = (),
    x: Mapping[str, Any] | None = None,
    **settings: Any,
) -> ModelSpec:
    """S17's class-and-style model for any number of named factors.

    ``factors`` maps each name to its family, its size and what else a node takes. They are recognized from the data.
    Factors with classes may depend on each other: each has those before it for parents, and is recognized from them
    too, so that labels of one tell of another though no item has both (a digit, and whether it is odd). Numbers
    are independent a priori. The style is what the factors leave over, recognized from the data and the factors; the
    data is made from all. (A factor that is called "style" or "x" itself keeps its name, and the node of
    the model gets a line after its own.) ``x`` are more settings of the data node (``hidden``, ``channels``, another
    ``family``), and ``settings`` those of the model as a whole (``augment``, ``agreement``, ``width``).

    ``separate`` keeps the factors out of the style, so that they can be changed and the style stays: it is whitened
    within the classes of the factor where that is the only one of classes, its dependence on the factors has a price,
    and items made with others' factors are read back as they were made.
    """
    rest, items = _free("style", factors), _free("x", factors)
    nodes: list[NodeSpec] = []
    classes: list[str] = []  # factors with classes so far
    for name, factor in factors.items():
        kind = FAMILIES.get(factor["family"])
        has_classes = kind is not None and kind.has_classes
        before = tuple(classes) if has_classes else ()
        way = gradient if has_classes else None
        seen = [items, *before]
        nodes.append(node(name, **factor, parents=before, inferred_from=seen, labels=True, gradient=way))
        if has_classes:
            classes.append(name)
    within = _whitened_within(nodes) if separate else ""
    nodes.append(node(rest, "normal", style, inferred_from=[items, *factors], whiten=within))
    if separate:
        settings = SEPARATE | settings
    data = {"family": data_family, "parents": [*factors, rest], "columns": columns, **(x or {})}
    nodes.append(node(items, **data))
    return check_spec(ModelSpec(tuple(nodes), **settings))


def _whitened_within(factors: list[NodeSpec]) -> str:
    """The one factor of classes, if there is one alone and its draws tell an item's class."""
    if not factors:
        raise SpecError("separate keeps labeled factors out of the style, but there is none; leave it out")
    classes = [one for one in factors if FAMILIES[one.family].has_classes]
    if (
        len(classes) != 1
        or (classes[0].gradient or FAMILIES[classes[0].family].default_gradient) == "enumerate"
    ):
        return ""
    return classes[0].name


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """The name of a node that is no factor, with a line after it where a factor of the user's has the same."""
    while name in taken:
        name += "_"
    return name
