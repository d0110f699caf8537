"""StructuredClassifier and StructuredRegressor: the same model for one label a row, as scikit-learn asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from unknot.errors import DataError
from unknot.estimator.answers import RowAnswers
from unknot.estimator.fitted import NotFitted, without_prediction
from unknot.estimator.frame import frame_of_records, is_frame, is_records, numeric_rows
from unknot.estimator.structured_vae import StructuredVAE
from unknot.missing import missing_entries

_LABEL = "label"


class WrongCell(DataError, TypeError):
    """A cell of a table is neither a word nor a number."""


class _Supervised(RowAnswers, BaseEstimator):
    """What the two have in common: the arguments, and a :class:`StructuredVAE` with one factor in ``vae_``."""

    def __init__(
        self,
        model: Any = "auto",
        *,
        style: int | None = None,
        alpha: float | None = None,
        columns: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        learning_rate: Any = None,
        patience: int | None = None,
        cross_fit: int | None = None,
        device: str = "auto",
        seed: int = 0,
        verdict: bool = True,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.style = style
        self.alpha = alpha
        self.columns = columns
        self.steps = steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.patience = patience
        self.cross_fit = cross_fit
        self.device = device
        self.seed = seed
        self.verdict = verdict
        self.verbose = verbose

    def _fit(self, x: Any, labels: np.ndarray, kind: str, **more: Any) -> None:
        x = self._checked(x, reset=True)
        check_consistent_length(x, labels)
        vae = StructuredVAE(**{**self.get_params(), **more}, kinds={_LABEL: kind})
        self.vae_ = vae.fit(x, **{_LABEL: labels})

    def _checked(self, x: Any, reset: bool = False) -> Any:
        """x after scikit-learn's look at its names and number of columns; numbers are real, also those of a frame."""
        if is_records(x):
            x = frame_of_records(x, () if reset else getattr(self, "feature_names_in_", ()))
        if hasattr(x, "toarray"):
            raise DataError("sparse data was passed, but dense data is required: x.toarray() makes it dense.")
        array = x if is_frame(x) else np.asarray(x)
        if not is_frame(x) and array.ndim == 1:
            raise DataError("Expected 2D array, got 1D array: Reshape your data, x.reshape(-1, 1).")
        validate_data(self, x, reset=reset, skip_check_array=True)
        if is_frame(x):
            return x if (numbers := numeric_rows(x)) is None else numbers
        if array.dtype.kind == "O" and any(isinstance(value, dict | list) for value in array.ravel()):
            raise WrongCell("x: a cell's argument must be a string or a number, but one is a container.")
        return array.astype(np.float64) if array.dtype.kind in "biu" else x

    def _asked(self, x: Any) -> Any:
        if not hasattr(self, "vae_"):
            raise NotFitted(f"this {type(self).__name__} is not fitted yet: call fit(x, y) first.")
        return self._checked(x)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # they are missing entries
        return tags


class StructuredClassifier(ClassifierMixin, _Supervised):
    """Classes of rows, with the habits of scikit-learn's classifiers: ``GridSearchCV``, ``roc_auc`` and so on.

    Unlike in :class:`StructuredVAE` every row must have its label, and -1 is a class like any other.

    Parameters
    ----------
    model : str or mapping, default="auto"
        The default model, see :class:`StructuredVAE`.
    style : int, optional
        Dimensions of what the label leaves over.
    alpha : float, optional
        Weight of the labels; an ensemble, which "auto" chooses for most tables, has none.
    columns : mapping or list, optional
        Kinds of the columns: "real", "binary", "category", "count", "leave out".
    steps : int, optional
        Training steps.
    batch_size : int, optional
        Rows per step.
    learning_rate : float or mapping, optional
        A number or a schedule.
    patience : int, optional
        Stop if the error on held-out labels has not improved for this many epochs.
    cross_fit : int, optional
        In how many parts the labels are hidden in turn, to estimate the error; 0: none.
    class_weight : "balanced" or mapping, optional
        Weights of the classes in predictions.
    device : str, default="auto"
        "auto", "cpu", "cuda" or "mps".
    seed : int, default=0
        Seed of the first weights, the batches and the draws.
    verdict : bool, default=True
        Warn if the training went wrong.
    verbose : bool, default=False
        Print a summary of the data and a progress bar.

    Attributes
    ----------
    vae_ : StructuredVAE
        The fitted model, with the factor "label".
    classes_ : ndarray
        The classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> x, y = load_iris(return_X_y=True)
    >>> StructuredClassifier(style=2, steps=100).fit(x, y).predict(x[:3]).tolist()
    [0, 0, 0]
    """

    def __init__(
        self,
        model: Any = "auto",
        *,
        style: int | None = None,
        alpha: float | None = None,
        columns: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        learning_rate: Any = None,
        patience: int | None = None,
        cross_fit: int | None = None,
        class_weight: Any = None,
        device: str = "auto",
        seed: int = 0,
        verdict: bool = True,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            model,
            style=style,
            alpha=alpha,
            columns=columns,
            steps=steps,
            batch_size=batch_size,
            learning_rate=learning_rate,
            patience=patience,
            cross_fit=cross_fit,
            device=device,
            seed=seed,
            verdict=verdict,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(self, x: Any, y: Any) -> Self:
        """Learn from rows ``(N, C)`` and their classes ``(N,)``."""
        labels = _labels(self, y)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError("a classifier needs two classes, but y has one class only.")
        weight = self.class_weight
        if isinstance(weight, Mapping):  # by class in the user's words; by its place among the classes
            known = {one: k for k, one in enumerate(self.classes_.tolist())}
            weight = {known.get(one, one): value for one, value in weight.items()}
        self._fit(x, codes, "categorical", class_weight=weight)
        return self

    def predict_proba(self, x: Any, *, errors: str = "warn") -> np.ndarray:
        """Predict probabilities ``(N, K)``, in the order of ``classes_``; ``errors`` as in :class:`StructuredVAE`."""
        asked = self._asked(x)
        shares = self.vae_.predict_proba(asked, errors=errors).astype(np.float64)
        return shares / shares.sum(1, keepdims=True)

    def predict(self, x: Any, *, errors: str = "warn") -> np.ndarray:
        """Predict the most probable class of every row, ``(N,)``; ``errors`` as in :class:`StructuredVAE`."""
        shares = self.predict_proba(x, errors=errors)
        return without_prediction(np.asarray(self.classes_[shares.argmax(1)]), np.isnan(shares[:, 0]))

    def predict_set(
        self,
        x: Any,
        level: float = 0.9,
        *,
        allow_empty: bool = False,
        as_mask: bool = False,
        errors: str = "warn",
    ) -> Any:
        """Predict sets of classes that hold the true class with probability ``level``; see :class:`StructuredVAE`.

        Parameters
        ----------
        x : array or frame
            Rows.
        level, allow_empty, as_mask, errors
            As in :meth:`StructuredVAE.predict_set`.

        Returns
        -------
        list of list, or ndarray
            For each row its classes, the most probable one first; with ``as_mask`` bool ``(N, K)`` in the order of
            ``classes_``.
        """
        found = self.vae_.predict_set(
            self._asked(x), level=level, allow_empty=allow_empty, as_mask=as_mask, errors=errors
        )
        return found if as_mask else [self.classes_[codes].tolist() for codes in found]


class StructuredRegressor(RegressorMixin, _Supervised):
    """A number for every row, with the habits of scikit-learn's regressors.

    Parameters
    ----------
    model : str or mapping, default="auto"
        The default model, see :class:`StructuredVAE`.
    style : int, optional
        Dimensions of what the label leaves over.
    alpha : float, optional
        Weight of the labels; an ensemble, which "auto" chooses for most tables, has none.
    columns : mapping or list, optional
        Kinds of the columns: "real", "binary", "category", "count", "leave out".
    steps : int, optional
        Training steps.
    batch_size : int, optional
        Rows per step.
    learning_rate : float or mapping, optional
        A number or a schedule.
    patience : int, optional
        Stop if the error on held-out labels has not improved for this many epochs.
    cross_fit : int, optional
        In how many parts the labels are hidden in turn, to estimate the error; 0: none.
    device : str, default="auto"
        "auto", "cpu", "cuda" or "mps".
    seed : int, default=0
        Seed of the first weights, the batches and the draws.
    verdict : bool, default=True
        Warn if the training went wrong.
    verbose : bool, default=False
        Print a summary of the data and a progress bar.

    Attributes
    ----------
    vae_ : StructuredVAE
        The fitted model, with the factor "label".
    """

    def fit(self, x: Any, y: Any) -> Self:
        """Learn from rows ``(N, C)`` and their numbers ``(N,)``."""
        labels = _labels(self, y)
        if type_of_target(labels) == "unknown" or labels.dtype.kind not in "buif":
            raise DataError("Unknown label type: a regressor's y is numbers.")
        self._fit(x, labels.astype(np.float64), "continuous")
        return self

    def predict(self, x: Any, *, errors: str = "warn") -> np.ndarray:
        """Predict the mean for every row, ``(N,)``, in the networks' single precision.

        ``errors`` is as in :class:`StructuredVAE`.
        """
        asked = self._asked(x)  # refuses an estimator that is not fitted
        return np.asarray(self.vae_.predict(asked, errors=errors), dtype=np.float32)

    def predict_interval(self, x: Any, level: float = 0.9, *, errors: str = "warn") -> np.ndarray:
        """Predict intervals that hold the true number with probability ``level``; see :class:`StructuredVAE`.

        Parameters
        ----------
        x : array or frame
            Rows.
        level, errors
            As in :meth:`StructuredVAE.predict_interval`.

        Returns
        -------
        ndarray of shape (N, 2)
            Lower and upper ends.
        """
        asked = self._asked(x)
        return np.asarray(self.vae_.predict_interval(asked, level=level, errors=errors))


def _labels(estimator: BaseEstimator, y: Any) -> np.ndarray:
    """y as one known label a row."""
    if y is None:
        raise DataError(
            f"this {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    labels = column_or_1d(y, warn=True)
    if (labels.dtype.kind == "f" and not np.isfinite(labels).all()) or (
        labels.dtype == object and missing_entries(labels).any()
    ):
        raise DataError("Input y contains NaN, None or infinity; StructuredVAE takes unknown labels.")
    if labels.dtype.kind == "c":
        raise DataError("Complex data not supported: y holds complex numbers.")
    return np.asarray(labels)
