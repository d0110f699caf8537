"""A fitted estimator: its model, the items that it takes, and how it returns them; and another fit of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import NotFittedError
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import UNKNOWN, Factor
from unknot.data.label_column import read_factor
from unknot.data.text_dataset import TextDataset, likely_words
from unknot.errors import DataError, SpecError
from unknot.estimator.frame import is_frame, is_records, make_frame, warn_of_position
from unknot.estimator.given import known_columns, read_given_like, split_given
from unknot.estimator.input import read_items, words
from unknot.estimator.label_arguments import named_labels, with_y
from unknot.workflow.assembly import Assembly, assemble
from unknot.workflow.items_for_model import items_for_model
from unknot.workflow.model_source import Joined
from unknot.workflow.trained_model import TrainedModel


def with_known_labels(items: Dataset, labels: Mapping[str, Any], model: TrainedModel) -> Dataset:
    """Return items with labels of the model's factors, in its classes; labels that are not given are unknown."""
    factors = model.data.factors
    for name in labels:
        if name not in factors:
            there = ", ".join(factors) or "nothing"
            raise SpecError(
                f"there are labels for '{name}', but the model was fitted with labels of {there}."
            )
    made = {name: _unknown(factor, len(items)) for name, factor in factors.items()}
    for name, values in labels.items():
        kind = factors[name].kind
        classes = (factors[name].tree or model.class_values(name)) if kind == "categorical" else None
        made[name] = read_factor(name, values, len(items), kind, classes)
    return replace(items, factors=made)


def _unknown(factor: Factor, count: int) -> Factor:
    mark = torch.nan if factor.kind == "continuous" else UNKNOWN
    values = factor.values.new_full((count, *factor.values.shape[1:]), mark)
    return replace(factor, values=values, evidence=None, votes=None, raters=())


def go_on(model: TrainedModel, data: Dataset, train: Mapping[str, Any]) -> Assembly:
    """Return a fitted model with its weights, to be trained on data of the same kind."""
    if isinstance(model.source, Joined):
        raise SpecError(
            "warm_start: an ensemble takes the scales of its columns and the folds of its labels from all rows at once "
            "and cannot be trained further; fit it on all rows, or choose one model, model='class_style'."
        )
    made = assemble(data, model.source, train, labels=data.factors, words=model.words)
    made.model.module.load_state_dict(model.module.state_dict())
    return made


def without_prediction(labels: np.ndarray, is_odd: np.ndarray) -> np.ndarray:
    """Return labels ``(N,)`` with NaN for some rows, or None if labels are not numbers.

    >>> without_prediction(np.array(["a", "b"]), np.array([False, True])).tolist()
    ['a', None]
    """
    if not is_odd.any():
        return labels
    are_numbers = labels.dtype.kind in "iuf"
    labels = labels.astype(np.float64 if are_numbers else object)
    labels[is_odd] = np.nan if are_numbers else None
    return labels


class NotFitted(SpecError, NotFittedError):
    """A method needs a fitted model."""


class Fitted:
    """The part of an estimator that needs its trained model, ``trained_``."""

    trained_: TrainedModel
    columns: Any
    _frame_library: str | None = None  # of the frame that the model was fitted on

    def _take(self, model: TrainedModel) -> None:
        """Set the fitted attributes that follow from a model."""
        self.trained_ = model
        self.factors_ = dict(model.data.factors)
        self.classes_ = {name: model.class_values(name) for name in self.factors_}
        confusion = model.program.rater_confusion()
        self.rater_confusion_ = {
            name: dict(zip(self.factors_[name].raters, each.cpu().numpy(), strict=True))
            for name, each in confusion.items()
        }
        self.n_features_in_ = model.shape.numel()
        if model.data.columns:
            self.feature_names_in_ = np.asarray(model.data.columns, dtype=object)

    def _in_user_form(self, rows: np.ndarray) -> Any:
        """Return items in the user's form: categories as words, and a frame if the model was fitted on one."""
        data, spoken = self.trained_.data, self._in_words(rows)
        return (
            make_frame(spoken, data.columns, self._frame_library) if data.columns and data.table else spoken
        )

    def _in_words(self, rows: np.ndarray) -> np.ndarray:
        """Return categories of a table as words, and texts as their likeliest words."""
        data = self.trained_.data
        return likely_words(data.columns, rows) if isinstance(data, TextDataset) else words(data.table, rows)

    def _predictions(self, x: Any, errors: str | None = None, given: Any = None) -> dict[str, np.ndarray]:
        """Predict all factors; NaN for rows that could not be read."""
        if errors not in ("warn", "raise", None):
            raise SpecError(f"errors is 'warn' or 'raise', but got {errors!r}.")
        items = self._items(x, errors, given)
        batch = items.batch(range(len(items)))
        made = self.trained_.predict(batch.x, self.trained_.known_inputs(batch)).predictions
        predictions = {name: values.numpy() for name, values in made.items()}
        if items.odd_rows:
            for values in predictions.values():
                values[list(items.odd_rows)] = np.nan
        return predictions

    def _rows(self, x: Any) -> Tensor:
        items = self._items(x)
        return items.batch(range(len(items))).x

    def _batch(self, x: Any, given: Any = None) -> tuple[Tensor, dict[str, Tensor] | None]:
        """Return items as a tensor, and what is given for them."""
        items = self._items(x, given=given)
        batch = items.batch(range(len(items)))
        return batch.x, self.trained_.known_inputs(batch)

    def _items(self, x: Any, errors: str | None = None, given: Any = None) -> Dataset:
        """Read items of the kind that was fitted; others are refused."""
        self._check_fitted()
        known = self.trained_.data
        if known.given:
            x, given = split_given(x, known_columns(x, known) if given is None else given)
        elif given is not None:
            raise SpecError("given: the model was fitted without; leave it out.")
        if known.table and known.columns and not is_frame(x) and not is_records(x):
            warn_of_position(known.table)
        items = read_items(
            x, self.columns if known.table else None, known=known.table, like=known, errors=errors
        )
        if isinstance(known, TextDataset) != isinstance(items, TextDataset):
            was, came = ("texts", "numbers") if isinstance(known, TextDataset) else ("numbers", "texts")
            raise DataError(f"x holds {came}, but the model was fitted on {was}; give items as for fit.")
        if items.table and not known.table:
            raise DataError(
                "x has gaps or words, but the model was fitted on complete numbers; fit it on a table with gaps, "
                "or fill them."
            )
        items = items_for_model(self.trained_, items)
        return read_given_like(items, given, known) if known.given else items

    def _labeled(self, x: Any, y: Any, labels: Mapping[str, Any], given: Any = None) -> Dataset:
        """Read items of the kind that was fitted, with labels in the fitted classes."""
        labels = with_y(y, named_labels(x, labels, self.trained_.data), list(self.factors_))
        return with_known_labels(self._items(x, given=given), labels, self.trained_)

    def _one_factor(self, factor: str | None) -> str:
        self._check_fitted()
        names = list(self.factors_)
        if factor is None and len(names) == 1:
            return names[0]
        if factor not in names:
            raise SpecError(f"choose a factor, one of {', '.join(names) or 'none (nothing was labeled)'}.")
        return factor

    def _check_fitted(self) -> None:
        if not hasattr(self, "trained_"):
            raise NotFitted("this StructuredVAE is not fitted yet: call fit(x, ...) first.")
