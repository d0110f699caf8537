"""Methods of the estimators that say how far predictions can be trusted: sets, intervals, novelty, explanations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unknot.estimator.fitted import Fitted
from unknot.workflow.answers import intervals, listed, p_values, sets
from unknot.workflow.ask import ask
from unknot.workflow.explain.explain import explain
from unknot.workflow.explain.explanation import Explanation


class Answers(Fitted):
    """The methods of :class:`StructuredVAE`, which name the factor."""

    seed: int

    def ask(self, x: Any, k: int, factor: str | None = None) -> np.ndarray:
        """Choose the items whose label would help most to predict the factor of all items.

        The members of the mixture that predicts the factor (of an ensemble, or of the stack that cross-fitting fits)
        differ; a label says which of them are right. Items are chosen one by one so that the variance among members
        over all items, given the labels that the items would get, is expected to be smallest.

        Parameters
        ----------
        x : array, frame, list of str, dict or list of dicts
            Items of the kind that was fitted that have no label yet.
        k : int
            How many items.
        factor : str, optional
            The factor, which has classes; it may be left out if there is only one.

        Returns
        -------
        ndarray of int, shape (k,)
            The rows of the items, the most helpful one first.
        """
        name = self._one_factor(factor)
        return ask(self.trained_, self._rows(x), k, name, self.seed)[0].numpy()

    def predict_set(
        self,
        x: Any,
        factor: str | None = None,
        level: float = 0.9,
        *,
        allow_empty: bool = False,
        as_mask: bool = False,
        errors: str = "warn",
    ) -> Any:
        """Predict sets of classes that hold the true class with a chosen probability (conformal prediction).

        For items of the same distribution as the labeled items the true class is in the set with probability ``level``
        or slightly more, whatever the model. It is the share over items of all classes, not of each class. Where the
        most probable class is right more often than ``level``, sets hold this class alone, and coverage is its
        accuracy. With n labels the level can be at most n / (n + 1); above it every set holds all classes.

        Parameters
        ----------
        x : array, frame, list of str, dict or list of dicts
            Items of the kind that was fitted.
        factor : str, optional
            The factor; it may be left out if there is only one.
        level : float, default=0.9
            The probability that a set holds the true class.
        allow_empty : bool, default=False
            Leave sets of items that fit no class empty, where otherwise more items than ``level`` were covered.
        as_mask : bool, default=False
            Return which classes are in the set, bool ``(N, K)`` in the order of ``classes_[factor]``.
        errors : {"warn", "raise"}, default="warn"
            As for :meth:`predict`; rows that cannot be read have empty sets.

        Returns
        -------
        list of list, or ndarray
            For each item the classes in the user's own names, the most probable one first.

        Raises
        ------
        SpecError
            If the model has no out-of-fold predictions: it was not a default model, and ``cross_fit`` did not ask.
        """
        name = self._one_factor(factor)
        predictions = self._predictions(x, errors)[name]
        mask = sets(self.trained_, predictions, name, level, allow_empty)
        return mask if as_mask else listed(mask, predictions, self.trained_.class_values(name))

    def predict_interval(
        self, x: Any, factor: str | None = None, level: float = 0.9, *, errors: str = "warn"
    ) -> np.ndarray:
        """Predict intervals of a continuous factor.

        If the model has out-of-fold predictions (default models, and others with ``cross_fit``), intervals are
        conformal: for items of the same distribution as the labeled items each number is covered with probability
        ``level`` or slightly more. They have the same width for all items, and are infinite if there are fewer than
        level / (1 - level) labels. Otherwise they are quantiles of the model's own q(factor | x), whose coverage
        nothing guarantees.

        Parameters
        ----------
        x : array, frame, list of str, dict or list of dicts
            Items of the kind that was fitted.
        factor : str, optional
            The factor; it may be left out if there is only one.
        level : float, default=0.9
            The probability that an interval covers the true number.
        errors : {"warn", "raise"}, default="warn"
            As for :meth:`predict`; intervals of rows that cannot be read are NaN.

        Returns
        -------
        ndarray
            Lower and upper ends, ``(N, 2)``; ``(N, D, 2)`` for a vector, for each of its numbers on its own.
        """
        name, items = self._one_factor(factor), self._items(x, errors)
        ends = intervals(self.trained_, items.batch(range(len(items))).x, name, level)  # (N, D, 2)
        ends[list(items.odd_rows)] = np.nan
        return ends[:, 0] if self.factors_[name].values.ndim == 1 else ends

    def novelty(self, x: Any, *, errors: str = "warn") -> np.ndarray:
        """Return for each item a p-value of the hypothesis that it is like the training items.

        Of new items of the same distribution as the training items, labeled or not, a share of at most ``a`` has a
        p-value of at most ``a``: ``novelty(x) <= 0.01`` has a false-alarm rate of 1 %. The score compares the distance
        to the nearest training items with the distances among these (:class:`unknot.models.novelty.Novelty`). The
        smallest p-value is 1 / (M + 1), with M training items that the model keeps, at most 1,000. Items that were
        trained on have larger p-values than new ones.

        Parameters
        ----------
        x : array, frame, list of str, dict or list of dicts
            Items of the kind that was fitted.
        errors : {"warn", "raise"}, default="warn"
            As for :meth:`predict`; the p-values of rows that cannot be read are NaN.

        Returns
        -------
        ndarray of shape (N,)

        Raises
        ------
        SpecError
            If the model keeps no training items: it was not a default model, and ``cross_fit`` did not ask.
        """
        items = self._items(x, errors)
        values = p_values(self.trained_, items.batch(range(len(items))).x)
        values[list(items.odd_rows)] = np.nan
        return values

    def explain(self, x: Any = None, factor: str | None = None) -> Explanation:
        """Show which columns of a table, or words of texts, the predictions of a factor rest on.

        A column is replaced by a draw given the item's other columns, from the generative model, or by that of another
        item where the model is not one of a table; a word is left out of the texts that have it. Images are not
        explained: see :meth:`vary`.

        Parameters
        ----------
        x : array, frame, list of str, dict or list of dicts, optional
            Items of the kind that was fitted; a few hundred are enough. By default up to 300 training items that the
            model keeps, of rows with at most 500 numbers.
        factor : str, optional
            The factor; it may be left out if there is only one.

        Returns
        -------
        Explanation
            The importance of the columns with standard errors, and their contributions for each item; ``print`` shows
            a table, and ``to_frame()`` makes a frame.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from unknot import StructuredVAE
        >>> x, y = load_iris(return_X_y=True, as_frame=True)
        >>> vae = StructuredVAE(steps=50, verbose=False, verdict=False).fit(x, kind=y)
        >>> sorted(vae.explain(factor="kind").to_dict(2)["name"])
        ['petal length (cm)', 'petal width (cm)']
        """
        name = self._one_factor(factor)
        return explain(self.trained_, None if x is None else self._items(x), name, seed=self.seed)


class RowAnswers:
    """The methods of the estimators of one label a row."""

    vae_: Any

    def _asked(self, x: Any) -> Any:
        raise NotImplementedError

    def novelty(self, x: Any, *, errors: str = "warn") -> np.ndarray:
        """Return p-values of the hypothesis that rows are like those of training; see :class:`StructuredVAE`."""
        return np.asarray(self.vae_.novelty(self._asked(x), errors=errors))

    def explain(self, x: Any = None) -> Explanation:
        """Show which columns the predictions rest on; see :class:`StructuredVAE`."""
        if x is not None or not hasattr(self, "vae_"):
            x = self._asked(x)
        explanation: Explanation = self.vae_.explain(x)
        names = getattr(self, "feature_names_in_", None)
        if names is None or explanation.names != tuple(f"column {i}" for i in range(len(names))):
            return explanation
        return replace(explanation, names=tuple(map(str, names)))  # numbers of a frame are fitted as an array
