"""A model as data: nodes, their families and sizes, their parents in both directions; read and checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from unknot.errors import SpecError
from unknot.models import evidence
from unknot.models.families import FAMILIES
from unknot.models.likelihoods import LIKELIHOODS
from unknot.models.node_spec import NodeSpec, node
from unknot.models.spec_schema import IMAGE_ENCODERS, MODEL, MODEL_SETTINGS
from unknot.models.yaml_file import read_yaml
from unknot.schema import check, table
from unknot.suggest import did_you_mean

MODEL_KEYS = tuple(MODEL_SETTINGS)  # of a model, beside its nodes


@dataclass(frozen=True)
class ModelSpec:
    """All nodes of a model, checked, in generative order.

    Arguments:
        nodes: the nodes.
        augment: how training images are jittered: "affine", "elastic", or amounts by name; None: not at all.
        agreement: weight of reading an item's jittered view as the item itself (:mod:`unknot.models.agreement`).
        confidence: readings less sure than this do not count for the agreement.
        critic: price of what a critic reads of the labeled nodes in the others (:mod:`unknot.models.critic`).
        independence: price of what labeled nodes and the others have to do with each other
            (:mod:`unknot.models.independence`).
        swap: weight of reading items made with others' factors as they were made (:mod:`unknot.models.swap`).
        swap_teaches: how much the generator learns of making the rest of such items easy to read, beside the factors.
        width: of default hidden layers.
        temperature: of relaxed draws.
        samples: draws of the recognition program in a training step; None: one, without an axis.
        recognition_order: the latent nodes so that each comes after what it is recognized from; found by the check.
    """

    nodes: tuple[NodeSpec, ...]
    augment: str | Mapping[str, float] | None = None
    agreement: float = 0.0
    confidence: float = 0.95
    critic: float = 0.0
    independence: float = 0.0
    swap: float = 0.0
    swap_teaches: float = 1.0
    width: int = 256
    temperature: float = 0.66
    samples: int | None = None
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
    def labeled(self) -> list[NodeSpec]:
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
    if not isinstance(source, Mapping | Iterable):
        raise SpecError(f"a model is a dictionary, a YAML file or a list of nodes, but got {source!r}.")
    if not isinstance(source, Mapping):
        return check_spec(ModelSpec(tuple(source)))
    check(source, MODEL, "model")
    nodes = [node(str(name), **settings) for name, settings in source["nodes"].items()]
    rest = {key: value for key, value in source.items() if key != "nodes"}
    return check_spec(ModelSpec(tuple(nodes), **rest))


def check_spec(spec: ModelSpec) -> ModelSpec:
    """Refuse descriptions that are no model, naming the node; put nodes in generative order."""
    names = [n.name for n in spec.nodes]
    check({key: getattr(spec, key) for key in MODEL_KEYS}, table(MODEL_SETTINGS, "settings"), "model")
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
            f"a model has one data node, the one without inferred_from, but found: {found}. A latent node "
            "needs inferred_from, the nodes it is inferred from; several data columns go into a table node"
        )
    for one in spec.nodes:
        _check_whitening(one, spec)
        _check_evidence(one, spec)
        if data[0].name in one.parents:
            raise SpecError(f"node '{one.name}': data ('{data[0].name}') cannot be a generative parent")
    generative = _in_order({n.name: n.parents for n in spec.nodes}, "generative", skip=())
    recognition = _in_order(
        {n.name: n.inferred_from for n in spec.nodes if not n.is_data}, "recognition", skip=(data[0].name,)
    )
    by_name = {n.name: n for n in spec.nodes}
    return replace(spec, nodes=tuple(by_name[n] for n in generative), recognition_order=tuple(recognition))


def _check_node(one: NodeSpec, names: list[str]) -> None:
    _check_family(one)
    for key in ("parents", "inferred_from"):
        for parent in getattr(one, key):
            if parent not in names:
                raise SpecError(
                    f"node '{one.name}': unknown node '{parent}' in {key}; {did_you_mean(parent, names)}"
                )
    if not one.is_data and (one.size is None or one.size < 1):
        raise SpecError(f"node '{one.name}': needs a size, the number of its classes or dimensions")
    if one.is_data and not one.parents:
        raise SpecError(f"node '{one.name}': data needs generative parents, the nodes it is made from")
    if one.is_data and one.labels:
        raise SpecError(f"node '{one.name}': labels belong to latent nodes; data is always observed")
    if not one.is_data and (
        one.channels or one.pooled or one.dropout is not None or one.encoder in IMAGE_ENCODERS
    ):
        *first, last = IMAGE_ENCODERS
        raise SpecError(
            f"node '{one.name}': channels, pooled, dropout and the encoders {', '.join(first)} and {last} "
            "describe how image data is recognized"
        )
    if one.pixels > 1 and not (one.is_data and one.family == "bernoulli"):
        raise SpecError(
            f"node '{one.name}': pixels says how many pixels each number of bernoulli data is the mean of"
        )
    if one.color_scale is not None and not (one.is_data and one.family == "normal"):
        raise SpecError(f"node '{one.name}': color_scale is of normal data, images in color")
    if one.components and not (one.is_data and one.family == "normal" and one.generator != "posed"):
        raise SpecError(f"node '{one.name}': components are of normal data that are not posed")
    if one.encoder == "components" and not one.components:
        raise SpecError(f"node '{one.name}': encoder components reads components of the data; say how many")
    if one.encoder == "bayes" and (one.is_data or one.family != "categorical"):
        raise SpecError(
            f"node '{one.name}': encoder bayes is for a categorical node that words are made from"
        )
    if one.weights and one.family != "multinomial":
        raise SpecError(f"node '{one.name}': weights are of words (multinomial), not of {one.family} data")
    if one.generator and not (one.is_data and LIKELIHOODS[one.family].entrywise):
        raise SpecError(f"node '{one.name}': generator says how images and other numbers are made")
    if one.activation and not (one.is_data and one.hidden and LIKELIHOODS[one.family].entrywise):
        raise SpecError(
            f"node '{one.name}': activation is of the hidden layers by which images and other numbers are made"
        )
    if one.sees and one.is_data:
        raise SpecError(f"node '{one.name}': sees belongs to the nodes that are recognized from the data")
    (LIKELIHOODS if one.is_data else FAMILIES)[one.family].check_node(one)


def _check_evidence(one: NodeSpec, spec: ModelSpec) -> None:
    if one.evidence and (reason := evidence.why_not(one, spec.nodes)):
        raise SpecError(
            f"node '{one.name}': evidence is weighed in the recognition of a model's one node of classes, from the "
            f"data alone, but this node {reason}; leave it out"
        )
    if not one.evidence and (one.evidence_steps or one.evidence_below < 1):
        raise SpecError(
            f"node '{one.name}': evidence_steps and evidence_below say how evidence is found; give it a weight too, "
            "for instance evidence: 0.2"
        )


def _check_whitening(one: NodeSpec, spec: ModelSpec) -> None:
    if not one.whiten:
        return
    suits = one.family == "normal" and one.whiten in one.inferred_from and not one.labels
    if not suits or spec[one.whiten].is_data or not FAMILIES[spec[one.whiten].family].has_classes:
        raise SpecError(
            f"node '{one.name}': whiten is for a normal node without labels, and names a node of classes that it is "
            f"recognized from, but got '{one.whiten}' for a {one.family} node recognized from "
            f"{', '.join(one.inferred_from) or 'nothing'}"
        )
    gradient = spec[one.whiten].gradient or FAMILIES[spec[one.whiten].family].default_gradient
    if gradient == "enumerate":
        raise SpecError(
            f"node '{one.name}': whiten takes the moments of draws of '{one.whiten}', which is enumerated; "
            "choose another gradient"
        )


def _check_family(one: NodeSpec) -> None:
    families: Collection[str] = LIKELIHOODS if one.is_data else FAMILIES
    if one.family in families:
        return
    kind = "data" if one.is_data else "latent"
    hint = ""
    if one.is_data and one.family in FAMILIES:
        hint = " A latent node says what it is inferred from: inferred_from."
    raise SpecError(
        f"node '{one.name}': family '{one.family}' is not one of the {kind} families; "
        f"{did_you_mean(one.family, families)}{hint}"
    )


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
