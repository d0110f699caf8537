"""Genes that change with a variable of a model of cells: along each style dimension, and between two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.core.tracing import trace
from unknot.data.cell_dataset import CellDataset
from unknot.data.factor import known_rows
from unknot.errors import SpecError
from unknot.models.families import family_of
from unknot.workflow.trained_model import TrainedModel

_CELLS = 200  # that an average is over
_PSEUDO = 1e-6  # added to a gene's share of a cell, so that absent genes have no infinite fold change
_SMALL = 0.5  # of a log2 fold change, below which a gene counts as unchanged


@dataclass(frozen=True)
class StyleGenes:
    """How genes change along the style dimensions.

    Attributes
    ----------
    names : tuple of str
        The dimensions, K.
    genes : tuple of str
        The genes, G.
    log2_fold_change : ndarray of shape (K, G)
        From one standard deviation below to one above the mean over cells, averaged over cells.
    """

    names: tuple[str, ...]
    genes: tuple[str, ...]
    log2_fold_change: np.ndarray

    def top(self, count: int = 10) -> dict[str, list[tuple[str, float]]]:
        """Return for each dimension the ``count`` genes that change most, with their log2 fold changes."""
        made = {}
        for name, changes in zip(self.names, self.log2_fold_change, strict=True):
            order = np.argsort(-np.abs(changes), kind="stable")[:count]
            made[name] = [(self.genes[g], float(changes[g])) for g in order]
        return made


@dataclass(frozen=True)
class Differences:
    """Log2 fold changes of all genes between two classes, with intervals over cells and draws.

    Attributes
    ----------
    genes : tuple of str
        The genes, G.
    mean, low, high : ndarray of shape (G,)
        The mean and the ends of the interval of the log2 fold change.
    changed : ndarray of shape (G,)
        The probability that it is beyond ±0.5, in the direction of the mean.
    """

    genes: tuple[str, ...]
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    changed: np.ndarray

    def to_frame(self) -> Any:
        """Return a frame of pandas by gene, the largest changes first."""
        import pandas

        columns = {
            "log2_fold_change": self.mean,
            "low": self.low,
            "high": self.high,
            "probability": self.changed,
        }
        frame = pandas.DataFrame(columns, index=pandas.Index(self.genes, name="gene", dtype=object))
        return frame.iloc[np.argsort(-np.abs(self.mean), kind="stable")]


def style_genes(model: TrainedModel, data: CellDataset, seed: int = 0) -> StyleGenes:
    """Measure how the expected genes change along each dimension of the style.

    Everything else stays as it is predicted for up to 200 cells.

    Parameters
    ----------
    model : TrainedModel
        A model of cells.
    data : CellDataset
        Cells.
    seed : int, default=0
        Seed of the choice of cells.
    """
    batch = data.batch(_chosen(len(data), seed))
    values = model.predict(batch.x, model.known_inputs(batch)).values
    names, rows = [], []
    for node in model.latents:
        if node.labels or not family_of(node).gaussian:
            continue
        code = values[node.name]  # (B, D)
        center, spread = code.mean(0), code.std(0)
        for d in range(code.shape[1]):
            shares = []
            for side in (1.0, -1.0):
                moved = code.clone()
                moved[:, d] = center[d] + side * spread[d]
                shares.append(_shares(model.generate(len(batch), {**values, node.name: moved})))
            names.append(f"{node.name}[{d}]")
            rows.append((shares[0].log2() - shares[1].log2()).mean(0).numpy())
    if not names:
        raise SpecError("the model has no style of numbers, along which genes could change.")
    return StyleGenes(tuple(names), data.columns, np.stack(rows))


def differences(
    model: TrainedModel,
    data: CellDataset,
    factor: str,
    first: Any,
    second: Any,
    draws: int = 500,
    level: float = 0.9,
    seed: int = 0,
) -> Differences:
    """Compare the expected genes of two classes, ``first`` over ``second``, on the scale of log2.

    A draw takes a random cell of each class (by its label, or else its predicted class) and a draw of its other
    variables from the encoder, and compares the genes' shares that the decoder expects:

        log2 (share_g(first) + 1e-6) - log2 (share_g(second) + 1e-6).

    The interval holds the share ``level`` of the draws, so it contains how cells of a class differ, and not only how
    sure the mean is.

    Parameters
    ----------
    model : TrainedModel
        A model of cells.
    data : CellDataset
        Cells of both classes.
    factor : str
        The factor.
    first, second
        Two of its classes.
    draws : int, default=500
        The number of draws.
    level : float, default=0.9
        The share of the draws in the interval.
    seed : int, default=0
        Seed of the draws; torch's global generator is kept.
    """
    node = model.node(factor)
    if not node.labels or family_of(node).class_count(node.size or 0) < 2:
        raise SpecError(f"differences are between two classes of a factor, but '{factor}' has none.")
    codes = [int(model.value(factor, one, 1)[0]) for one in (first, second)]
    labels = _classes_of(model, data, factor)
    sides = []
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        for code, name in zip(codes, (first, second), strict=True):
            rows = (labels == code).nonzero()[:, 0]
            if not len(rows):
                raise SpecError(
                    f"no cell is of the class {name!r} of '{factor}'; give cells of both classes."
                )
            chosen = rows[torch.randint(len(rows), (draws,))]
            parts = []
            for some in chosen.split(_CELLS):
                batch = data.batch(some)
                known = {factor: torch.full((len(some),), code), **(model.known_inputs(batch) or {})}
                q = trace(model.program.encode, batch.x, known)
                parts.append(_shares(model.program.expected_data(q)))
            sides.append(torch.cat(parts).log2())
    change = (sides[0] - sides[1]).numpy()  # (draws, G)
    low, high = np.quantile(change, [(1 - level) / 2, (1 + level) / 2], axis=0)
    mean = change.mean(0)
    changed = (np.sign(mean) * change > _SMALL).mean(0)
    return Differences(data.columns, mean, low, high, changed)


def _chosen(count: int, seed: int) -> Tensor:
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:_CELLS].sort().values


def _classes_of(model: TrainedModel, data: CellDataset, factor: str) -> Tensor:
    """Return the class of each cell: its label, or its predicted class."""
    from unknot.workflow.evaluation import class_probabilities, predict_dataset

    predicted = torch.from_numpy(
        class_probabilities(predict_dataset(model, data).predictions[factor]).argmax(1)
    )
    if factor not in data.factors:
        return predicted
    values = data.factors[factor].values
    return torch.where(known_rows(values), values, predicted)


def _shares(cells: Tensor) -> Tensor:
    """Return the genes' shares ``(B, G)`` of expected cells, and a small one for absent genes."""
    return cells.clamp_min(0) / cells.clamp_min(0).sum(-1, keepdim=True).clamp_min(1e-30) + _PSEUDO
