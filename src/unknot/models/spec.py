"""A model as data: nodes, their families and sizes, their parents in both directions; read and checked."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from unknot.errors import SpecError
from unknot.models.yaml_file import read_yaml

LATENT_FAMILIES = ("normal", "concrete", "categorical", "bernoulli", "relaxed_bernoulli", "direction")
MODEL_KEYS = (
    "augment",
    "agreement",
    "confidence",
    "width",
    "temperature",
    "samples",
)  # of a model beside its nodes
DATA_FAMILIES = ("bernoulli", "normal", "poisson", "multinomial", "table")


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
            raise SpecError(f"node '{name}': unknown key '{key}'{_nearest(key, known)}")
    for key in ("hidden", "recognition_hidden", "channels", "centre", "spread", "columns"):
        if key in settings:
            settings[key] = _tuple(name, key, settings[key])
    return NodeSpec(name, family, size, _names(parents), _names(recognised_from), **settings)


@dataclass(frozen=True)
class ModelSpec:
    """All nodes of a model, checked, in generative order."""

    nodes: tuple[NodeSpec, ...]
    augment: str | Mapping[str, float] | None = (
        None  # training images are jittered: "affine", "elastic" or amounts
    )
    agreement: float = (
        0.0  # weight of reading an item's jittered view as the item itself (unknot.models.agreement)
    )
    confidence: float = 0.95  # readings less sure than this do not count for the agreement
    width: int = 256  # of default hidden layers
    temperature: float = 0.66  # of relaxed draws
    samples: int | None = (
        None  # draws of the recognition program in a training step; None: one, without an axis
    )
    recognition_order: tuple[str, ...] = field(default=(), compare=False)

    def __getitem__(self, name: str) -> NodeSpec:
        return next(n for n in self.nodes if n.name == name)

    @property
    def data(self) -> NodeSpec:
        """The data node."""
        return next(n for n in self.nodes if n.is_data)

    @property
    def latents(self) -> list[NodeSpec]:
        return [n for n in self.nodes if not n.is_data]

    @property
    def labelled(self) -> list[NodeSpec]:
        return [n for n in self.nodes if n.labels]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in a YAML file; defaults left out."""
        blank = NodeSpec("", "")
        nodes = {}
        for one in self.nodes:
            chosen = {k: v for k, v in asdict(one).items() if k != "name" and v != getattr(blank, k)}
            nodes[one.name] = {k: list(v) if isinstance(v, tuple) else v for k, v in chosen.items()}
        rest = {key: getattr(self, key) for key in MODEL_KEYS}
        usual = ModelSpec(())
        return {**{k: v for k, v in rest.items() if v != getattr(usual, k)}, "nodes": nodes}


def read_spec(source: Mapping[str, Any] | str | Path | Iterable[NodeSpec]) -> ModelSpec:
    """A checked model from a dictionary, a YAML file, or a list of nodes."""
    if isinstance(source, str | Path):
        source = read_yaml(Path(source), "model file", "nodes")
    if not isinstance(source, Mapping):
        return check_spec(ModelSpec(tuple(source)))
    for key in source:
        if key not in ("nodes", *MODEL_KEYS):
            raise SpecError(f"model: unknown key '{key}'{_nearest(key, ('nodes', *MODEL_KEYS))}")
    if not isinstance(source.get("nodes"), Mapping) or not source["nodes"]:
        raise SpecError("model: needs a section 'nodes' that maps each node's name to its settings")
    nodes = []
    for name, settings in source["nodes"].items():
        if not isinstance(settings, Mapping) or "family" not in settings:
            raise SpecError(f"node '{name}': needs settings with at least a family")
        nodes.append(node(name, **settings))
    rest = {key: value for key, value in source.items() if key != "nodes"}
    return check_spec(ModelSpec(tuple(nodes), **rest))


def check_spec(spec: ModelSpec) -> ModelSpec:
    """Refuse descriptions that are no model, naming the node; put nodes in generative order."""
    names = [n.name for n in spec.nodes]
    if spec.temperature <= 0:
        raise SpecError(f"model: temperature must be positive, but is {spec.temperature}")
    if spec.agreement < 0 or not 0 <= spec.confidence <= 1:
        raise SpecError(
            "model: agreement is a weight of at least 0 and confidence is from 0 to 1, but they are "
            f"{spec.agreement} and {spec.confidence}"
        )
    if spec.agreement and spec.augment is None:
        raise SpecError("model: agreement is between an item and its jittered view; say augment too")
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"node '{name}' is described twice")
    for one in spec.nodes:
        _check_node(one, names)
    data = [n for n in spec.nodes if n.is_data]
    if len(data) != 1:
        found = ", ".join(n.name for n in data) or "none"
        raise SpecError(
            f"a model has one data node, the one without recognised_from, but found: {found}. A latent node "
            "needs recognised_from, the nodes it is inferred from; several data columns go into a table node"
        )
    for one in spec.nodes:
        if data[0].name in one.parents:
            raise SpecError(f"node '{one.name}': data ('{data[0].name}') cannot be a generative parent")
    generative = _in_order({n.name: n.parents for n in spec.nodes}, "generative", skip=())
    recognition = _in_order(
        {n.name: n.recognised_from for n in spec.nodes if not n.is_data}, "recognition", skip=(data[0].name,)
    )
    by_name = {n.name: n for n in spec.nodes}
    return replace(spec, nodes=tuple(by_name[n] for n in generative), recognition_order=tuple(recognition))


def _check_node(one: NodeSpec, names: list[str]) -> None:
    families = DATA_FAMILIES if one.is_data else LATENT_FAMILIES
    if one.family not in families:
        kind = "data" if one.is_data else "latent"
        latent = one.is_data and one.family in LATENT_FAMILIES
        hint = "; a latent node says what it is inferred from: recognised_from" if latent else ""
        raise SpecError(
            f"node '{one.name}': family '{one.family}' is not one of the {kind} families "
            f"{', '.join(families)}{_nearest(one.family, families)}{hint}"
        )
    for key in ("parents", "recognised_from"):
        for parent in getattr(one, key):
            if parent not in names:
                raise SpecError(
                    f"node '{one.name}': unknown node '{parent}' in {key}{_nearest(parent, names)}"
                )
    if not one.is_data and (one.size is None or one.size < 1):
        raise SpecError(f"node '{one.name}': needs a size, the number of its classes or dimensions")
    if one.is_data and not one.parents:
        raise SpecError(f"node '{one.name}': data needs generative parents, the nodes it is made from")
    if one.is_data and one.labels:
        raise SpecError(f"node '{one.name}': labels belong to latent nodes; data is always observed")
    if not one.is_data and (one.channels or one.pooled or one.recogniser):
        raise SpecError(
            f"node '{one.name}': channels, pooled and recogniser describe how image data is recognised"
        )
    if one.sees and one.is_data:
        raise SpecError(f"node '{one.name}': sees belongs to the nodes that are recognised from the data")
    if one.recogniser not in ("", "faces"):
        raise SpecError(f"node '{one.name}': recogniser is 'faces' or left out, but is {one.recogniser!r}")
    if one.family == "direction" and one.size != 3:
        raise SpecError(f"node '{one.name}': a direction is a vector in space, of size 3, not {one.size}")
    _check_units(one)


def _check_units(one: NodeSpec) -> None:
    """The prior's centre and spread: numbers for each dimension of a Gaussian node."""
    for key in ("centre", "spread"):
        numbers = getattr(one, key)
        if numbers and (one.family != "normal" or one.is_data or len(numbers) != one.size):
            raise SpecError(
                f"node '{one.name}': {key} takes one number for each dimension of a normal latent node, "
                f"but got {len(numbers)} for a {one.family} node of size {one.size}"
            )
    if any(not number > 0 for number in one.spread):
        raise SpecError(f"node '{one.name}': spread must be positive, but is {list(one.spread)}")


def _in_order(parents: dict[str, tuple[str, ...]], model: str, skip: tuple[str, ...]) -> list[str]:
    """Names so that parents come first; refuses cycles."""
    order: list[str] = []
    while len(order) < len(parents):
        ready = [n for n in parents if n not in order and all(p in order or p in skip for p in parents[n])]
        if not ready:
            stuck = ", ".join(n for n in parents if n not in order)
            raise SpecError(f"the {model} model has a cycle among: {stuck}; remove one of their parents")
        order.extend(ready)
    return order


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _tuple(name: str, key: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise SpecError(f"node '{name}': {key} is a list, but got {given!r}")
    return tuple(given)


def _nearest(word: str, words: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(word), [str(w) for w in words], n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
