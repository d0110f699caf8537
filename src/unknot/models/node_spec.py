"""NodeSpec: one node of a model as data, declared once: its fields, their checks, and a line about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from unknot.errors import SpecError
from unknot.models.by_name import NAMED, Named
from unknot.schema import ANYTHING, Schema, check, flag, left_out_or, list_of, schema_of, setting, text, whole

_NAMES: Schema = {
    "if": {"type": "array"},
    "then": list_of(text(), words="a list of nodes' names"),
    "else": {**text(), "description": "a node's name or a list of them"},
}
_FAMILIES = (
    "latent: `normal`, `concrete` (a class, relaxed), `categorical` (a class, summed over), `bernoulli`, "
    "`relaxed_bernoulli`, `direction` (a unit vector); data: `bernoulli` (pixels), `normal`, `poisson`, `multinomial` "
    "(words), `negative_binomial`, `zero_inflated`, `scaled_poisson` (genes), `product_topics`, `mixture_topics` "
    "(words from topics), `table`; with options, "
    "`{name: normal, scale: 0.1}`; or a class of your own, `file.py:Class`"
)
_ENCODER = (
    "the network that infers it, by name with its options: `{name: mlp, hidden: [256]}`, of image data "
    "`{name: conv, channels: [16, 32]}`; or a class of your own, `file.py:Class` or `package.module:Class`"
)


@dataclass(frozen=True)
class NodeSpec:
    """One variable of a model. A node without ``inferred_from`` is data: it is observed and never inferred.

    A node that is ``given`` is known for every item, as its batch or its dose is: other nodes are generated and
    inferred from it, and it has no distribution itself.

    ``name`` is what traces, labels and reports call it. The other fields are those of a description; a name of a
    family or network alone, or a mapping of ``name`` and options, becomes a :class:`~unknot.models.by_name.Named`.
    """

    name: str
    family: Named = setting(NAMED, _FAMILIES)
    size: int | None = setting(
        left_out_or(whole(1, 10**6)), "number of classes or dimensions; data takes it from the data", None
    )
    parents: tuple[str, ...] = setting(_NAMES, "its parents in the decoder: what it is generated from", ())
    inferred_from: tuple[str, ...] = setting(
        _NAMES, "its parents in the encoder; a node without is the data", ()
    )
    labels: bool = setting(flag(), "whether labels may be given for it, for some items or all", False)
    given: bool = setting(
        flag(), "whether it is known for every item: conditioned on, and never inferred or generated", False
    )
    raters: int | None = setting(
        left_out_or(whole(1, 10**4)),
        "number of raters whose votes are its labels; their errors are learned",
        None,
    )
    gradient: str | None = setting(
        left_out_or({**text(), "maxLength": 40}),
        "gradient of its draws: `enumerate`, `straight_through`, `plug_in`, `score_function`, `detached`",
        None,
    )
    prior: Mapping[str, Any] | None = setting(
        left_out_or(
            {"type": "object", "additionalProperties": ANYTHING, "description": "a table of parameters"}
        ),
        "of a normal node, `{center: [...], spread: [...]}`: the prior's mean and standard deviation, in whose units "
        "its labels are; by default 0 and 1",
        None,
    )
    encoder: Named | None = setting(left_out_or(NAMED), _ENCODER, None)
    decoder: Named | None = setting(
        left_out_or(NAMED),
        "the network that generates it, by name with its options: `{name: mlp, hidden: [400, 400]}`",
        None,
    )

    def __post_init__(self) -> None:
        for key in ("family", "encoder", "decoder"):
            if getattr(self, key) is not None:
                object.__setattr__(self, key, Named.read(getattr(self, key)))
        for key in ("parents", "inferred_from"):
            names = getattr(self, key)
            object.__setattr__(self, key, (names,) if isinstance(names, str) else tuple(names))

    @property
    def is_data(self) -> bool:
        """Whether it is the data."""
        return not self.inferred_from and not self.given

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as in a YAML file, without the name; defaults are left out."""
        plain: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "name" or value == one.default:
                continue
            value = value.to_plain() if isinstance(value, Named) else value
            plain[one.name] = list(value) if isinstance(value, tuple) else value
        return plain


NODE: Schema = schema_of(NodeSpec, "settings with at least a family")


def node(
    name: str,
    family: str | Mapping[str, Any],
    size: int | None = None,
    *,
    parents: str | Sequence[str] = (),
    inferred_from: str | Sequence[str] = (),
    **settings: Any,
) -> NodeSpec:
    """Describe a node: ``node("digit", "concrete", 10, inferred_from=["x"], labels=True)``.

    Parameters
    ----------
    name : str
        What traces, labels and reports call it.
    family : str or mapping
        Its distribution, by name, or ``name`` and options.
    size : int, optional
        Number of classes or dimensions; data takes it from the data.
    parents : str or sequence of str
        The nodes that it is generated from.
    inferred_from : str or sequence of str
        The nodes that it is inferred from; none: it is the data.
    **settings
        The other fields of a :class:`NodeSpec`, as they come from a file.

    Returns
    -------
    NodeSpec

    Raises
    ------
    SpecError
        If a setting is unknown or has a value that it cannot take.
    """
    check(name, text(), "model: a node's name")
    family = family.to_plain() if isinstance(family, Named) else family
    described = {
        "family": family,
        "size": size,
        "parents": parents,
        "inferred_from": inferred_from,
        **settings,
    }
    check(described, NODE, f"model.nodes.{name}")
    return NodeSpec(name, **described)


def check_prior(spec: NodeSpec, keys: Mapping[str, Schema]) -> None:
    """Refuse parameters of a prior that the family does not have, or whose length is not the node's size."""
    for key, value in (spec.prior or {}).items():
        if key not in keys:
            has = f"has {', '.join(keys)}" if keys else "has no parameters to set"
            raise SpecError(f"node '{spec.name}': a prior of {spec.family} {has}, but got '{key}'")
        check(value, keys[key], f"model.nodes.{spec.name}.prior.{key}")
        if len(value) != spec.size:
            raise SpecError(
                f"node '{spec.name}': the prior's {key} takes one number for each of {spec.size} dimensions, "
                f"but got {len(value)}"
            )
