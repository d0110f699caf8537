"""StructuredVAE: fit, predict, transform, sample and vary, with scikit-learn's habits."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin

from unknot.data.cell_dataset import CellDataset
from unknot.data.hierarchy import Hierarchy
from unknot.data.readers.cells import is_cells
from unknot.data.readers.picture_size import ORIGINAL
from unknot.errors import DataError, SpecError
from unknot.estimator.answers import Answers
from unknot.estimator.fitted import go_on, without_prediction
from unknot.estimator.frame import frame_library, is_frame, is_records
from unknot.estimator.given import read_given, split_given
from unknot.estimator.imputation import fill_missing
from unknot.estimator.input import as_array, read_items, with_labels
from unknot.estimator.label_arguments import has_words, known_labels, named_labels, with_y
from unknot.estimator.notebook import html
from unknot.estimator.parameters import (
    model_section,
    plain_parameters,
    refuse_wrong_parameters,
    training_settings,
    weights_of_classes,
)
from unknot.train.loop import fit as train
from unknot.workflow.answers import with_answers
from unknot.workflow.assembly import Assembly, assemble
from unknot.workflow.cell_genes import Differences, StyleGenes, differences, style_genes
from unknot.workflow.cell_predictions import annotate
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
from unknot.workflow.verdict.verdict import verdict, warn_of_findings


class StructuredVAE(Answers, TransformerMixin, BaseEstimator):
    """Learn named factors from partly labeled data, and a style from what they leave over (S17).

    Parameters
    ----------
    model : str, mapping, list of NodeSpec or path, default="auto"
        The model. "auto" chooses a default by the data (docs/defaults.md); "class_style", "images", "ensemble" and
        "topics" name one. Or a description: a mapping as in a spec (``{"kind": "ensemble", "folds": 3}`` or
        ``{"nodes": ...}``), a list of nodes, or a YAML file.
    style : int, optional
        Dimensions of what the factors leave over; with "topics" the number of topics.
    objective : str, mapping or callable, optional
        The objective: a name, ``{"name": "hfvae", "beta": 4.0}``, or a function of (q, p).
    alpha : float, optional
        Weight of the labels in the objective.
    gradient : str, optional
        Gradient of the factors with classes, for example "enumerate".
    augment : str or mapping, optional
        How training images are jittered: "affine", "elastic", or amounts by name.
    agreement : float, optional
        Weight of the agreement between the predictions for an image and for its jittered view.
    separate : bool, default=False
        Keep the factors out of the style, so that ``vary`` changes a factor and the style stays. Training takes up to
        twice as long.
    columns : mapping or list, optional
        Kinds of a table's columns, of some by name or of all: "real", "binary", "category", "count", "leave out".
    kinds : mapping, optional
        Kinds of factors that cannot be told from their labels: "categorical", "continuous", "binary", "count", or
        "interval" for numbers among which are intervals, such as ``(3, 5)``, ``(None, 2)`` or ``">10"``.
    classes : mapping, optional
        Classes of factors, or trees whose leaves are the classes: nested mappings, or an `unknot.data.Hierarchy`.
    text : mapping, optional
        How words of texts are counted, in the terms of scikit-learn's ``CountVectorizer``, for example
        ``{"max_features": 2000, "stop_words": None}``. With labels words are weighted by tf-idf, unless it says
        ``{"weights": "counts"}``.
    size : int or sequence of int, optional
        The size to which pictures are resized: pixels along the longest side, or height and width. By default a default
        model gets pictures of one size as they are up to 64 pixels, and others with 32 along the longest side.
    layer : str, default=""
        The layer of AnnData that holds the counts; "" is ``X``.
    unlabeled : sequence of str, optional
        Labels of AnnData that stand for an unknown one, beside "Unknown" and missing ones.
    steps : int, optional
        Training steps.
    batch_size : int, optional
        Items per step.
    labeled_share : float, optional
        Share of labeled items in each batch; by default a third where labels are scarcer than that.
    learning_rate : float or mapping, optional
        A number or a schedule.
    patience : int, optional
        Stop if the error on a fifth of the labels, held out for this, has not improved for this many epochs, and keep
        the best weights. Without labels the bound of a fifth of the items counts.
    cross_fit : int, optional
        In how many parts the labels are hidden in turn, to estimate the error and to stack the model with a linear
        model and a forest (:mod:`unknot.workflow.cross_fit`). By default only default models are; 0: none.
    class_weight : "balanced" or mapping, optional
        Weights of the classes in predictions (:mod:`unknot.workflow.class_weights`).
    warm_start : bool, default=False
        Let another ``fit``, with more items, labels or steps, start from the fitted weights.
    device : str, default="auto"
        "auto", "cpu", "cuda" or "mps".
    seed : int, default=0
        Seed of the first weights, the batches and the draws.
    verdict : bool, default=True
        Warn if the training went wrong (:mod:`unknot.workflow.verdict`).
    verbose : bool, default=True
        Print a summary of the data and a progress bar.

    Attributes
    ----------
    trained_ : TrainedModel
        The trained model, which ``save`` writes.
    factors_ : dict from str to Factor
        The factors.
    classes_ : dict from str to list
        Their classes in the user's own type.
    rater_confusion_ : dict from str to dict
        By factor with votes and by rater, the learned p(reported class | class), ``(K, K)``.
    n_features_in_ : int
        The numbers of an item.
    result_ : Result
        How the training ended.
    history_ : list of dict
        The logged terms of the objective.

    Notes
    -----
    An argument of the model changes a setting of the chosen default, and one that the default does not have is refused.
    None leaves a setting to the default.

    Items are arrays, images, tables or texts. A frame is a table, and so are rows with words or missing values: NaN and
    None mark missing entries, words are a category, 0 and 1 binary, other numbers real. Columns of a frame go by name.
    A list of strings are texts, which are counted word by word; generated texts come back as their likeliest words.
    Sparse matrices of counts stay sparse. In labels -1, NaN, None, masked entries and empty words mark unknown ones;
    whole numbers, bools and strings are classes, real numbers a vector.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> labels = digits.copy()
    >>> labels[200:] = -1                                    # only 200 digits are known
    >>> vae = StructuredVAE(steps=20, verbose=False).fit(images / 16, digit=labels)
    >>> vae.predict(images[:5] / 16).shape
    (5,)
    """

    def __init__(
        self,
        model: Any = "auto",
        *,
        style: int | None = None,
        objective: Any = None,
        alpha: float | None = None,
        gradient: str | None = None,
        augment: str | Mapping[str, float] | None = None,
        agreement: float | None = None,
        separate: bool = False,
        columns: Any = None,
        kinds: Mapping[str, Any] | None = None,
        classes: Mapping[str, Any] | None = None,
        text: Mapping[str, Any] | None = None,
        size: Any = None,
        layer: str = "",
        unlabeled: Iterable[str] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        labeled_share: float | None = None,
        learning_rate: Any = None,
        patience: int | None = None,
        cross_fit: int | None = None,
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
        self.classes = classes
        self.text = text
        self.size = size
        self.layer = layer
        self.unlabeled = unlabeled
        self.steps = steps
        self.batch_size = batch_size
        self.labeled_share = labeled_share
        self.learning_rate = learning_rate
        self.patience = patience
        self.cross_fit = cross_fit
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.device = device
        self.seed = seed
        self.verdict = verdict
        self.verbose = verbose

    def _repr_html_(self) -> str:
        """What a notebook shows: the parameters; once fitted the factors, their errors and the graph."""
        return html(self.trained_) if hasattr(self, "trained_") else super()._repr_html_()

    # ---- learning -----------------------------------------------------------------------------------

    def fit(self, x: Any, y: Any = None, /, *, given: Any = None, **labels: Any) -> StructuredVAE:
        """Learn from items and their labels: ``fit(images, digit=digits, light=vectors)``.

        Parameters
        ----------
        x : array, frame, AnnData or list of str
            Items, ``(N, ...)``.
        y : array, optional
            As in a scikit-learn pipeline, the labels of the factor "label", or of the one that the model labels.
        given : str, sequence of str or mapping, optional
            What is known of every item and is not predicted, as its batch, donor or dose: columns of a frame or of
            AnnData's ``obs``, or ``{"donor": donors}``. The model conditions on it, and ``vary`` changes it. A category
            that ``fit`` has not seen has the mean over the training items.
        **labels : array, list or Votes
            By factor one label per item, unknown ones marked. Of AnnData ``label="cell_type"`` takes a column of
            ``obs``. A label may also be a list or set of classes, one of which is right, a node or path of the tree in
            ``classes``, a mapping from class to weight, or a word such as ``A|B`` or ``!C``; an `unknot.data.Votes` has
            what several raters report.

        Returns
        -------
        self
        """
        from unknot.report.answer import answers

        refuse_wrong_parameters(self)
        going_on = self.warm_start and hasattr(self, "trained_")
        made = self._same(x, y, labels, given) if going_on else self._new(x, y, labels, given)
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
        trained = replace(made.model, class_weights=weights, trained_labels=seen)
        self._take(with_answers(trained, made.data, made.config, self.result_, warm=going_on))
        self.factors_ = dict(made.data.factors)
        if self.verdict or self.verbose:
            found = verdict(self.trained_, made.data, None, self.history_)
            if self.verbose:
                print(*answers(found.unseen, found.comparisons), sep="\n", file=sys.stderr)
            if self.verdict:
                warn_of_findings(found)
        return self

    def _new(self, x: Any, y: Any, labels: Mapping[str, Any], given: Any = None) -> Assembly:
        """Build a model for the data, with its first weights."""
        x, beside = split_given(x, given)
        section, described = model_section(self)
        takers = [] if described is None else described.labeled
        unlabeled = (self.unlabeled,) if isinstance(self.unlabeled, str) else tuple(self.unlabeled or ())
        labels = named_labels(x, labels, unlabeled)
        labels = with_y(y, labels, [node.name for node in takers])
        of_nodes = {name: kind for name, kind in label_kinds(takers).items() if name in labels}
        usual = {"weights": "tfidf"} if labels else {}
        size = ORIGINAL if described is not None and self.size is None else self.size
        text = {**usual, **(self.text or {})}
        items = read_items(x, self.columns, text=text, size=size, layer=self.layer, unlabeled=unlabeled)
        self._frame_library = frame_library(x)
        kinds = dict(self.kinds or {})
        kinds_given = {name: kinds.pop(name) for name in beside if name in kinds}
        data = with_described_classes(with_labels(items, labels, of_nodes | kinds, self.classes), takers)
        data = read_given(data, beside, kinds_given)
        words = [name for name in labels if has_words(labels[name])]
        model = section if described is None else Described(described)
        return assemble(data, model, training_settings(self, data), labels=data.factors, words=words)

    def _same(self, x: Any, y: Any, labels: Mapping[str, Any], given: Any = None) -> Assembly:
        """Take the fitted model, to be trained further."""
        data = self._labeled(x, y, labels, given)
        return go_on(self.trained_, data, training_settings(self, data))

    # ---- prediction ---------------------------------------------------------------------------------

    def predict(
        self,
        x: Any,
        factor: str | None = None,
        *,
        depth: int | None = None,
        errors: str = "warn",
        given: Any = None,
    ) -> np.ndarray:
        """Predict one factor.

        Parameters
        ----------
        x : array, frame, list of str, dict or list of dicts
            Items of the kind that was fitted, ``(N, ...)``. A dict is one row of a table, by column.
        factor : str, optional
            The factor; it may be left out if there is only one.
        depth : int, optional
            Predict nodes of the class tree at this depth, from 1 for the roots; a class above it stands for itself.
        errors : {"warn", "raise"}, default="warn"
            Whether a row that cannot be read has no prediction (NaN, or None for words), with a warning that names it,
            or is refused. A category that training rows do not have is a missing cell, with a warning, or is refused.

        given : str, sequence of str or mapping, optional
            As for :meth:`fit`. Of frames and AnnData the columns that the model was given are found by name.

        Returns
        -------
        ndarray
            The most probable classes in the user's own names ``(N,)``, or the means ``(N,)`` or ``(N, D)``.
        """
        name = self._one_factor(factor)
        if depth is None:
            return self._predict(x, name, errors, given)
        shares = self.predict_proba(x, name, depth=depth, errors=errors, given=given)
        nodes = np.asarray(self._tree(name).at_depth(depth), dtype=object)
        return without_prediction(nodes[shares.argmax(1)], np.isnan(shares[:, 0]))

    def _tree(self, name: str) -> Hierarchy:
        tree = self.factors_[name].tree
        if tree is None:
            raise SpecError(f"factor '{name}' has no tree of classes, so that its classes have no depth.")
        return tree

    def _predict(self, x: Any, name: str, errors: str | None = None, given: Any = None) -> np.ndarray:
        summary = self._predictions(x, errors, given)[name]
        if self.factors_[name].kind == "continuous":
            return summary[:, 0] if self.factors_[name].values.ndim == 1 else summary
        best = np.asarray(self.trained_.class_values(name))[class_probabilities(summary).argmax(-1)]
        return without_prediction(best, np.isnan(summary[:, 0]))

    def predict_proba(
        self,
        x: Any,
        factor: str | None = None,
        *,
        depth: int | None = None,
        errors: str = "warn",
        given: Any = None,
    ) -> np.ndarray:
        """Predict the probabilities of the classes of one factor, ``(N, K)``, in the order of ``classes_[factor]``.

        The parameters are those of :meth:`predict`. At a ``depth`` of the class tree they are the sums over the classes
        below each node, in the order of :meth:`unknot.data.Hierarchy.at_depth`.
        """
        name = self._one_factor(factor)
        if self.factors_[name].kind == "continuous":
            raise SpecError(
                f"factor '{name}' is continuous: it has a mean (predict) but no class probabilities."
            )
        shares = class_probabilities(self._predictions(x, errors, given)[name])
        return shares if depth is None else self._tree(name).sums(torch.from_numpy(shares), depth).numpy()

    def transform(self, x: Any, *, given: Any = None) -> np.ndarray:
        """Return factors and style side by side, ``(N, D)``: probabilities of classes, means of the rest."""
        predictions = self._predictions(x, given=given)
        return np.concatenate([predictions[n.name] for n in self.trained_.latents], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`."""
        self._check_fitted()
        names = [f"{n.name}[{i}]" for n in self.trained_.latents for i in range(n.size or 0)]
        return np.asarray(names, dtype=object)

    def score(self, x: Any, y: Any = None, /, **labels: Any) -> float:
        """Score the predictions where labels are known.

        Parameters
        ----------
        x : array, frame or list of str
            Items of the kind that was fitted.
        y : array, optional
            The labels of the only factor.
        **labels : array
            Labels by factor.

        Returns
        -------
        float
            The share of right classes, or minus the mean squared error, averaged over factors.
        """
        self._check_fitted()
        labels = with_y(y, named_labels(x, labels, self.trained_.data), list(self.factors_))
        if not labels:
            raise SpecError("score() compares with labels: score(x, digit=labels).")
        scores = []
        for name, truth in labels.items():
            predicted, kind = self._predict(x, self._one_factor(name)), self.factors_[name].kind
            known, values = known_labels(name, truth, predicted, continuous=kind == "continuous")
            errors = (
                predicted[known] == values if kind != "continuous" else -((predicted[known] - values) ** 2)
            )
            scores.append(float(np.mean(errors)))
        return float(np.mean(scores))

    def score_samples(self, x: Any, samples: int = 50) -> np.ndarray:
        """Return an importance-weighted bound of log p(x) for each item, ``(N,)``: low for outliers.

        Parameters
        ----------
        x : array, frame or list of str
            Items of the kind that was fitted.
        samples : int, default=50
            Draws per item.
        """
        return log_evidence(self.trained_, self._rows(x), samples).numpy()

    def annotate(self, adata: Any, level: float = 0.9, *, errors: str = "warn") -> None:
        """Write predictions for the cells of an AnnData object into it (:mod:`unknot.workflow.cell_predictions`).

        Parameters
        ----------
        adata : AnnData
            Cells, also with other genes than those that were fitted. It gets ``obs["NAME_predicted"]``,
            ``_probability``, ``_set``, ``obs["novelty"]``, ``obsm["X_unknot"]`` and ``uns["unknot"]``.
        level : float, default=0.9
            The probability that a set holds the true class.
        errors : {"warn", "raise"}, default="warn"
            Whether cells without counts have no prediction, with a warning, or are refused.
        """
        annotate(self.trained_, adata, self._cells(adata, errors), level)

    def style_genes(self, adata: Any) -> StyleGenes:
        """Measure how the expected genes of cells change along each style dimension.

        Parameters
        ----------
        adata : AnnData
            Cells.

        Returns
        -------
        StyleGenes
            Log2 fold changes; ``top(10)`` lists the genes that change most along each dimension.
        """
        return style_genes(self.trained_, self._cells(adata), seed=self.seed)

    def differences(
        self, adata: Any, first: Any, second: Any, factor: str | None = None, level: float = 0.9
    ) -> Differences:
        """Compare the expected genes of two classes: ``differences(adata, "B cell", "T cell").to_frame()``.

        Parameters
        ----------
        adata : AnnData
            Cells; their labels or, where those are unknown, the predictions tell the classes.
        first, second
            Two classes.
        factor : str, optional
            The factor; it may be left out if there is only one.
        level : float, default=0.9
            The share of pairs of cells whose log2 fold change is in the interval.

        Returns
        -------
        Differences
            Mean log2 fold changes of ``first`` over ``second`` with intervals (:mod:`unknot.workflow.cell_genes`).
        """
        name, cells = self._one_factor(factor), self._cells(adata)
        return differences(self.trained_, cells, name, first, second, level=level, seed=self.seed)

    def _cells(self, adata: Any, errors: str | None = None) -> CellDataset:
        if not is_cells(adata):
            raise DataError(f"expected AnnData, but got {type(adata).__name__}.")
        cells = self._items(adata, errors)
        assert isinstance(cells, CellDataset)
        return cells

    # ---- generating ---------------------------------------------------------------------------------

    def reconstruct(self, x: Any, *, given: Any = None) -> Any:
        """Return the expected items at the predictions for x."""
        return self._in_user_form(self.trained_.reconstruct(*self._batch(x, given)).numpy())

    def impute(self, x: Any) -> Any:
        """Return x with every missing cell of a table at its expected value, or at the most likely category.

        Parameters
        ----------
        x : frame, array, dict or list of dicts
            Rows of a table.

        Returns
        -------
        frame, array, dict or list of dicts
            Of the form of x. Known cells are returned as they are, also in columns that were left out.
        """
        rows, table = self._rows(x), self.trained_.data.table
        if not table:
            return self._in_user_form(rows.numpy())  # without missing entries, which have been refused
        array = None if is_frame(x) or is_records(x) else as_array(x)
        return fill_missing(x, array, self.trained_.reconstruct(rows).numpy(), table, self.columns)

    def sample(self, n: int, given: Mapping[str, Any] | None = None, *, mean: bool = False) -> Any:
        """Generate items: ``sample(16, {"digit": 3})``.

        Parameters
        ----------
        n : int
            The number of items.
        given : mapping from factor to value, optional
            Values for all items or for each; other factors and the style are drawn from the prior, by torch's global
            generator (``torch.manual_seed``).
        mean : bool, default=False
            Return the expected items at the factors instead of draws; pixels always are expected values.

        Returns
        -------
        ndarray or frame
            Categories as words; a model that was fitted on a frame makes a frame.
        """
        self._check_fitted()
        return self._in_user_form(self.trained_.sample(n, given, mean=mean).numpy())

    def vary(self, x: Any, /, *, given: Any = None, **factors: Any) -> np.ndarray:
        """Change one factor of x and keep everything else: ``vary(x, digit=range(10))`` is (N, 10, ...).

        Parameters
        ----------
        x : array, frame or list of str
            Items of the kind that was fitted.
        given : str, sequence of str or mapping, optional
            As for :meth:`fit`.
        **factors : list
            One factor, or what is given, with the values that it takes.
        """
        if len(factors) != 1:
            raise SpecError("vary() changes one factor at a time: vary(x, digit=range(10)).")
        (name, settings), (rows, known) = next(iter(factors.items())), self._batch(x, given)
        settings = [settings] if isinstance(settings, str) else settings
        listed = list(settings) if isinstance(settings, Iterable) else []
        if not listed:
            raise SpecError(f"vary() takes a list of values: vary(x, {name}=[...]), but got {settings!r}.")
        values = [self.trained_.value(name, one, len(rows)) for one in listed]
        return self._in_words(self.trained_.vary(rows, name, values, known).numpy())

    # ---- reports ------------------------------------------------------------------------------------

    def report(self, path: str | Path, x: Any, y: Any = None, /, **labels: Any) -> None:
        """Write the report that `unknot report` writes, one HTML file.

        Parameters
        ----------
        path : str or Path
            The file.
        x : array, frame or list of str
            Items of the kind that was fitted, which the model was not trained on.
        y : array, optional
            The labels of the only factor.
        **labels : array
            Labels by factor.
        """
        from unknot.report.content import collect_model
        from unknot.report.page import write_report

        data = self._labeled(x, y, labels)
        history = getattr(self, "history_", [])
        write_report(collect_model(self.trained_, data, Path(path).stem, history=history), Path(path))

    def export(self, path: str | Path, x: Any = None, y: Any = None, /, **labels: Any) -> None:
        """Write the explorer, one HTML file that runs the model in a browser, or the model as ONNX files.

        Needs the packages onnx and onnxscript: ``pip install 'unknot[explore]'``.

        Parameters
        ----------
        path : str or Path
            ``explorer.html``, or ``model.onnx`` for model.encoder.onnx, model.decoder.onnx and model.json.
        x : array, frame or list of str, optional
            Items to choose from on the page, which the model was not trained on; by default items that it generates.
        y : array, optional
            The labels of the only factor.
        **labels : array
            Labels by factor.
        """
        from unknot.explorer.export import export_onnx, export_page

        self._check_fitted()
        if Path(path).suffix == ".onnx":
            export_onnx(self.trained_, Path(path))
        elif Path(path).suffix == ".html":
            export_page(self.trained_, Path(path), None if x is None else self._labeled(x, y, labels))
        else:
            raise SpecError(f"a model is exported to .html or .onnx, but got {Path(path).name}.")

    def counterfactuals(self, x: Any, y: Any = None, /, **labels: Any) -> dict[str, Counterfactual]:
        """Measure what happens when one factor of x is changed and everything else is kept, for every factor.

        ``print(vae.counterfactuals(x, digit=labels)["digit"])`` prints a sentence and the numbers. Half of the items
        with labels are changed, at most 1,000; an independent predictor and the probes learn from the other half.
        Without labels only the model's own encoder judges.

        Parameters
        ----------
        x : array, frame or list of str
            Items of the kind that was fitted, best not those of training.
        y : array, optional
            The labels of the only factor.
        **labels : array
            Labels by factor.

        Returns
        -------
        dict from str to Counterfactual
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
