"""StructuredVAE: fit, predict, transform, sample and vary, with scikit-learn's habits."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import ndtri
from sklearn.base import BaseEstimator, TransformerMixin

from unknot.errors import SpecError
from unknot.estimator.fitted import Fitted, go_on
from unknot.estimator.input import read_items, with_labels
from unknot.estimator.label_arguments import has_words, known_labels, with_y
from unknot.estimator.parameters import (
    model_options,
    plain_parameters,
    refuse_wrong_parameters,
    training_settings,
    weights_of_classes,
)
from unknot.models.spec import read_spec
from unknot.train.loop import fit as train
from unknot.workflow.assembly import Assembly, assemble
from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.counterfactuals.evaluate import counterfactuals
from unknot.workflow.data_summary import describe_data
from unknot.workflow.evaluation import class_probabilities, log_evidence
from unknot.workflow.hold_out import hold_out
from unknot.workflow.labels import label_kinds, with_described_classes
from unknot.workflow.model_file import read_description, save_model
from unknot.workflow.model_source import Described
from unknot.workflow.trained_labels import merged, trained_labels
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.verdict import warn_if_badly_trained


class StructuredVAE(Fitted, TransformerMixin, BaseEstimator):
    """Learns named factors from partly labeled data, and a style from what they leave over (S17).

    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> labels = digits.copy()
    >>> labels[200:] = -1                                    # only 200 digits are known
    >>> vae = StructuredVAE(steps=20, verbose=False).fit(images / 16, digit=labels)
    >>> vae.predict(images[:5] / 16).shape
    (5,)

    Without a ``model`` every factor handed to ``fit`` becomes a node: whole numbers, bools or strings a class,
    real numbers a vector; together with a ``style`` of so many dimensions they make the data. -1, NaN, None, masked
    entries and empty words mark unknown labels. ``model`` takes a description instead (a dictionary, a list of nodes or
    a YAML file). ``kinds`` declares what cannot be told from the labels: ``{"objects": "count"}``, or
    "categorical", "continuous", "binary".

    A frame is a table, and so are rows with words or gaps: NaN and None mark missing entries, words are a category,
    0 and 1 binary, other numbers real. ``columns`` declares kinds, "real", "binary", "category", "count" or "leave
    out": of some columns by name, or as a list of all. Columns of a frame go by name, also in ``predict``.

    Texts, a list of strings, are counted word by word: ``fit(texts, group=labels)``. ``text`` says which words, in
    the terms of scikit-learn's ``CountVectorizer``, ``{"max_features": 2000, "stop_words": None}``, and whether they
    are counted or, as by default where there are labels, weighed by tf-idf: ``{"weights": "counts"}``. What is made of
    texts (``sample``, ``vary``, ``reconstruct``) comes back as their likeliest words. Sparse matrices of counts stay
    sparse.

    A table with labels gets an ensemble of small models, and images whose labels are classes are read in two views that
    must agree (docs/defaults.md); saying anything of the model or the objective (``style``, ``gradient``, ``augment``,
    ``agreement``, ``separate``, ``objective``, ``alpha``, ``labeled_share``) asks for one plain model instead.
    ``augment`` jitters training images, "affine" or "elastic", and with ``agreement``, a weight such as 100, what is
    read in an image must be read in its jittered view (:mod:`unknot.models.agreement`).

    ``separate`` keeps the factors out of the style, for ``vary``: a factor is changed and the style stays
    (:mod:`unknot.models.default_model`). It takes up to twice as long.

    ``alpha`` weighs the labels; ``labeled_share`` is their share of each batch, by default a third where labels
    are scarcer than that. ``device`` is auto, cpu, cuda or mps. After fitting ``history_`` has the logged terms of the
    objective. ``objective`` takes any other, ``{"name": "hfvae", "beta": 4.0}`` or a function of (q, p).

    ``steps``, ``batch_size`` and ``learning_rate`` (a number or a schedule) say how it is trained; None leaves them to
    the defaults of every door. ``patience`` stops training when the error on a fifth of the labels, held out for this
    (without labels: the bound of a fifth of the items), has not improved for so many epochs, and keeps the best
    weights. ``warm_start`` lets another ``fit``, with more items, labels or steps, go on from the weights that are
    there. ``class_weight`` is for rare classes: "balanced" weighs them in the answers by one over how often they occur,
    a mapping by class as it says (:mod:`unknot.workflow.class_weights`). ``seed`` is that of the first weights, the
    batches and the draws; ``verdict`` warns at the end where training went wrong (:mod:`unknot.workflow.verdict`);
    ``verbose`` says what is taken for data and what for labels, and draws a progress bar. All methods take items ``x``
    of the kind that was fitted, and those about one factor its name, ``factor``, where there are several.

    Fitted attributes: ``trained_`` is the trained model, which ``save`` writes; ``factors_`` are the factors by name,
    ``classes_`` their classes in the user's own type, ``n_features_in_`` the numbers of an item, ``result_`` what
    training says of itself.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        style: int | None = None,
        objective: Any = None,
        alpha: float | None = None,
        gradient: str | None = None,
        augment: str | None = None,
        agreement: float | None = None,
        separate: bool = False,
        columns: Any = None,
        kinds: Mapping[str, Any] | None = None,
        text: Mapping[str, Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        labeled_share: float | None = None,
        learning_rate: Any = None,
        patience: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        device: str = "auto",
        seed: int = 0,
        verdict: bool = True,
        verbose: bool = True,
    ) -> None:
        self.model = model
        self.style = style
        self.objective = objective
        self.alpha = alpha
        self.gradient = gradient
        self.augment = augment
        self.agreement = agreement
        self.separate = separate
        self.columns = columns
        self.kinds = kinds
        self.text = text
        self.steps = steps
        self.batch_size = batch_size
        self.labeled_share = labeled_share
        self.learning_rate = learning_rate
        self.patience = patience
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.device = device
        self.seed = seed
        self.verdict = verdict
        self.verbose = verbose

    # ---- learning -----------------------------------------------------------------------------------

    def fit(self, x: Any, y: Any = None, /, **labels: Any) -> StructuredVAE:
        """Learn from data and whatever labels there are: ``fit(images, digit=digits, light=vectors)``.

        - ``x``: items, ``(N, ...)``; see the class for what they may be.
        - ``y``: as in a scikit-learn pipeline, the labels of the factor "label", or of the one the model labels.
        - ``labels``: for each named factor one label an item, unknown ones marked.
        """
        refuse_wrong_parameters(self)
        going_on = self.warm_start and hasattr(self, "trained_")
        made = self._same(x, y, labels) if going_on else self._new(x, y, labels)
        weights = weights_of_classes(self, made)
        if self.verbose:
            print("\n".join(describe_data(made.data)), file=sys.stderr)
        data, held_out = hold_out(made.model, made.data, made.config)
        self.result_ = train(made.model.module, data, made.config, held_out=held_out)
        self.history_ = self.result_.history
        made.model.module.cpu().eval()
        seen = trained_labels(made.data)
        if going_on:
            seen = merged(seen, self.trained_.trained_labels)
        self._take(replace(made.model, class_weights=weights, trained_labels=seen))
        self.factors_ = dict(made.data.factors)
        if self.verdict:
            warn_if_badly_trained(made.model, made.data, self.history_)
        return self

    def _new(self, x: Any, y: Any, labels: Mapping[str, Any]) -> Assembly:
        """A model for the data, with its first weights."""
        described = None if self.model is None else read_spec(self.model)
        takers = [] if described is None else described.labeled
        labels = with_y(y, labels, [node.name for node in takers])
        told = {name: kind for name, kind in label_kinds(takers).items() if name in labels}
        usual = {"weights": "tfidf"} if labels else {}
        items = read_items(x, self.columns, text={**usual, **(self.text or {})})
        data = with_described_classes(with_labels(items, labels, told | dict(self.kinds or {})), takers)
        spoken = [name for name in labels if has_words(labels[name])]
        model = model_options(self) if described is None else Described(described)
        return assemble(data, model, training_settings(self, data), labels=data.factors, words=spoken)

    def _same(self, x: Any, y: Any, labels: Mapping[str, Any]) -> Assembly:
        """The fitted model, to be trained further."""
        data = self._labeled(x, y, labels)
        return go_on(self.trained_, data, training_settings(self, data))

    # ---- recognizing --------------------------------------------------------------------------------

    def predict(self, x: Any, factor: str | None = None) -> np.ndarray:
        """The best class (in the user's own names) or the mean of one factor; the only one by default."""
        name = self._one_factor(factor)
        summary = self._predictions(x)[name]
        if self.factors_[name].kind == "continuous":
            return summary[:, 0] if self.factors_[name].values.ndim == 1 else summary
        return np.asarray(self.trained_.class_values(name))[class_probabilities(summary).argmax(-1)]

    def predict_proba(self, x: Any, factor: str | None = None) -> np.ndarray:
        """Probabilities of the classes of one factor, ``(N, K)``, in the order of ``classes_[factor]``."""
        name = self._one_factor(factor)
        if self.factors_[name].kind == "continuous":
            raise SpecError(
                f"factor '{name}' is continuous: it has a mean (predict) but no class probabilities."
            )
        return class_probabilities(self._predictions(x)[name])

    def transform(self, x: Any) -> np.ndarray:
        """Factors and style side by side, ``(N, D)``: probabilities of classes, means of the rest."""
        summaries = self._predictions(x)
        return np.concatenate([summaries[n.name] for n in self.trained_.latents], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of ``transform``."""
        self._check_fitted()
        names = [f"{n.name}[{i}]" for n in self.trained_.latents for i in range(n.size or 0)]
        return np.asarray(names, dtype=object)

    def score(self, x: Any, y: Any = None, /, **labels: Any) -> float:
        """Share of right classes (or minus the mean squared error) where labels are known, averaged over factors."""
        self._check_fitted()
        labels = with_y(y, labels, list(self.factors_))
        if not labels:
            raise SpecError("score() compares with labels: score(x, digit=labels).")
        scores = []
        for name, truth in labels.items():
            guess, kind = self.predict(x, name), self.factors_[name].kind
            known, values = known_labels(name, truth, guess, continuous=kind == "continuous")
            right = guess[known] == values if kind != "continuous" else -((guess[known] - values) ** 2)
            scores.append(float(np.mean(right)))
        return float(np.mean(scores))

    def predict_interval(self, x: Any, factor: str | None = None, level: float = 0.9) -> np.ndarray:
        """Where a continuous factor lies with the probability ``level``, as the encoder has it: ``(N, 2)``.

        Lower and upper ends of the middle of q(factor | x), a Gaussian; ``(N, D, 2)`` for a vector.
        """
        name = self._one_factor(factor)
        if self.factors_[name].kind != "continuous" or not 0 < level < 1:
            raise SpecError(
                f"predict_interval() is for continuous factors and a level between 0 and 1; '{name}' is "
                f"{self.factors_[name].kind}, the level {level:g}."
            )
        dist = self.trained_.mode_trace(self._rows(x))[name].dist
        half = float(ndtri(0.5 + level / 2)) * dist.stddev
        ends = torch.stack([dist.mean - half, dist.mean + half], -1).cpu().numpy()  # (N, D, 2)
        return ends[:, 0] if self.factors_[name].values.ndim == 1 else ends

    def score_samples(self, x: Any, samples: int = 50) -> np.ndarray:
        """A bound of log p(x) for each item by importance weights, ``(N,)``: low for outliers."""
        return log_evidence(self.trained_, self._rows(x), samples).numpy()

    # ---- generating ---------------------------------------------------------------------------------

    def reconstruct(self, x: Any) -> Any:
        """What the model makes of x: recognized, then generated."""
        return self._spoken(self.trained_.reconstruct(self._rows(x)).numpy())

    def impute(self, x: Any) -> Any:
        """The rows of a table with every missing entry as the model expects it; what is there stays as it is."""
        rows = self._rows(x)
        return self._spoken(torch.where(rows.isnan(), self.trained_.reconstruct(rows), rows).numpy())

    def sample(self, n: int, /, *, mean: bool = False, **factors: Any) -> Any:
        """New data, with some factors given for all or for each: ``sample(16, digit=3)``.

        The rest is drawn by torch's global generator (``torch.manual_seed`` repeats it): the factors from the prior,
        then the data. With ``mean`` the data is what is expected at the factors drawn; of pixels it always is.
        Categories come back as words; a model fitted on a frame makes a frame.
        """
        self._check_fitted()
        return self._spoken(self.trained_.sample(n, mean=mean, **factors).numpy())

    def vary(self, x: Any, /, **factors: Any) -> np.ndarray:
        """Keep everything else of x and change one factor: ``vary(x, digit=range(10))`` is (N, 10, ...)."""
        if len(factors) != 1:
            raise SpecError("vary() changes one factor at a time: vary(x, digit=range(10)).")
        (name, settings), rows = next(iter(factors.items())), self._rows(x)
        listed = list(settings) if isinstance(settings, Iterable) and not isinstance(settings, str) else []
        if not listed:
            raise SpecError(f"vary() takes a list of values: vary(x, {name}=[...]), but got {settings!r}.")
        values = [self.trained_.value(name, one, len(rows)) for one in listed]
        return self._worded(self.trained_.vary(rows, name, values).numpy())

    # ---- looking ------------------------------------------------------------------------------------

    def report(self, path: str | Path, x: Any, y: Any = None, /, **labels: Any) -> None:
        """Write the page that `unknot report` writes, one HTML file: what the model makes of x and its labels.

        Give items that it has not learned from, or its errors look smaller than they are.
        """
        from unknot.report.content import collect_model
        from unknot.report.page import write_report

        data = self._labeled(x, y, labels)
        history = getattr(self, "history_", [])
        write_report(collect_model(self.trained_, data, Path(path).stem, history=history), Path(path))

    def counterfactuals(self, x: Any, y: Any = None, /, **labels: Any) -> dict[str, Counterfactual]:
        """What happens when one factor of x is changed and everything else is kept, for every factor by name.

        ``print(vae.counterfactuals(x, digit=labels)["digit"])`` says it in a sentence and in numbers. Half of the items
        with labels are changed, at most 1,000; another reader and the probes learn from the other half. Without labels
        the model's own encoder is the only judge.
        """
        data = self._labeled(x, y, labels)
        known = {name: factor for name, factor in data.factors.items() if bool(factor.known.any())}
        data = replace(data, factors=known)
        return {one.factor: one for one in counterfactuals(self.trained_, data, seed=self.seed)}

    # ---- files --------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the trained model to a folder: weights as safetensors, the rest as JSON."""
        self._check_fitted()
        save_model(self.trained_, Path(path), parameters=plain_parameters(self))

    @classmethod
    def load(cls, path: str | Path) -> StructuredVAE:
        """Read a saved model, or the model of a run of `unknot fit`."""
        estimator = cls(**read_description(Path(path)).get("parameters", {}))
        estimator._take(TrainedModel.load(path))
        return estimator
