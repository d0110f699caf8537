"""Images made by a model, as arrays: reconstructions, parts, analogies, style grids, traversals, samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.workflow.labels import class_names
from unknot.workflow.trained_model import TrainedModel

SPREAD = 2.0  # standard deviations of the prior that a varied dimension covers on each side


def reconstructions(model: TrainedModel, x: Tensor) -> np.ndarray:
    """Return items (first row) and their reconstructions (second row), ``(2, N, ...)``."""
    return torch.stack([x, model.reconstruct(x)]).numpy()


def parts(model: TrainedModel, x: Tensor) -> np.ndarray | None:
    """Return the parts of items, each alone, ``(K, N, ...)``; None if the program has no parts."""
    with torch.no_grad():
        drawn = model.program.parts(model.mode_trace(x))
    return None if drawn is None else drawn.cpu().transpose(0, 1).numpy()


def boxes(model: TrainedModel, x: Tensor) -> tuple[np.ndarray, list[list[str]]] | None:
    """Return the places of the parts ``(N, K, 3)``, see :meth:`unknot.core.program.Program.boxes`, and their names.

    None if the program has no parts.
    """
    with torch.no_grad():
        located = model.program.boxes(model.mode_trace(x))
    if located is None:
        return None
    places, factors = located
    predictions = model.predict(x).predictions
    classes = torch.stack([predictions[name].argmax(-1) for name in factors], 1)  # (N, K)
    names = [_class_names(model, name, predictions[name].shape[1]) for name in factors]
    words = [
        [class_names_of[i] for class_names_of, i in zip(names, row, strict=True)] for row in classes.tolist()
    ]
    return places.cpu().numpy(), words


def analogies(model: TrainedModel, x: Tensor, name: str, settings: Tensor) -> np.ndarray:
    """Return each item, and the same item with one factor set to each setting, ``(N, 1 + K, ...)`` (S17 Fig. 2a).

    Settings are class indices ``(K,)`` or vectors ``(K, D)``.
    """
    return torch.cat([x.unsqueeze(1), model.vary(x, name, settings)], 1).numpy()


def style_grid(
    model: TrainedModel, x: Tensor, style: NodeSpec, dimensions: tuple[int, int], steps: int = 9
) -> np.ndarray:
    """Return one item with two style dimensions varied, ``(steps, steps, ...)`` (S17 Fig. 2b)."""
    down, across = torch.meshgrid(
        _sweep(style, dimensions[0], steps), _sweep(style, dimensions[1], steps), indexing="ij"
    )
    values = _repeated(model.predict(x[:1]).values, steps * steps)
    code = values[style.name].clone()
    code[:, dimensions[0]], code[:, dimensions[1]] = down.flatten(), across.flatten()
    made = model.generate(steps * steps, {**values, style.name: code})
    return made.reshape(steps, steps, *made.shape[1:]).numpy()


def class_grid(
    model: TrainedModel,
    factor: NodeSpec,
    k: int,
    style: NodeSpec,
    dimensions: tuple[int, int],
    steps: int = 9,
) -> np.ndarray:
    """Return new items of class k over two style dimensions, the others at the prior mean, ``(steps, steps, ...)``.

    Both dimensions take the quantiles of the prior from 5 to 95 % (S17 Fig. 2b, S16 Fig. 3), so that equal shares of
    all items lie between two lines of the grid.
    """
    quantiles = torch.special.ndtri(torch.tensor(grid_quantiles(steps), dtype=torch.float64)).float()
    down, across = torch.meshgrid(quantiles, quantiles, indexing="ij")
    standard = torch.zeros(steps * steps, style.size or 0)
    standard[:, dimensions[0]], standard[:, dimensions[1]] = down.flatten(), across.flatten()
    code = family_of(style).from_standard(style, standard)
    made = model.generate(len(code), {factor.name: torch.full((len(code),), k), style.name: code})
    return made.reshape(steps, steps, *made.shape[1:]).numpy()


def grid_quantiles(steps: int) -> list[float]:
    """Return the quantiles of the prior in a class grid, from 5 to 95 %."""
    return [round(share, 4) for share in np.linspace(0.05, 0.95, steps).tolist()]


def one_of_each(classes: Tensor, count: int) -> list[int]:
    """Choose rows to show: the first item of each class, then the others in order (-1 is no class)."""
    classes = classes.cpu()
    firsts = [int((classes == k).nonzero()[0]) for k in classes[classes >= 0].unique()]
    others = [row for row in range(len(classes)) if row not in firsts]
    return [*firsts, *others][:count]


def traversals(
    model: TrainedModel, x: Tensor, style: NodeSpec, dimensions: list[int], steps: int = 9
) -> np.ndarray:
    """Return one item with one style dimension varied in each row, ``(D, steps, ...)`` (E19 Fig. 4 left)."""
    values = _repeated(model.predict(x[:1]).values, steps)
    rows = []
    for dimension in dimensions:
        code = values[style.name].clone()
        code[:, dimension] = _sweep(style, dimension, steps)
        rows.append(model.generate(steps, {**values, style.name: code}))
    return torch.stack(rows).numpy()


def samples(model: TrainedModel, rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Return items drawn from the prior, ``(rows, columns, ...)``."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = model.generate(rows * columns, {})
    return made.reshape(rows, columns, *made.shape[1:]).numpy()


def samples_by_class(model: TrainedModel, factor: NodeSpec, rows: int, seed: int = 0) -> np.ndarray:
    """Return new items ``(rows, K, ...)``: a class in each column, and in each row one draw of everything else."""
    columns = []
    for k in range(factor.size or 0):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)  # the same draws of everything else for every class
            columns.append(model.generate(rows, {factor.name: torch.full((rows,), k)}))
    return torch.stack(columns, 1).numpy()


def _sweep(node: NodeSpec, dimension: int, steps: int) -> Tensor:
    """Return values of one dimension across the prior."""
    standard = torch.zeros(steps, node.size or 0)
    standard[:, dimension] = torch.linspace(-SPREAD, SPREAD, steps)
    return family_of(node).from_standard(node, standard)[:, dimension]


def _repeated(values: Mapping[str, Tensor], times: int) -> dict[str, Tensor]:
    return {name: value.expand(times, *value.shape[1:]) for name, value in values.items()}


def _class_names(model: TrainedModel, name: str, count: int) -> Sequence[str]:
    """Return the class names of a factor, or numbers if it has none."""
    factor = model.data.factors.get(name)
    return [str(i) for i in range(count)] if factor is None else class_names(factor, count)
