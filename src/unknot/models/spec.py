"""A model as data: nodes, their families and sizes, their parents in both directions; read and checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from unknot.errors import SpecError
from unknot.models.augment import AUGMENT
from unknot.models.families import FAMILIES, family_of
from unknot.models.likelihoods import LIKELIHOODS, likelihood_of
from unknot.models.networks.mlp import WIDEST
from unknot.models.networks.registry import check_networks
from unknot.models.node_spec import NODE, NodeSpec, node
from unknot.schema import Schema, check, left_out_or, number, schema_of, setting, table, table_of, whole
from unknot.suggest import did_you_mean
from unknot.yaml_file import read_yaml


@dataclass(frozen=True)
class ModelSpec:
    """All nodes of a model, checked, in the order of the decoder.

    ``inference_order`` has the latent nodes so that each comes after what it is inferred from; :func:`check_spec`
    finds it.
    """

    nodes: tuple[NodeSpec, ...]
    augment: str | Mapping[str, float] | None = setting(
        left_out_or(AUGMENT),
        "random changes of training images: `affine`, `elastic` (bent too), or amounts, "
        "`{turn: 0.2, scale: 0.1, shear: 0.1, shift: 0.1}`, also of `zoom` (both sides alike), `bend`, `gain`, "
        "`gamma`, `hide`",
        None,
    )
    width: int = setting(whole(1, WIDEST), "units of default hidden layers", 256)
    temperature: float = setting(number(above=0), "of relaxed draws", 0.66)
    samples: int | None = setting(
        left_out_or(whole(1, 10**4)), "draws of every node for each item in a training step", None
    )
    inference_order: tuple[str, ...] = field(default=(), compare=False)

    def __getitem__(self, name: str) -> NodeSpec:
        return next(n for n in self.nodes if n.name == name)

    @property
    def data(self) -> NodeSpec:
        """The data node."""
        return next(n for n in self.nodes if n.is_data)

    @property
    def latents(self) -> list[NodeSpec]:
        """The nodes that are neither data nor given."""
        return [n for n in self.nodes if not n.is_data and not n.given]

    @property
    def known_inputs(self) -> list[NodeSpec]:
        """The nodes that are given."""
        return [n for n in self.nodes if n.given]

    @property
    def labeled(self) -> list[NodeSpec]:
        """The nodes that take labels."""
        return [n for n in self.nodes if n.labels]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as in a YAML file; defaults are left out."""
        settings = {one.name: getattr(self, one.name) for one in fields(self) if one.name in MODEL_SETTINGS}
        changed = {key: value for key, value in settings.items() if value != getattr(ModelSpec(()), key)}
        return {**changed, "nodes": {one.name: one.to_dict() for one in self.nodes}}


MODEL_SETTINGS: dict[str, Schema] = schema_of(ModelSpec, "a model")["properties"]
MODEL: Schema = table(
    {"nodes": table_of(NODE, "a table that maps each node's name to its settings", 1), **MODEL_SETTINGS},
    "a model",
    required=("nodes",),
)


def read_spec(source: Mapping[str, Any] | str | Path | Iterable[NodeSpec]) -> ModelSpec:
    """Return a checked model from a dictionary, a YAML file, or a list of nodes."""
    if isinstance(source, str | Path):
        source = read_yaml(Path(source), "model file", "nodes")
    if not isinstance(source, Mapping | Iterable):
        raise SpecError(f"a model is a dictionary, a YAML file or a list of nodes, but got {source!r}.")
    if not isinstance(source, Mapping):
        return check_spec(ModelSpec(tuple(source)))
    check(source, MODEL, "model")
    nodes = [node(str(name), **settings) for name, settings in source["nodes"].items()]
    rest = {key: value for key, value in source.items() if key != "nodes"}
    return check_spec(ModelSpec(tuple(nodes), **rest))


def check_spec(spec: ModelSpec) -> ModelSpec:
    """Refuse descriptions that are no model, naming the node; put nodes in the order of the decoder."""
    names = [n.name for n in spec.nodes]
    settings = {key: getattr(spec, key) for key in MODEL_SETTINGS}
    check(settings, table(MODEL_SETTINGS, "settings"), "model")
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"node '{name}' is described twice")
    for one in spec.nodes:
        _check_node(one, names)
    data = [n for n in spec.nodes if n.is_data]
    if len(data) != 1:
        found = ", ".join(n.name for n in data) or "none"
        raise SpecError(
            f"a model has one data node, the one without inferred_from, but found: {found}. A latent node "
            "needs inferred_from, the nodes it is inferred from; several data columns go into a table node"
        )
    for one in spec.nodes:
        check_networks(one, spec.nodes)
        if data[0].name in one.parents:
            raise SpecError(f"node '{one.name}': data ('{data[0].name}') cannot be a generative parent")
    generative = _in_order({n.name: n.parents for n in spec.nodes}, "generative", skip=())
    known = (data[0].name, *(n.name for n in spec.known_inputs))
    recognition = _in_order({n.name: n.inferred_from for n in spec.latents}, "recognition", skip=known)
    by_name = {n.name: n for n in spec.nodes}
    return replace(spec, nodes=tuple(by_name[n] for n in generative), inference_order=tuple(recognition))


def _check_node(one: NodeSpec, names: list[str]) -> None:
    """Refuse a node whose family, parents or role do not fit together."""
    for key in ("parents", "inferred_from"):
        for parent in getattr(one, key):
            if parent not in names:
                raise SpecError(
                    f"node '{one.name}': unknown node '{parent}' in {key}; {did_you_mean(parent, names)}"
                )
    if one.given and (one.parents or one.inferred_from or one.labels):
        raise SpecError(f"node '{one.name}' is given: it takes no parents, inferred_from or labels")
    if one.given and not (family_of(one).has_classes or family_of(one).gaussian):
        raise SpecError(f"node '{one.name}' is given: its family is concrete (classes) or normal (numbers)")
    if one.is_data and not one.parents:
        _refuse_family(one, LIKELIHOODS)
        raise SpecError(f"node '{one.name}': data needs generative parents, the nodes it is generated from")
    if one.is_data and one.labels:
        raise SpecError(f"node '{one.name}': labels belong to latent nodes; data is always observed")
    _refuse_family(one, LIKELIHOODS if one.is_data else FAMILIES)
    (likelihood_of(one) if one.is_data else family_of(one)).check_node(one)


def _refuse_family(one: NodeSpec, families: Collection[str]) -> None:
    """Refuse the name of a family that is neither ours nor a class of the user's."""
    name = one.family.name
    if name in families or ":" in name:
        return
    kind = "data" if one.is_data else "latent"
    hint = ""
    if one.is_data and name in FAMILIES:
        hint = " A latent node needs inferred_from, the nodes it is inferred from."
    raise SpecError(
        f"node '{one.name}': family '{name}' is not one of the {kind} families; "
        f"{did_you_mean(name, families)}{hint}"
    )


def _in_order(parents: dict[str, tuple[str, ...]], model: str, skip: tuple[str, ...]) -> list[str]:
    """Return the names so that parents come first; refuse cycles."""
    order: list[str] = []
    while len(order) < len(parents):
        ready = [n for n in parents if n not in order and all(p in order or p in skip for p in parents[n])]
        if not ready:
            stuck = ", ".join(n for n in parents if n not in order)
            raise SpecError(f"the {model} model has a cycle among: {stuck}; remove one of their parents")
        order.extend(ready)
    return order
