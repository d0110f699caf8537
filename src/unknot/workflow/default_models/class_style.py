"""ClassStyle: the class-and-style model of a data set, the default where no other one suits.

A factor is a node, a style is what the factors leave over, and the data are generated from all of them (S17). What the
nodes of any described model take from the data is here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import StoredItems
from unknot.errors import SpecError
from unknot.models.augment import AUGMENT
from unknot.models.by_name import Named
from unknot.models.ensemble.spec import free_name
from unknot.models.families import FAMILIES, family_of, node_for_labels
from unknot.models.likelihoods import data_family, likelihood_of
from unknot.models.likelihoods.table import describe_columns
from unknot.models.node_spec import NODE
from unknot.models.spec import MODEL_SETTINGS, ModelSpec, NodeSpec, check_spec, node
from unknot.schema import flag, left_out_or, setting, whole
from unknot.workflow.default_models.base import NOTHING, DefaultModel, with_regularizers
from unknot.workflow.labels import class_count, has_classes, raters_of, share_of_labels

STEPS, BATCH_SIZE, ALPHA = 1000, 256, 20.0
_COLUMN_NUMBERS = 1 << 25  # numbers of the columns that are described together, where rows stay in a file


@dataclass(frozen=True)
class ClassStyle(DefaultModel):
    """The class-and-style model, see :func:`class_style_spec`."""

    name: ClassVar[str] = "class_style"
    style: int = setting(whole(1, 10**5), "dimensions of what the factors leave over", 10)
    gradient: str | None = setting(NODE["properties"]["gradient"], "gradient of factors with classes", None)
    separate: bool = setting(flag(), "keep the factors out of the style", False)
    x: Mapping[str, Any] | None = setting(
        left_out_or({**NODE, "required": []}), "further settings of the data node", None
    )
    augment: str | Mapping[str, float] | None = setting(
        left_out_or(AUGMENT), "how training images are jittered", None
    )
    width: int = setting(MODEL_SETTINGS["width"], "width of hidden layers", 256)
    temperature: float = setting(MODEL_SETTINGS["temperature"], "temperature of relaxed draws", 0.66)
    samples: int | None = setting(MODEL_SETTINGS["samples"], "draws of the encoder in a training step", None)

    # Swapped factors are predicted as they were set, and the dependence of the style on the factors is penalized.
    SEPARATE: ClassVar[Mapping[str, float]] = {"swap": 1.0, "independence": 1000.0}

    def spec(self, data: Dataset) -> ModelSpec:
        return class_style_spec(data, **{f.name: getattr(self, f.name) for f in fields(self)})

    def training(self, data: Dataset, given: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        made = super().training(data, given)
        if self.separate:
            made["objective"] = with_regularizers(made["objective"], self.SEPARATE)
        return made

    def _training(self, data: Dataset) -> dict[str, Any]:
        return {
            "steps": STEPS,
            "batch_size": min(BATCH_SIZE, len(data)),
            "labeled_share": share_of_labels(data),
            "objective": {"name": "semi_supervised", "alpha": ALPHA} if data.factors else "elbo",
        }


def class_style_spec(
    data: Dataset,
    style: int = 10,
    gradient: str | None = None,
    separate: bool = False,
    x: Mapping[str, Any] | None = None,
    **settings: Any,
) -> ModelSpec:
    """Describe the class-and-style model of a data set.

    All factors are inferred from the data. Factors with classes may depend on each other: each has those before it as
    parents and is inferred from them too, so labels of one inform about another even if no item has both (a digit, and
    whether it is odd). Continuous factors are independent a priori. What is given is a parent
    of the data, and every other node is inferred from it too. The style is inferred from the data and the
    factors. A factor called "style" or "x" keeps its name; the node of the model gets a trailing underscore.

    Parameters
    ----------
    data : Dataset
        The training data.
    style : int, default=10
        Dimensions of the style.
    gradient : str, optional
        The gradient of the factors with classes; by default that of their family.
    separate : bool, default=False
        Whiten the style within the classes of the only factor with classes, if there is one.
    x : mapping, optional
        Further settings of the data node.
    **settings
        Settings of the model as a whole, see :class:`~unknot.models.spec.ModelSpec`.

    Returns
    -------
    ModelSpec
    """
    taken = [*data.factors, *data.given]
    rest, items = free_name("style", taken), free_name("x", taken)
    nodes: list[NodeSpec] = []
    for name, factor in data.factors.items():
        described = factor_node(factor)
        discrete = FAMILIES[described["family"]].has_classes
        before = tuple(one.name for one in nodes if has_classes(one)) if discrete else ()
        nodes.append(
            node(
                name,
                **described,
                parents=before,
                inferred_from=[items, *before],
                labels=True,
                raters=raters_of(factor),
                gradient=gradient if discrete else None,
            )
        )
    known = [node(name, **factor_node(factor), given=True) for name, factor in data.given.items()]
    nodes = [replace(one, inferred_from=(*one.inferred_from, *data.given)) for one in nodes]
    within = _whitened_within(nodes) if separate else ""
    encoder = {"name": "mlp", "whiten": within} if within else None
    sources = [items, *data.factors, *data.given]
    nodes.append(node(rest, "normal", style, inferred_from=sources, encoder=encoder))
    family: Any = _data_family(data)
    if data.table:
        family = {"name": family, "columns": list(columns_of(data))}
    likelihood = {"family": family, "parents": [*data.factors, rest, *data.given]}
    nodes.append(node(items, **{**likelihood, **(x or {})}))
    return check_spec(ModelSpec((*known, *nodes), **settings))


def factor_node(factor: Factor) -> dict[str, Any]:
    """Return family, size and units of the node that suits a factor's labels."""
    classes = None if factor.kind == "continuous" else class_count(factor)
    return node_for_labels(factor.kind, factor.values[factor.known], classes)


def _whitened_within(factors: list[NodeSpec]) -> str:
    """The only factor with classes, if its draws tell an item's class."""
    if not factors:
        raise SpecError(
            "model: separate keeps labeled factors out of the style, but the data have no labels; leave it out."
        )
    discrete = [one for one in factors if has_classes(one)]
    if len(discrete) != 1:
        return ""
    gradient = discrete[0].gradient or family_of(discrete[0]).default_gradient
    return "" if gradient == "enumerate" else discrete[0].name


# ---- the data node -----------------------------------------------------------------------------------------


def with_columns(spec: ModelSpec, data: Dataset) -> ModelSpec:
    """Add the columns of the data's table to a described model whose table node names none."""
    family = spec.data.family
    if not likelihood_of(spec.data).takes_columns or family.options.get("columns") or not data.table:
        return spec
    table = replace(
        spec.data, family=Named(family.name, {**family.options, "columns": list(columns_of(data))})
    )
    return replace(spec, nodes=tuple(table if n.is_data else n for n in spec.nodes))


def columns_of(data: Dataset) -> tuple[Mapping[str, Any], ...]:
    """Describe the columns of a table: name, kind, and mean and spread or number of categories."""
    assert isinstance(data.x, Tensor | StoredItems)
    step = len(data.table)
    if isinstance(data.x, StoredItems):
        step = max(1, _COLUMN_NUMBERS // max(1, len(data)))
    described: tuple[Mapping[str, Any], ...] = ()
    for start in range(0, len(data.table), step):
        some = data.table[start : start + step]
        rows = data.x if isinstance(data.x, Tensor) else data.x.columns(start, start + step)
        sizes = [len(c.classes) for c in some]
        described += describe_columns([c.kind for c in some], rows, [c.name for c in some], sizes)
    return described


def _data_family(data: Dataset) -> str:
    if isinstance(data.x, Tensor):
        return data_family(data.x, table=bool(data.table))
    if isinstance(data.x, StoredItems):  # the extremes tell the family of all items, unless their type does
        rows = data.x[:1] if data.x.dtype == torch.uint8 else data.x.extremes()
        return data_family(rows, table=bool(data.table))
    if isinstance(data, CellDataset) and data.are_counts:
        return "negative_binomial"
    return "multinomial" if isinstance(data.x, SparseCounts) else "bernoulli"
