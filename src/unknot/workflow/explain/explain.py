"""Which columns or words matter: predictions with and without each of them.

With x' for an item x whose column j is replaced, the importance of the column is

    E [ KL(p(y | x) || p(y | x')) ]     for classes,      E [ |m(x) - m(x')|^2 ]     for means m(x) of numbers,

and its contribution to an item is p(c | x) - E p(c | x') for the predicted class c, or m(x) - E m(x'). If predictions
are calibrated, the importance is the expected increase of the log loss, or of the squared error: E over y ~ p(y | x) of
log p(y | x) - log p(y | x'). So no labels are needed, and labels that the model was trained on do not flatter it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.text_dataset import TextDataset
from unknot.errors import SpecError
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.explain.explanation import Explanation
from unknot.workflow.explain.replacements import (
    conditional_draws,
    draws_conditionally,
    draws_of_others,
    without_words,
)
from unknot.workflow.trained_model import TrainedModel

DRAWS = 4  # replacements of a column for each item
MOST_COLUMNS = 100  # that are looked at; of more, those that are most correlated with the predictions
MOST_WORDS = 20_000  # removals of a word from a text
_TINY = 1e-7  # as in OutOfFold.log_loss

CLASSES = "increase of the log loss (nats)"
NUMBERS = "increase of the squared error"


def explain(model: TrainedModel, data: Dataset | None, factor: str, seed: int = 0) -> Explanation:
    """Explain the predictions of a factor for some items.

    Columns of a table are drawn anew given the item's other columns, from the generative model; those of other rows of
    numbers are those of other items. Words are left out of the texts that have them.

    Parameters
    ----------
    model : TrainedModel
        The model.
    data : Dataset or None
        The items, of the kind that the model was trained on; labels are not used. None: training items that the model
        keeps.
    factor : str
        The factor.
    seed : int, default=0
        Seed of the draws. The state of torch's global generator is kept.

    Returns
    -------
    Explanation
    """
    if len(model.shape) != 1:
        raise SpecError(
            "explain() shows which columns of a table or words of a text matter, but items have shape "
            f"{tuple(model.shape)}; vary() shows what a factor changes in them."
        )
    data = _kept_items(model) if data is None else data
    predict = _predictions_of(model, factor)
    x = data.batch(range(len(data))).x
    effects = _Effects(predict(x), model.data.factors[factor].kind != "continuous")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if isinstance(data, TextDataset):
            return _words(model, factor, data.columns, x, predict, effects)
        return _columns(model, factor, x, predict, effects)


def _kept_items(model: TrainedModel) -> Dataset:
    rows = None if model.novelty is None else model.novelty.rows
    if rows is None or not len(rows):
        raise SpecError("explain() needs items, and this model has kept none of the training: explain(x).")
    return replace(model.data, x=rows, ids=torch.arange(len(rows)), factors={})


def _predictions_of(model: TrainedModel, factor: str) -> Callable[[Tensor], np.ndarray]:
    def predict(x: Tensor) -> np.ndarray:
        made = model.predict(x).predictions[factor].double().numpy()
        return class_probabilities(made) if model.data.factors[factor].kind != "continuous" else made

    return predict


@dataclass(frozen=True)
class _Effects:
    """The predictions of the items, ``(N, K)``, and what becomes of them."""

    predictions: np.ndarray
    classes: bool

    def losses(self, rows: np.ndarray, changed: np.ndarray) -> np.ndarray:
        """Return how much worse changed predictions ``(V, K)`` of the items ``rows`` are, ``(V,)``."""
        before = self.predictions[rows]
        if not self.classes:
            return np.asarray(((before - changed) ** 2).sum(1))
        logs = np.log(np.clip(before, _TINY, None)) - np.log(np.clip(changed, _TINY, None))
        return np.asarray((before * logs).sum(1))

    def gains(self, rows: np.ndarray, changed: np.ndarray) -> np.ndarray:
        """Return what the unchanged items have more, ``(V,)``: of the predicted class, or of the D numbers (V, D)."""
        difference = self.predictions[rows] - changed
        if not self.classes:
            return difference[:, 0] if difference.shape[1] == 1 else difference
        return np.asarray(difference[np.arange(len(rows)), self.predictions[rows].argmax(1)])

    @property
    def measure(self) -> str:
        return CLASSES if self.classes else NUMBERS


# ---- columns -----------------------------------------------------------------------------------------------


def column_groups(model: TrainedModel) -> dict[str, list[int]]:
    """Return by column of the user the columns of the model that it became; a date becomes several."""
    table, count = model.data.table, model.shape.numel()
    names = [column.origin for column in table] or list(model.data.columns)
    groups: dict[str, list[int]] = {}
    for i, name in enumerate(names or [f"column {i}" for i in range(count)]):
        groups.setdefault(name, []).append(i)
    return groups


def _columns(
    model: TrainedModel, factor: str, x: Tensor, predict: Callable[[Tensor], np.ndarray], effects: _Effects
) -> Explanation:
    is_sparse, dense = x.is_sparse, x.to_dense()
    groups = column_groups(model)
    if len(groups) > MOST_COLUMNS:
        groups = _most_correlated(groups, dense.numpy(), effects.predictions)
    conditional = draws_conditionally(model)
    others = model.novelty.rows if model.novelty is not None and len(model.novelty.rows) else dense
    rows = np.tile(np.arange(len(x)), DRAWS)
    losses, gains = [], []
    for columns in groups.values():
        repeated = dense.repeat(DRAWS, 1)
        draw = (
            conditional_draws(model, repeated, columns)
            if conditional
            else draws_of_others(others, len(rows), columns)
        )
        repeated[:, columns] = draw
        changed = predict(repeated.to_sparse() if is_sparse else repeated)
        losses.append(effects.losses(rows, changed).reshape(DRAWS, -1).mean(0))
        made = effects.gains(rows, changed)
        gains.append(made.reshape(DRAWS, -1, *made.shape[1:]).mean(0))
    return _explanation(
        factor,
        list(groups),
        np.stack(losses, 1),
        np.stack(gains, 1),
        effects,
        "drawn given the other columns" if conditional else "that of another item",
    )


def _most_correlated(
    groups: dict[str, list[int]], x: np.ndarray, predictions: np.ndarray
) -> dict[str, list[int]]:
    """Return the groups with the largest correlation between a column and a prediction."""

    def standard(values: np.ndarray) -> np.ndarray:
        values = np.nan_to_num(values - np.nanmean(values, 0))
        size = np.sqrt((values**2).sum(0))
        return np.asarray(values / np.where(size > 0, size, 1.0))

    strength = np.abs(standard(x).T @ standard(predictions)).max(1)  # (C,)
    largest = sorted(groups, key=lambda name: -strength[groups[name]].max())[:MOST_COLUMNS]
    return {name: columns for name, columns in groups.items() if name in set(largest)}


def _explanation(
    factor: str,
    names: Sequence[str],
    losses: np.ndarray,
    gains: np.ndarray,
    effects: _Effects,
    replaced_by: str,
) -> Explanation:
    """Return the explanation from losses ``(N, C)`` and gains ``(N, C)`` or ``(N, C, D)``."""
    count = len(losses)
    error = losses.std(0, ddof=1) / count**0.5 if count > 1 else np.full(losses.shape[1], np.nan)
    return Explanation(factor, tuple(names), losses.mean(0), error, gains, effects.measure, replaced_by)


# ---- words -------------------------------------------------------------------------------------------------


def _words(
    model: TrainedModel,
    factor: str,
    vocabulary: Sequence[str],
    x: Tensor,
    predict: Callable[[Tensor], np.ndarray],
    effects: _Effects,
) -> Explanation:
    """Leave each word out of each text that has it; of very many words, the most widespread ones."""
    variants, rows, words = without_words(x, MOST_WORDS)
    kept, places = np.unique(words, return_inverse=True)
    changed = np.concatenate([predict(part) for part in variants]) if len(rows) else effects.predictions[:0]
    losses = np.zeros((len(x), len(kept)))
    losses[rows, places] = effects.losses(rows, changed)
    made = effects.gains(rows, changed)
    gains = np.zeros((*losses.shape, *made.shape[1:]))
    gains[rows, places] = made
    found = _explanation(
        factor, [vocabulary[w] for w in kept], losses, gains, effects, "left out of its texts"
    )
    if not effects.classes:
        return found
    raised = np.zeros((len(kept), effects.predictions.shape[1]))
    np.add.at(raised, places, effects.predictions[rows] - changed)
    classes = [str(one) for one in model.class_values(factor)]
    return replace(found, toward=tuple(classes[k] for k in raised.argmax(1)))
