"""Sections about cells: the genes that change along the style, and a map of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.models.families import family_of
from unknot.plots.style import COLORS, INK, new_figure, quiet
from unknot.report.section import Section, TextTable
from unknot.workflow.answers import p_values
from unknot.workflow.cell_genes import StyleGenes, style_genes
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.labels import class_names
from unknot.workflow.trained_model import TrainedModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOP, _SHOWN, _MOST_CELLS = (
    8,
    4,
    2000,
)  # genes of a dimension in the table and in the heat map; cells of the map


def cell_sections(model: TrainedModel, data: Dataset) -> list[Section]:
    """Return the sections; none for data that are no cells."""
    if not isinstance(data, CellDataset):
        return []
    made = [_map(model, data)]
    if any(not node.labels and family_of(node).gaussian for node in model.latents):
        genes = style_genes(model, data)
        made += [_heat_map(genes), _table(genes)]
    return made


def _table(genes: StyleGenes) -> Section:
    rows = tuple(
        (name, ", ".join(f"{gene} {change:+.2f}" for gene, change in found))
        for name, found in genes.top(_TOP).items()
    )
    caption = (
        "Log2 fold change of the expected genes from one standard deviation below to one above the mean of the "
        "dimension, with everything else as predicted."
    )
    return Section("Genes of the style", caption, table=TextTable(("dimension", "genes"), rows), wide=True)


def _heat_map(genes: StyleGenes) -> Section:
    names = list(dict.fromkeys(gene for found in genes.top(_SHOWN).values() for gene, _ in found))
    place = {gene: i for i, gene in enumerate(genes.genes)}
    values = genes.log2_fold_change[:, [place[name] for name in names]]  # (K, genes)
    figure = new_figure(max(4.0, 0.16 * len(names) + 1.5), 0.22 * len(genes.names) + 1.6)
    axes = figure.subplots()
    reach = float(np.abs(values).max()) or 1.0
    image = axes.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto")
    axes.set_yticks(range(len(genes.names)), genes.names, fontsize=7, color=INK)
    axes.set_xticks(range(len(names)), names, fontsize=6, color=INK, rotation=90)
    figure.colorbar(image, ax=axes, label="log2 fold change")
    caption = f"The {_SHOWN} genes that change most along each dimension, for all dimensions."
    return Section("Genes by style dimension", caption, figure=figure, wide=True)


def _map(model: TrainedModel, data: CellDataset) -> Section:
    """Draw the first two principal components of the embedding, by type, by what is given, and by novelty."""
    rows = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))[:_MOST_CELLS].sort().values
    some = data.subset(rows)
    batch = some.batch(range(len(some)))
    predictions = model.predict(batch.x, model.known_inputs(batch)).predictions
    code = torch.cat([predictions[node.name] for node in model.latents], 1).double()
    center = code - code.mean(0)
    points = (center @ torch.linalg.svd(center, full_matrices=False).Vh[:2].T).numpy()
    panels: list[tuple[str, np.ndarray, tuple[str, ...]]] = []
    for node in model.labeled:
        factor = model.data.factors[node.name]
        if factor.kind != "continuous":
            shares = class_probabilities(predictions[node.name].numpy())
            names = tuple(class_names(factor, shares.shape[1]))
            panels.append((f"predicted {node.name}", shares.argmax(1), names))
    for name, given in some.given.items():
        if given.classes is not None:
            panels.append((name, given.values.numpy(), given.classes))
    figure = new_figure(4.6 * (len(panels) + (model.novelty is not None)), 4.2)
    axes = np.atleast_1d(figure.subplots(1, len(panels) + (model.novelty is not None)))
    for one, (title, values, names) in zip(axes, panels, strict=False):
        _scatter(one, points, title, values, names)
    if model.novelty is not None:
        shown = axes[-1].scatter(
            points[:, 0], points[:, 1], c=p_values(model, batch.x), s=5, cmap="viridis", vmin=0
        )
        figure.colorbar(shown, ax=axes[-1], label="p-value")
        axes[-1].set_title("novelty", fontsize=9, color=INK)
        quiet(axes[-1])
    caption = "The first two principal components of the predictions and codes of the cells."
    return Section("Map of the cells", caption, figure=figure, wide=True)


def _scatter(axes: Axes, points: np.ndarray, title: str, values: np.ndarray, names: tuple[str, ...]) -> None:
    for k, name in enumerate(names):
        here, marker = values == k, "os^Dv"[k // len(COLORS) % 5]
        axes.scatter(
            points[here, 0],
            points[here, 1],
            s=6,
            color=COLORS[k % len(COLORS)],
            marker=marker,
            label=name,
            linewidths=0,
        )
    axes.set_title(title, fontsize=9, color=INK)
    axes.legend(fontsize=6, markerscale=2, frameon=False)
    quiet(axes)
