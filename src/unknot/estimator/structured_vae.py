"""StructuredVAE: fit, predict, transform, sample and vary, with scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor

from unknot.core.given_values import given
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError, SpecError
from unknot.estimator.files import load_estimator, save_estimator
from unknot.estimator.input import read_items, with_labels, words
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import ModelSpec, read_spec
from unknot.models.table_columns import check_rows
from unknot.train.config import TrainConfig
from unknot.train.loop import fit as train
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.labels import CLASS_FAMILIES, check_labels, class_names, label_kinds, share_of_labels
from unknot.workflow.model_for_data import model_for_data, with_columns

_CHUNK = 1024  # rows that go through the networks at once when predicting


class NotFitted(SpecError, NotFittedError):
    """A model is asked before it has learned."""


class StructuredVAE(TransformerMixin, BaseEstimator):
    """Learns named factors from partly labelled data, and a style from what they leave over (S17).

    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> labels = digits.copy()
    >>> labels[200:] = -1                                    # only 200 digits are known
    >>> vae = StructuredVAE(steps=20, verbose=False).fit(images / 16, digit=labels)
    >>> vae.predict(images[:5] / 16).shape
    (5,)

    Without a ``model`` every factor handed to ``fit`` becomes a node: whole numbers, bools or strings a class,
    real numbers a vector; together with a ``style`` of so many dimensions they make the data. -1, NaN, None and
    masked entries mark unknown labels. ``model`` takes a description instead (a dictionary, a list of nodes or
    a YAML file). ``kinds`` declares what cannot be told from the labels: ``{"objects": "count"}``, or
    "categorical", "continuous", "binary".

    ``columns`` says that x is a table: kinds by column, "real", "binary", "category" or "count", as a list or by
    name; NaN and None mark missing entries, and categories may be words.

    ``alpha`` weighs the labels; ``labelled_share`` is their share of each batch, by default a third where labels
    are scarcer than that. ``objective`` takes any other, ``{"name": "hfvae", "beta": 4.0}`` or a function of (q, p).
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
        columns: Any = None,
        kinds: Mapping[str, Any] | None = None,
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
        self.kinds = kinds
        self.steps = steps
        self.batch_size = batch_size
        self.labelled_share = labelled_share
        self.learning_rate = learning_rate
        self.seed = seed
        self.verbose = verbose

    # ---- learning -----------------------------------------------------------------------------------

    def fit(self, x: Any, y: Any = None, **labels: Any) -> StructuredVAE:
        """Learn from data and whatever labels there are: ``fit(images, digit=digits, light=vectors)``.

        A positional ``y``, as in a scikit-learn pipeline, is the factor "label", or the one the model labels.
        """
        described = None if self.model is None else read_spec(self.model)
        labels = _with_y(y, labels, [n.name for n in described.labelled] if described else [])
        told = {} if described is None else {n: k for n, k in label_kinds(described).items() if n in labels}
        data = with_labels(read_items(x, self.columns), labels, told | dict(self.kinds or {}))
        spec = self._spec(data, described)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            module = GraphicalModel(spec, data.item_shape)
        self.result_ = train(module, data, self._config(data))
        self.spec_, self.module_ = spec, module.cpu().eval()
        self.table_ = data.table
        self.factors_ = dict(data.factors)
        self.classes_ = {n: self._class_values(labels[n], data.factors[n]) for n in labels}
        self.n_features_in_ = int(np.prod(data.item_shape))
        return self

    def _spec(self, data: Dataset, described: ModelSpec | None) -> ModelSpec:
        if described is None:
            options = {"style": self.style, "gradient": self.gradient, "augment": self.augment}
            described = model_for_data(data, **options)
        check_labels(described, data, data.factors)
        return with_columns(described, data)

    def _config(self, data: Dataset) -> TrainConfig:
        objective = self.objective
        if objective == "semi_supervised":
            objective = {"name": "semi_supervised", "alpha": float(self.alpha)} if data.factors else "elbo"
        return TrainConfig(
            objective,
            steps=self.steps,
            batch_size=min(self.batch_size, len(data)),
            labelled_share=share_of_labels(data) if self.labelled_share is None else self.labelled_share,
            learning_rate=self.learning_rate,
            seed=self.seed,
            progress=self.verbose,
        )

    def _class_values(self, labels: Any, factor: Factor) -> list[Any]:
        """The classes of a factor in the user's own type: words, the numbers 0, 1, ..., or False and True."""
        if factor.kind == "continuous":
            return []
        if factor.kind == "binary":
            return [False, True]
        count = self.spec_[factor.name].size or 0
        spoken = any(isinstance(label, str) for label in np.asarray(labels, dtype=object).ravel())
        return list(class_names(factor, count)) if spoken else list(range(count))

    # ---- recognising --------------------------------------------------------------------------------

    def predict(self, x: Any, factor: str | None = None) -> np.ndarray:
        """The best class (in the user's own names) or the mean of one factor; the only one by default."""
        name = self._one_factor(factor)
        summary = self._recognise(x)[name]
        if self.factors_[name].kind == "continuous":
            return summary[:, 0] if self.factors_[name].values.ndim == 1 else summary
        return np.asarray(self.classes_[name])[class_probabilities(summary).argmax(-1)]

    def predict_proba(self, x: Any, factor: str | None = None) -> np.ndarray:
        """Probabilities of the classes of one factor, ``(N, K)``, in the order of ``classes_[factor]``."""
        name = self._one_factor(factor)
        if self.factors_[name].kind == "continuous":
            raise SpecError(
                f"factor '{name}' is continuous: it has a mean (predict) but no class probabilities."
            )
        return class_probabilities(self._recognise(x)[name])

    def transform(self, x: Any) -> np.ndarray:
        """Factors and style side by side, ``(N, D)``: probabilities of classes, means of the rest."""
        summaries = self._recognise(x)
        return np.concatenate([summaries[n.name] for n in self.spec_.latents], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of ``transform``."""
        self._check_fitted()
        names = [f"{n.name}[{i}]" for n in self.spec_.latents for i in range(n.size or 0)]
        return np.asarray(names, dtype=object)

    def score(self, x: Any, y: Any = None, **labels: Any) -> float:
        """Share of right classes (or minus the mean squared error) where labels are known, averaged over factors."""
        self._check_fitted()
        labels = _with_y(y, labels, list(self.factors_))
        if not labels:
            raise SpecError("score() compares with labels: score(x, digit=labels).")
        scores = []
        for name, truth in labels.items():
            guess, kind = self.predict(x, name), self.factors_[name].kind
            known, values = _known_labels(truth, continuous=kind == "continuous")
            if len(known) != len(guess) or not known.any():
                raise DataError(
                    f"score(): expected labels of '{name}' for {len(guess)} items, some of them known."
                )
            right = guess[known] == values if kind != "continuous" else -((guess[known] - values) ** 2)
            scores.append(float(np.mean(right)))
        return float(np.mean(scores))

    # ---- generating ---------------------------------------------------------------------------------

    def sample(self, n: int, **factors: Any) -> np.ndarray:
        """New data, with some factors given for all or for each: ``sample(16, digit=3)``.

        The rest is drawn from the prior by torch's global generator (``torch.manual_seed`` repeats it).
        """
        self._check_fitted()
        values = {name: self._given(name, value, n) for name, value in factors.items()}
        with torch.no_grad():
            return words(self.table_, self.module_.expected(given(n, values)).numpy())

    def vary(self, x: Any, **factors: Any) -> np.ndarray:
        """Keep everything else of x and change one factor: ``vary(x, digit=range(10))`` is (N, 10, ...)."""
        if len(factors) != 1:
            raise SpecError("vary() changes one factor at a time: vary(x, digit=range(10)).")
        (name, settings), rows = next(iter(factors.items())), self._rows(x)
        with torch.no_grad():
            values = self.module_.recognise(rows).values
            changed = [
                self.module_.expected(given(len(rows), {**values, name: self._given(name, one, len(rows))}))
                for one in settings
            ]
        return words(self.table_, torch.stack(changed, 1).numpy())

    def _given(self, name: str, value: Any, count: int) -> Tensor:
        """One value for all items, or one for each, as the node's site takes it: class indices or (count, D)."""
        nodes = {node.name: node for node in self.spec_.latents}
        if name not in nodes:
            raise SpecError(f"there is no factor '{name}' to set; there are {', '.join(nodes)}.")
        if nodes[name].family in CLASS_FAMILIES:
            classes = self.classes_.get(name) or list(range(nodes[name].size or 0))
            codes = [self._code(name, classes, v) for v in np.asarray(value).ravel().tolist()]
            if len(codes) not in (1, count):
                raise DataError(
                    f"'{name}' is one class for all, or one for each of {count}; got {len(codes)}."
                )
            return torch.tensor(codes).expand(count)
        numbers = torch.as_tensor(np.asarray(value, dtype=np.float32))
        size = nodes[name].size or 0
        if numbers.ndim <= 1 and numbers.numel() == size:
            return numbers.reshape(1, size).expand(count, size)
        if numbers.numel() != count * size or len(numbers) != count:
            raise DataError(
                f"'{name}' is {size} numbers for all, or for each of {count}; got shape {tuple(numbers.shape)}."
            )
        return numbers.reshape(count, size)

    def _code(self, name: str, classes: list[Any], value: Any) -> int:
        if value not in classes:
            raise DataError(f"'{name}' has no class {value!r}; it has {', '.join(map(str, classes))}.")
        return classes.index(value)

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
        rows = self._rows(x)
        with torch.no_grad():
            answers = [self.module_.recognise(part).summaries for part in rows.split(_CHUNK)]
        return {name: torch.cat([a[name] for a in answers]).numpy() for name in answers[0]}

    def _rows(self, x: Any) -> Tensor:
        self._check_fitted()
        items = read_items(x, self.columns, self.table_)
        if items.item_shape != self.module_.shape:
            raise DataError(
                f"x has items of shape {tuple(items.item_shape)}, but the model was fitted on "
                f"{tuple(self.module_.shape)}."
            )
        rows = items.batch(range(len(items))).x
        if self.table_:
            check_rows(self.spec_.data.columns, rows)
        return rows

    def _one_factor(self, factor: str | None) -> str:
        self._check_fitted()
        names = list(self.factors_)
        if factor is None and len(names) == 1:
            return names[0]
        if factor not in names:
            raise SpecError(f"say which factor: one of {', '.join(names) or 'none (nothing was labelled)'}.")
        return factor

    def _check_fitted(self) -> None:
        if not hasattr(self, "module_"):
            raise NotFitted("this StructuredVAE is not fitted yet: call fit(x, ...) first.")


def _with_y(y: Any, labels: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """The labels by name; a positional y belongs to the only factor there is, or to one called "label"."""
    if y is None:
        return dict(labels)
    name = names[0] if len(names) == 1 else "label"
    if name in labels:
        raise SpecError(f"the labels of '{name}' were given twice, by position and by name.")
    return {name: y, **labels}


def _known_labels(truth: Any, continuous: bool) -> tuple[np.ndarray, np.ndarray]:
    """Which items have a label (not NaN, None, masked or, for classes, -1), and these labels."""
    values = np.asarray(truth)
    masked = (
        np.ma.getmaskarray(truth) if isinstance(truth, np.ma.MaskedArray) else np.zeros(values.shape, bool)
    )
    absent = masked | np.array([v is None or v != v for v in values.ravel()], dtype=bool).reshape(
        values.shape
    )
    if not continuous:
        absent = absent | np.array([v == -1 for v in values.ravel()], dtype=bool).reshape(values.shape)
    known = ~absent.reshape(len(values), -1).any(1)
    return known, values[known]
