"""Codes of items with their known factors: from a trained model, and in a file for scores of disentanglement.

A file is an .npz archive with one row per item: arrays ``codes`` and ``factors``, or one array for each, ``code.NAME``,
``probabilities.NAME`` (rows q(c|x) of a categorical code) and ``factor.NAME``. ``divergence.NAME``, one number per
dimension of the code, is its KL divergence from the prior and tells whether it is used. `unknot metrics` reads it, and
a sweep writes one for each run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, kl_divergence

from unknot.core.handlers import modes
from unknot.core.relaxed import Concrete
from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.stored_arrays import open_npz
from unknot.errors import DataError
from unknot.files import atomic_file
from unknot.metrics import Probabilities
from unknot.models.families import family_of
from unknot.objectives.diagnostics import information
from unknot.workflow.evaluation import DatasetPrediction, class_probabilities, predict_dataset
from unknot.workflow.labels import has_classes
from unknot.workflow.trained_model import TrainedModel, items_at_once


@dataclass(frozen=True)
class Codes:
    """Codes and factors of the same items.

    Attributes
    ----------
    codes, factors : mapping from str to array or Probabilities
        ``(N,)``, ``(N, D)``, or rows q(c|x).
    divergences : mapping from code to array
        The KL divergence of each dimension from the prior, ``(D,)``.
    """

    codes: Mapping[str, Any]
    factors: Mapping[str, Any] = field(default_factory=dict)
    divergences: Mapping[str, np.ndarray] = field(default_factory=dict)

    def columns_of_divergences(self) -> np.ndarray | None:
        """Return one divergence per column of the codes, or None if a code has none."""
        if not all(name in self.divergences for name in self.codes):
            return None
        return np.concatenate([self.divergences[name] for name in self.codes])


def read_codes(path: Path) -> Codes:
    """Read the codes of a file and, if it has any, the factors."""
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    with explain_broken_file(path, "an .npz without pickled objects"), open_npz(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    codes: dict[str, Any] = {}
    factors: dict[str, Any] = {}
    divergences: dict[str, np.ndarray] = {}
    for name, values in arrays.items():
        kind, _, part = name.partition(".")
        if kind in ("codes", "code"):
            codes[part or "code"] = values
        elif kind == "probabilities":
            codes[part or "class"] = Probabilities(values)
        elif kind in ("factors", "factor"):
            factors[part or "factor"] = values
        elif kind == "divergence":
            divergences[part] = values
    if not codes:
        raise DataError(f"{path} has no codes: {_needed(arrays)}")
    return Codes(codes, factors, divergences)


def read_codes_and_factors(path: Path) -> Codes:
    """Read a file as :func:`read_codes` does, and refuse one without factors."""
    found = read_codes(path)
    if not found.factors:
        with open_npz(path) as archive:
            raise DataError(f"{path} has no factors: {_needed(archive.files)}")
    return found


def write_codes(path: Path, made: Codes) -> None:
    """Write a file that :func:`read_codes` reads, completely or not at all."""
    arrays: dict[str, Any] = {f"factor.{name}": np.asarray(values) for name, values in made.factors.items()}
    arrays |= {f"divergence.{name}": np.asarray(values) for name, values in made.divergences.items()}
    for name, values in made.codes.items():
        soft = isinstance(values, Probabilities)
        arrays[f"probabilities.{name}" if soft else f"code.{name}"] = (
            values.values if soft else np.asarray(values)
        )
    with atomic_file(path) as stream:
        np.savez_compressed(stream, **arrays)


def _needed(arrays: Any) -> str:
    return (
        "it needs arrays `codes` and `factors`, or `code.NAME` and `factor.NAME`, and has "
        f"{', '.join(arrays) or 'none'}."
    )


# ---- of a trained model ---------------------------------------------------------------------------------------

MOST_ITEMS = 10_000  # the protocols of the scores take as many
_MEASURED = 1000  # items from which divergences and information are estimated


def codes_of(model: TrainedModel, items: Dataset) -> Codes:
    """Return class probabilities and means of every variable, for at most ``MOST_ITEMS`` evenly spaced items.

    A factor is included if its label is known for all of these items and has at least two values.
    """
    rows = torch.linspace(0, len(items) - 1, min(len(items), MOST_ITEMS), dtype=torch.float64).long()
    chosen = items.subset(rows.unique())
    predicted = predict_dataset(model, chosen)
    return Codes(_codes(model, predicted), _factors(chosen), divergences(model, chosen))


def _codes(model: TrainedModel, predicted: DatasetPrediction) -> dict[str, Any]:
    codes: dict[str, Any] = {}
    for node in model.latents:
        if node.name in predicted.predictions:
            values = predicted.predictions[node.name]
            codes[node.name] = Probabilities(class_probabilities(values)) if has_classes(node) else values
    return codes


def _factors(items: Dataset) -> dict[str, np.ndarray]:
    found = {}
    for name, factor in items.factors.items():
        values = factor.values.cpu().numpy()
        if bool(factor.known.all()) and len(np.unique(values, axis=0)) > 1:
            found[name] = values
    return found


def divergences(model: TrainedModel, items: Dataset) -> dict[str, np.ndarray]:
    """Return mean_x KL(q(z_d | x) || p(z_d)) of every dimension, with parents at their modes.

    A variable with classes has one number; one whose divergence has no closed form is left out.
    """
    x = items.batch(range(min(_MEASURED, items_at_once(model.shape), len(items)))).x
    with torch.no_grad(), modes(), validation(False):
        q = model.mode_trace(x)
        p = model.program.decode(x.to(model.device), q)
    found = {}
    for node in model.latents:
        if node.name in q and node.name in p:
            try:
                each = kl_divergence(_of_classes(q[node.name].dist), _of_classes(p[node.name].dist))
            except NotImplementedError:
                continue
            found[node.name] = _by_dimension(each).cpu().numpy()
    return found


def _of_classes(dist: Distribution) -> Distribution:
    """Return the categorical distribution of a relaxed class."""
    return Categorical(logits=dist.logits) if isinstance(dist, Concrete) else dist


def _by_dimension(each: Tensor) -> Tensor:
    """Return the mean over items, ``(D,)``."""
    return each.mean(0).reshape(-1) if each.ndim else each.reshape(1)


def style_information(model: TrainedModel, data: Dataset, dataset_size: int) -> list[tuple[str, float]]:
    """Return I(x; z_d) in nats for every dimension of the Gaussian nodes, most informative first (E19 Fig. 4 right).

    Parents are at their modes, so q(z_d | x) is a density of x alone.

    Parameters
    ----------
    model : TrainedModel
        The model.
    data : Dataset
        Items, of which the first 1,000 are used.
    dataset_size : int
        The number of training items.
    """
    items = data.subset(range(min(_MEASURED, items_at_once(model.shape), len(data))))
    modes_of_items = model.mode_trace(items.batch(range(len(items))).x)
    size = max(dataset_size, len(items))
    ranked = []
    with torch.no_grad(), torch.random.fork_rng(devices=[]), validation(False):
        torch.manual_seed(0)
        for node in model.latents:
            if not family_of(node).gaussian or node.name not in modes_of_items:
                continue
            dist = modes_of_items[node.name].dist
            q = Trace()
            q.normal(dist.loc, dist.scale, name="code", event_dims=1)
            nats = information(q, size).dimensions["code"]
            ranked += [(f"{node.name}[{d}]", float(n)) for d, n in enumerate(nats)]
    return sorted(ranked, key=lambda pair: -pair[1])
