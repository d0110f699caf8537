"""The images of a report: reconstructions, analogies, traversals and samples, with titles and captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.objectives.diagnostics import UNUSED_BELOW
from unknot.workflow import pictures
from unknot.workflow.data_summary import drawn_in_ink
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.trained_model import TrainedModel

_SHOWN = 10  # items in a row of pictures
_VARIED = 6  # items of an analogy
_SAMPLED = 4  # rows of new items
_MOST_CLASSES = 12  # columns of an analogy
_STEPS = 9  # of a traversal
_GRIDS = 4  # items whose style is varied in two dimensions


@dataclass(frozen=True)
class Picture:
    """Images in rows and columns, and what they show.

    Parameters
    ----------
    title, caption : str
        The heading, and how to interpret the images.
    images : ndarray
        Between 0 and 1, ``(R, C, colors, H, W)``.
    columns, rows : tuple of str
        The names of columns and rows.
    separate_first : bool
        Whether there is space after the first column.
    wide : bool
        Whether it takes the whole width of the page, or half of it.
    ink : bool
        Whether bright pixels are drawn dark, as ink on paper.
    boxes : tuple of ndarray and list, or None
        Boxes on the first row, ``(C, K, 3)``, and their labels.
    about_change : bool
        Whether it shows what changes with a factor.
    """

    title: str
    caption: str
    images: np.ndarray
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    separate_first: bool = False
    wide: bool = False
    ink: bool = True
    boxes: tuple[np.ndarray, list[list[str]]] | None = None
    about_change: bool = False


def gallery(model: TrainedModel, data: Dataset, dimensions: Sequence[tuple[str, float]]) -> list[Picture]:
    """Reconstructions, analogies of every factor, grids and traversals of every Gaussian node, new items."""
    x = data.batch(_items(model, data)).x
    ink = drawn_in_ink(x.numpy())
    panels = [
        Picture(
            "Reconstructions",
            "Items above, their reconstructions below.",
            pictures.reconstructions(model, x),
            rows=("item", "model"),
            wide=True,
            ink=ink,
        )
    ]
    parts = pictures.parts(model, x)
    if parts is not None:
        caption = "The items, with boxes around the parts if the model has positions; and each part alone."
        names = ("item", *(f"part {k + 1}" for k in range(len(parts))))
        shown, around = np.concatenate([x.numpy()[None], parts]), pictures.boxes(model, x)
        panels.append(Picture("Parts", caption, shown, rows=names, wide=True, ink=ink, boxes=around))
    for node in model.settable:
        panels += _analogies(model, x[:_VARIED], node, ink)
    for node in model.settable:
        if family_of(node).gaussian:
            panels += _grids(model, data, x, node, dimensions, ink)
            panels += _traversals(model, x, node, dimensions, ink)
    return [*panels, _samples(model, data, ink)]


def _items(model: TrainedModel, data: Dataset) -> list[int]:
    """Rows to show: one item of each class of the first factor that has classes, or the first ones."""
    count = min(_SHOWN, len(data))
    for node in _with_classes(model, data):
        return pictures.one_of_each(data.factors[node.name].values, count)
    return list(range(count))


def _with_classes(model: TrainedModel, data: Dataset) -> list[NodeSpec]:
    nodes = [n for n in model.settable if n.labels and has_classes(n) and n.name in data.factors]
    return [n for n in nodes if (n.size or 0) <= _MOST_CLASSES]


def _analogies(model: TrainedModel, x: Tensor, node: NodeSpec, ink: bool) -> list[Picture]:
    """Visual analogies: the factor set to each class, or a direction to angles from left to right."""
    settings = family_of(node).settings(node.size or 0) if node.labels else None
    if settings is None or len(settings.values) > _MOST_CLASSES:
        return []
    names = settings.names
    if has_classes(node):  # the model's own names: the items may have no labels
        names = class_names(model.data.factors[node.name], len(settings.values))
    caption = (
        f"Left, an item. Right, the same item with {node.name} set to each value in turn and everything else kept: "
        f"down a column {node.name} should be the same, along a row the rest."
    )
    images = pictures.analogies(model, x, node.name, settings.values)
    columns = ("item", *names)
    return [
        Picture(
            f"Analogies: {node.name}",
            caption,
            images,
            columns,
            separate_first=True,
            wide=True,
            ink=ink,
            about_change=True,
        )
    ]


def _grids(
    model: TrainedModel,
    data: Dataset,
    x: Tensor,
    node: NodeSpec,
    dimensions: Sequence[tuple[str, float]],
    ink: bool,
) -> list[Picture]:
    """The two most informative dimensions against each other, for a few items of different classes."""
    ranked = [dimension for dimension, _ in _dimensions_of(node, dimensions)]
    if len(ranked) < 2 or node.labels:
        return []
    down, across = ranked[0], ranked[1]
    caption = (
        f"One item. Its two most informative dimensions of {node.name} varied over standard deviations of the "
        f"prior, {node.name}[{down}] down and {node.name}[{across}] across, everything else kept."
    )
    marks = _marks()
    panels: list[Picture] = []
    for i in np.unique(np.linspace(0, len(x) - 1, _GRIDS).astype(int)):
        images = pictures.style_grid(model, x[i : i + 1], node, (down, across), _STEPS)
        title = f"{_capital(node.name)} grid {len(panels) + 1}"
        panels.append(
            Picture(
                title, caption if not panels else "The same for another item.", images, marks, marks, ink=ink
            )
        )
    return panels


def _traversals(
    model: TrainedModel, x: Tensor, node: NodeSpec, dimensions: Sequence[tuple[str, float]], ink: bool
) -> list[Picture]:
    """Each used dimension alone."""
    ranked = _dimensions_of(node, dimensions)
    used = [d for d, nats in ranked if nats >= UNUSED_BELOW][:_SHOWN] or [d for d, _ in ranked[:3]]
    caption = (
        f"One item. One dimension of {node.name} varied over standard deviations of the prior in each row, the "
        "most informative first."
    )
    if len(used) < len(ranked):
        caption += f" The other {len(ranked) - len(used)} have almost no information."
    images = pictures.traversals(model, x, node, used, _STEPS)
    rows = tuple(f"{node.name}[{d}]" for d in used)
    return [Picture(f"Traversals of {node.name}", caption, images, _marks(), rows, ink=ink)]


def _dimensions_of(node: NodeSpec, dimensions: Sequence[tuple[str, float]]) -> list[tuple[int, float]]:
    """The dimensions of one node with their nats, most informative first."""
    parts = [(*name.removesuffix("]").rpartition("["), nats) for name, nats in dimensions]
    return [(int(dimension), nats) for name, _, dimension, nats in parts if name == node.name]


def _marks() -> tuple[str, ...]:
    """Standard deviations along a traversal; every other one has a name."""
    marks = np.linspace(-pictures.SPREAD, pictures.SPREAD, _STEPS)
    return tuple(f"{mark:g}" if i % 2 == 0 else "" for i, mark in enumerate(marks))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _samples(model: TrainedModel, data: Dataset, ink: bool) -> Picture:
    for node in _with_classes(model, data):
        caption = f"Samples: {node.name} set by column, everything else drawn from the prior, once per row."
        names = class_names(data.factors[node.name], node.size or 0)
        images = pictures.samples_by_class(model, node, _SAMPLED)
        return Picture("Samples", caption, images, columns=names, wide=True, ink=ink, about_change=True)
    caption = "Samples, every node drawn from its prior."
    return Picture("Samples", caption, pictures.samples(model, _SAMPLED, _SHOWN), wide=True, ink=ink)
