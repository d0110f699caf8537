"""The model a data set gets when nobody describes one: its factors, a style, and everything made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unknot.models.spec import ModelSpec, NodeSpec, check_spec, node


def default_model(
    data_family: str,
    factors: Mapping[str, Mapping[str, Any]],
    style: int = 10,
    *,
    gradient: str | None = None,
    augment: str | None = None,
    width: int = 256,
    columns: tuple[Mapping[str, Any], ...] = (),
) -> ModelSpec:
    """S17's class-and-style model for any number of named factors.

    ``factors`` maps each name to its family, its size and what else a node takes. Factors are independent a
    priori and recognised from the data; the style is what they leave over, recognised from the data and the
    factors; the data is made from all.
    """
    nodes: list[NodeSpec] = []
    for name, settings in factors.items():
        way = gradient if settings["family"] in ("concrete", "categorical") else None
        nodes.append(node(name, **settings, recognised_from=["x"], labels=True, gradient=way))
    nodes.append(node("style", "normal", style, recognised_from=["x", *factors]))
    nodes.append(node("x", data_family, parents=[*factors, "style"], columns=columns))
    return check_spec(ModelSpec(tuple(nodes), augment=augment, width=width))
