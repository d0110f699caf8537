"""StructuredVAE: fit, predict, transform, sample and vary, with scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from torch import Tensor

from unknot.core.given import given
from unknot.data.column import COLUMN_KINDS, Column, ColumnKind
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError, SpecError
from unknot.estimator_files import load_estimator, save_estimator
from unknot.experiments.model_for_data import factor_family, model_for_data
from unknot.models.graphical_model import GraphicalModel, Recognition
from unknot.models.spec import ModelSpec, read_spec
from unknot.train.config import TrainConfig
from unknot.train.loop import fit as train

_CHUNK = 1024  # rows that go through the networks at once when predicting


class StructuredVAE(TransformerMixin, BaseEstimator):
    """Learns named factors from partly labelled data, and a style from what they leave over (S17).

    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> labels = digits.copy()
    >>> labels[200:] = -1                                    # only 200 digits are known
    >>> vae = StructuredVAE(steps=20, verbose=False).fit(images / 16, digit=labels)
    >>> vae.predict(images[:5] / 16).shape
    (5,)

    Without a ``model`` every factor handed to ``fit`` becomes a node: whole numbers or strings a class, real
    numbers a vector; together with a ``style`` of so many dimensions they make the data. -1, NaN, None and
    masked entries mark unknown labels. ``model`` takes a description instead (a dictionary, a list of nodes or
    a YAML file).

    ``columns`` says that x is a table: kinds by column, "real", "binary", "category" or "count"; NaN marks
    missing entries.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        style: int = 10,
        objective: Any = "semi_supervised",
        alpha: float = 20.0,
        gradient: str | None = None,
        augment: str | None = None,
        columns: Iterable[str] | None = None,
        steps: int = 1000,
        batch_size: int = 256,
        labelled_share: float | None = None,
        learning_rate: Any = 1e-3,
        seed: int = 0,
        verbose: bool = True,
    ) -> None:
        self.model = model
        self.style = style
        self.objective = objective
        self.alpha = alpha
        self.gradient = gradient
        self.augment = augment
        self.columns = columns
        self.steps = steps
        self.batch_size = batch_size
        self.labelled_share = labelled_share
        self.learning_rate = learning_rate
        self.seed = seed
        self.verbose = verbose

    # ---- learning -----------------------------------------------------------------------------------

    def fit(self, x: Any, y: Any = None, **labels: Any) -> StructuredVAE:
        """Learn from data and whatever labels there are: ``fit(images, digit=digits, light=vectors)``.

        A positional ``y``, as in a scikit-learn pipeline, is the factor named "label".
        """
        if y is not None:
            labels = {"label": y, **labels}
        data = self._dataset(x, labels)
        torch.manual_seed(self.seed)
        self.spec_ = self._spec(data)
        self.factors_ = {n: data.factors[n] for n in labels}
        self.classes_ = {n: _class_values(labels[n], data.factors[n]) for n in labels}
        self.module_ = GraphicalModel(self.spec_, data.item_shape)
        self.result_ = train(self.module_, data, self._config(data))
        self.module_.eval()
        self.n_features_in_ = int(np.prod(data.item_shape))
        return self

    def _dataset(self, x: Any, labels: Mapping[str, Any]) -> Dataset:
        x = np.asarray(x)
        if len(x) == 0:
            raise DataError("fit() was given no data: x has no rows.")
        if x.dtype == object:
            raise DataError("the items of x differ in shape; make them one array, for images of one size.")
        data = from_arrays(x, labels, missing=self.columns is not None)
        if self.columns is not None:
            data = replace(data, table=_table(self.columns))
        for name, factor in data.factors.items():
            if factor.kind == "categorical" and factor.num_classes < 2:
                raise DataError(f"factor '{name}' has one class only: there is nothing to tell apart.")
        return data

    def _spec(self, data: Dataset) -> ModelSpec:
        if self.model is not None:
            spec = self.model if isinstance(self.model, ModelSpec) else read_spec(self.model)
            for name in data.factors:
                if name not in [n.name for n in spec.labelled]:
                    takes = ", ".join(n.name for n in spec.labelled) or "no labels"
                    raise SpecError(f"labels were given for '{name}', but the model takes {takes}.")
            return spec
        return model_for_data(data, style=self.style, gradient=self.gradient, augment=self.augment)

    def _config(self, data: Dataset) -> TrainConfig:
        objective = self.objective
        if objective == "semi_supervised":
            objective = {"name": "semi_supervised", "alpha": float(self.alpha)} if data.factors else "elbo"
        size = min(self.batch_size, len(data))
        return TrainConfig(
            objective,
            steps=self.steps,
            batch_size=size,
            labelled_share=self.labelled_share,
            learning_rate=self.learning_rate,
            seed=self.seed,
            progress=self.verbose,
        )

    # ---- recognising --------------------------------------------------------------------------------

    def predict(self, x: Any, factor: str | None = None) -> np.ndarray:
        """The best class (in the user's own names) or the mean of one factor; the only one by default."""
        name = self._one_factor(factor)
        summary = self._recognise(x)[name]
        known = self.factors_[name]
        if known.kind == "continuous":
            return summary[:, 0] if known.values.ndim == 1 else summary
        return np.asarray(self.classes_[name])[summary.argmax(-1)]

    def predict_proba(self, x: Any, factor: str | None = None) -> np.ndarray:
        """Probabilities of the classes of one factor, ``(N, K)``."""
        name = self._one_factor(factor)
        if self.factors_[name].kind == "continuous":
            raise SpecError(
                f"factor '{name}' is continuous: it has a mean (predict) but no class probabilities."
            )
        return self._recognise(x)[name]

    def transform(self, x: Any) -> np.ndarray:
        """Factors and style side by side, ``(N, D)``: probabilities of classes, means of the rest."""
        summaries = self._recognise(x)
        return np.concatenate([summaries[n.name] for n in self.spec_.latents], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of ``transform``."""
        names = [f"{n.name}[{i}]" for n in self.spec_.latents for i in range(n.size or 0)]
        return np.asarray(names, dtype=object)

    def score(self, x: Any, y: Any = None, **labels: Any) -> float:
        """Share of right classes (or minus the mean squared error), averaged over the factors given."""
        if y is not None:
            labels = {"label": y, **labels}
        if not labels:
            raise SpecError("score() compares with labels: score(x, digit=labels).")
        scores = []
        for name, truth in labels.items():
            guess, truth = self.predict(x, name), np.asarray(truth)
            if self.factors_[name].kind == "continuous":
                scores.append(-float(np.mean((guess - truth) ** 2)))
            else:
                scores.append(float(np.mean(guess == truth)))
        return float(np.mean(scores))

    # ---- generating ---------------------------------------------------------------------------------

    def sample(self, n: int, **factors: Any) -> np.ndarray:
        """New data, with some factors given: ``sample(16, digit=3)``."""
        self._check_fitted()
        values = {
            name: self._codes(name, np.broadcast_to(v, (n, *np.shape(v)))) for name, v in factors.items()
        }
        with torch.no_grad():
            return self.module_.generate(n, **values).numpy()

    def vary(self, x: Any, **factors: Any) -> np.ndarray:
        """Keep everything else of x and change one factor: ``vary(x, digit=range(10))`` is (N, 10, ...)."""
        if len(factors) != 1:
            raise SpecError("vary() changes one factor at a time: vary(x, digit=range(10)).")
        (name, settings), rows = next(iter(factors.items())), self._rows(x)
        codes = self._codes(name, np.asarray(list(settings)))
        with torch.no_grad():
            values = self.module_.recognise(rows).values
            changed = [self._with(values, name, code, len(rows)) for code in codes]
        return np.stack([one.numpy() for one in changed], axis=1)

    def _with(self, values: Mapping[str, Tensor], name: str, code: Tensor, count: int) -> Tensor:
        return self.module_.expected(given(count, {**values, name: code.expand(count, *code.shape)}))

    # ---- files --------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the trained model to a folder: weights as safetensors, the rest as JSON."""
        self._check_fitted()
        save_estimator(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> StructuredVAE:
        """Read a model written by ``save``."""
        return load_estimator(cls, Path(path))

    # ---- parts --------------------------------------------------------------------------------------

    def _recognise(self, x: Any) -> dict[str, np.ndarray]:
        self._check_fitted()
        with torch.no_grad():
            answers: list[Recognition] = [
                self.module_.recognise(part) for part in self._rows(x).split(_CHUNK)
            ]
        names = answers[0].summaries
        return {name: torch.cat([a.summaries[name] for a in answers]).numpy() for name in names}

    def _rows(self, x: Any) -> Tensor:
        self._check_fitted()
        rows = from_arrays(np.asarray(x), missing=self.columns is not None)
        if rows.item_shape != self.module_.shape:
            raise DataError(
                f"x has items of shape {tuple(rows.item_shape)}, but the model was fitted on "
                f"{tuple(self.module_.shape)}."
            )
        return rows.batch(range(len(rows))).x

    def _one_factor(self, factor: str | None) -> str:
        self._check_fitted()
        names = list(self.factors_)
        if factor is None and len(names) == 1:
            return names[0]
        if factor not in names:
            raise SpecError(f"say which factor: one of {', '.join(names) or 'none (nothing was labelled)'}.")
        return factor

    def _codes(self, name: str, values: np.ndarray) -> Tensor:
        """Given values of a factor as class indices or vectors."""
        if name not in self.factors_:
            if name in [n.name for n in self.spec_.latents]:
                return torch.as_tensor(np.asarray(values, dtype=np.float32))
            raise SpecError(f"there is no factor '{name}'; there are {', '.join(self.factors_)} and style.")
        if self.factors_[name].kind == "continuous":
            return torch.as_tensor(np.asarray(values, dtype=np.float32))
        classes = self.classes_[name]
        for value in np.asarray(values).ravel():
            if value not in classes:
                raise DataError(
                    f"factor '{name}' has no class {value!r}; it has {', '.join(map(str, classes))}."
                )
        return torch.tensor([classes.index(value) for value in np.asarray(values).ravel()])

    def _check_fitted(self) -> None:
        if not hasattr(self, "module_"):
            raise SpecError("this StructuredVAE is not fitted yet: call fit(x, ...) first.")


def _table(kinds: Iterable[str]) -> tuple[Column, ...]:
    columns = []
    for i, kind in enumerate(kinds):
        if kind not in COLUMN_KINDS:
            raise SpecError(f"columns: kinds are {', '.join(COLUMN_KINDS)}, but column {i} is {kind!r}.")
        columns.append(Column(f"column {i}", cast(ColumnKind, kind)))
    return tuple(columns)


def _class_values(given: Any, factor: Factor) -> list[Any]:
    """The classes of a factor in the user's own type: words, or the numbers 0, 1, ..."""
    if factor.kind == "continuous":
        return []
    words = any(isinstance(label, str) for label in np.asarray(given, dtype=object).ravel()[:1000])
    if words and factor.classes is not None:
        return list(factor.classes)
    return list(range(factor_family(factor)[1]))
