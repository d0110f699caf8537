"""Comparison: an encoder beside a linear model on the same labels, item by item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.workflow.evaluation import DatasetPrediction, predict_dataset
from unknot.workflow.measures import MEASURES, Measure, class_probabilities
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.linear_baseline import affordable, constant_summary, linear_summary

_FEWEST = 10  # labels from which a linear model is worth a look
_JUDGED = 5000  # items that are looked at
_JUDGED_NUMBERS = 1 << 24  # and the numbers they have together


@dataclass(frozen=True)
class Comparison:
    """One factor's losses (of :class:`~unknot.workflow.measures.Measure`), the same items in each array.

    - ``encoder``, ``linear``, ``constant``: of the items that are judged. They are held-out ones (``held_out``), or
      the seen ones themselves, where the linear model is cross-fitted and the encoder is not: it is favored.
    - ``seen``: the encoder's, on the labels it was trained on.
    - ``labels``: how many of them the linear model was fitted to, ``of`` how many there are.
    """

    factor: str
    measure: Measure
    encoder: np.ndarray
    linear: np.ndarray
    constant: np.ndarray
    seen: np.ndarray
    labels: int
    of: int
    held_out: bool

    @property
    def same_labels(self) -> str:
        """The linear model's labels in words: the same ones, or as many of them as it is given."""
        return (
            f"the same {self.of:,} labels"
            if self.labels == self.of
            else f"{self.labels:,} of the {self.of:,} labels"
        )


def compare(
    model: TrainedModel, seen: Dataset, held_out: Dataset | None, answers: DatasetPrediction | None = None
) -> list[Comparison]:
    """One comparison for each factor with labels enough.

    - ``seen``: the training items, with the labels that could be seen.
    - ``held_out``: other items, if there are; ``answers``: what the encoder says of them, if that is at hand.
    """
    if answers is None and held_out is not None:
        answers = predict_dataset(model, held_out)
    found = []
    for node in model.labeled:
        rows = _labeled(seen, node.name, affordable(len(seen), seen.item_shape.numel()))
        shown = seen.subset(rows)
        if len(rows) < _FEWEST or len(shown.factors[node.name].values.unique(dim=0)) < 2:
            continue
        of = int(seen.factors[node.name].known.sum())
        own = predict_dataset(model, shown).predictions[node.name]
        asked = rows[:0] if held_out is None else _labeled(held_out, node.name, _judged(held_out))
        if held_out is None or answers is None or not len(asked):
            found.append(_compared(node, shown, own, shown, own, of, held_out=False))
        else:
            said = answers.predictions[node.name][asked.numpy()]
            found.append(_compared(node, shown, own, held_out.subset(asked), said, of, held_out=True))
    return found


def _compared(
    node: NodeSpec,
    shown: Dataset,
    own: np.ndarray,
    asked: Dataset,
    said: np.ndarray,
    of: int,
    *,
    held_out: bool,
) -> Comparison:
    """``own`` is what the encoder reports of the items ``shown``, ``said`` of those ``asked``."""
    labels, factor = shown.factors[node.name].values.cpu().numpy(), asked.factors[node.name]
    truth = factor.values.cpu().numpy()
    measure = MEASURES[family_of(node).measure_for(factor.kind)]
    classes = max(class_probabilities(said).shape[1], int(labels.max()) + 1) if measure.share else 0
    linear = linear_summary(shown, node.name, classes, asked if held_out else None)
    return Comparison(
        factor=node.name,
        measure=measure,
        encoder=measure.losses(truth, said),
        linear=measure.losses(truth, linear),
        constant=measure.losses(truth, constant_summary(shown, node.name, classes, asked)),
        seen=measure.losses(labels, own),
        labels=len(shown),
        of=of,
        held_out=held_out,
    )


def _judged(data: Dataset) -> int:
    """How many items are looked at: fewer, if they are large, since a linear model has them all in memory."""
    return min(_JUDGED, max(100, _JUDGED_NUMBERS // max(1, data.item_shape.numel())))


def _labeled(data: Dataset, name: str, most: int) -> torch.Tensor:
    """The rows whose label of a factor is known, at most so many of them."""
    if name not in data.factors:
        return torch.zeros(0, dtype=torch.long)
    rows = data.factors[name].known.cpu().nonzero()[:, 0]
    kept = np.sort(np.random.default_rng(0).permutation(len(rows))[:most])
    return rows[torch.from_numpy(kept)]
