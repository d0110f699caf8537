"""Default models: named objects that say which data they suit, what the model is and how it is trained.

Each class below is one default. Its fields are the settings that a user may change, as ``model: {kind: images, style:
20}`` in a spec or ``StructuredVAE(model="images", style=20)``. :func:`choose` picks the default of a data set, and a
run keeps its name. The evidence for the choices is in docs/defaults.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor

from unknot.data.batch import any_known
from unknot.data.dataset import Column, Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import StoredItems
from unknot.data.text_dataset import TextDataset
from unknot.errors import SpecError
from unknot.models.augment import AUGMENT
from unknot.models.ensemble.components import are_counts
from unknot.models.ensemble.spec import PLAIN_SETTINGS, SETTINGS, EnsembleSpec, free_name, read_ensemble
from unknot.models.likelihoods.table import describe_columns
from unknot.models.node_spec import NODE
from unknot.models.spec import MODEL_SETTINGS, ModelSpec, read_spec
from unknot.schema import ANYTHING, check, flag, left_out_or, list_of, schema_of, setting, whole
from unknot.suggest import did_you_mean
from unknot.workflow.class_style import class_style_spec
from unknot.workflow.data_summary import is_drawn_in_ink
from unknot.workflow.labels import class_count, share_of_labels

STEPS, BATCH_SIZE, ALPHA = 1000, 256, 20.0
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_style = left_out_or(whole(1, 10**5))


@dataclass(frozen=True)
class DefaultModel:
    """What all defaults have in common.

    Attributes
    ----------
    name : str
        How specs and runs name it.
    """

    name: ClassVar[str]

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        """Say why the model cannot be made for some data, or return "" if it can."""
        return ""

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        """Whether it is a good default for the data; stricter than :meth:`unsuitable`."""
        return not cls.unsuitable(data)

    def spec(self, data: Dataset) -> ModelSpec | EnsembleSpec:
        """Return the model for the data."""
        raise NotImplementedError

    def training(self, data: Dataset, given: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        """Return the ``train`` section: the settings in ``given``, and the defaults for the others.

        An objective in ``given`` without a name changes symbols of the default objective, ``{"alpha": 50}``.
        """
        made = {
            **self._training(data),
            **{k: v for k, v in given.items() if v is not None or k == "labeled_share"},
        }
        if given.get("epochs") is not None and given.get("steps") is None:
            del made["steps"]
        made["objective"] = tuned(self._training(data)["objective"], given.get("objective"))
        return made

    def _training(self, data: Dataset) -> dict[str, Any]:
        """The defaults alone."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the ``model`` section: the kind, and the settings that differ from their defaults."""
        changed = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"kind": self.name, **{k: v for k, v in changed.items() if v != getattr(type(self), k)}}


@dataclass(frozen=True)
class ClassStyle(DefaultModel):
    """The class-and-style model (:mod:`unknot.workflow.class_style`): the default where no other one suits."""

    name: ClassVar[str] = "class_style"
    style: int = setting(whole(1, 10**5), "dimensions of what the factors leave over", 10)
    gradient: str | None = setting(NODE["properties"]["gradient"], "gradient of factors with classes", None)
    separate: bool = setting(flag(), "keep the factors out of the style", False)
    x: Mapping[str, Any] | None = setting(
        left_out_or({**NODE, "required": []}), "further settings of the data node", None
    )
    augment: str | Mapping[str, float] | None = setting(
        left_out_or(AUGMENT), "how training images are jittered", None
    )
    width: int = setting(MODEL_SETTINGS["width"], "width of hidden layers", 256)
    temperature: float = setting(MODEL_SETTINGS["temperature"], "temperature of relaxed draws", 0.66)
    samples: int | None = setting(MODEL_SETTINGS["samples"], "draws of the encoder in a training step", None)

    # Swapped factors are predicted as they were set, and the dependence of the style on the factors is penalized.
    SEPARATE: ClassVar[Mapping[str, float]] = {"swap": 1.0, "independence": 1000.0}

    def spec(self, data: Dataset) -> ModelSpec:
        return class_style_spec(data, **{f.name: getattr(self, f.name) for f in fields(self)})

    def training(self, data: Dataset, given: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        made = super().training(data, given)
        if self.separate:
            made["objective"] = with_regularizers(made["objective"], self.SEPARATE)
        return made

    def _training(self, data: Dataset) -> dict[str, Any]:
        return {
            "steps": STEPS,
            "batch_size": min(BATCH_SIZE, len(data)),
            "labeled_share": share_of_labels(data),
            "objective": {"name": "semi_supervised", "alpha": ALPHA} if data.factors else "elbo",
        }


@dataclass(frozen=True)
class Images(ClassStyle):
    """Images whose labels are classes: the predictions for two views of an image must agree.

    In the first steps the divergence of the style has a tenth of its weight: in small images the style is lost
    otherwise before the decoder uses it. Short runs have no time for that.
    """

    name: ClassVar[str] = "images"
    # Amounts of jitter that keep nearly every class, in radians and fractions of half a side; in photographs also the
    # light changes.
    DRAWN: ClassVar[Mapping[str, float]] = {"turn": 0.12, "scale": 0.1, "shear": 0.12, "shift": 0.06}
    PHOTOGRAPHED: ClassVar[Mapping[str, float]] = {**DRAWN, "gain": 0.1, "gamma": 0.1}
    AGREEMENT: ClassVar[Mapping[str, Any]] = {"agreement": {"weight": 100.0, "confidence": 0.9}}
    WARM_STEPS, WARM_WEIGHT, SHORT_RUN = 300, 0.1, 900
    FEWEST_PIXELS = 8  # along a side

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        shape = data.item_shape
        if len(shape) != 3 or min(shape[1:]) < cls.FEWEST_PIXELS:
            return f"needs images of at least {cls.FEWEST_PIXELS} x {cls.FEWEST_PIXELS} pixels"
        if not any(f.kind in ("categorical", "binary") for f in data.factors.values()):
            return "needs labels that are classes"
        return ""

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        kinds = {factor.kind for factor in data.factors.values()}  # jitter may change a number
        known = all(bool(factor.known.any()) for factor in data.factors.values())
        return not cls.unsuitable(data) and kinds <= {"categorical", "binary"} and known

    def spec(self, data: Dataset) -> ModelSpec:
        jitter = self.augment or (self.DRAWN if is_drawn_in_ink(data) else self.PHOTOGRAPHED)
        return replace(super().spec(data), augment=jitter)

    def _training(self, data: Dataset) -> dict[str, Any]:
        made = super()._training(data)
        return {**made, "objective": with_regularizers(made["objective"], self.AGREEMENT)}

    def training(self, data: Dataset, given: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        made = super().training(data, given)
        long = made.get("steps") is not None and made["steps"] >= self.SHORT_RUN
        if long and given.get("stages") is None and not is_named(given.get("objective")):
            weights = {free_name("style", data.factors): self.WARM_WEIGHT}
            made["stages"] = [{"steps": self.WARM_STEPS, "objective": {**made["objective"], "beta": weights}}]
        return made


@dataclass(frozen=True)
class TableEnsemble(DefaultModel):
    """Tables with labels: an ensemble of small models (:mod:`unknot.models.ensemble.ensemble`).

    Few labels and unknown columns: no single strength of regularization is right everywhere.
    """

    name: ClassVar[str] = "ensemble"
    style: int | None = setting(
        _style, "dimensions of what the factors leave over; by default half the columns", None
    )
    hidden: int = setting(whole(1, 1 << 14), "width of hidden layers", 32)
    folds: int = setting(whole(2, 10**4), "in how many parts the labels are hidden in turn", 5)
    settings: tuple[Any, ...] | None = setting(
        left_out_or(list_of(ANYTHING, 1)), "in what the members differ", None
    )

    MOST_LABELS: ClassVar[int] = 5000  # with more, one larger network learns more than many small ones
    FEWEST_COLUMNS: ClassVar[int] = 1
    MOST_COLUMNS: ClassVar[int] = 1000  # categories counted by their classes
    MOST_CLASSES: ClassVar[int] = 200  # the sum over more takes hours and the memory of the machine

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        if not is_table(data) or isinstance(data.x, StoredItems):
            return "is for tables in memory"
        return "" if data.factors else "needs labels"

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        if cls.unsuitable(data) or any(int(factor.known.sum()) < 2 for factor in data.factors.values()):
            return False
        if cls._classes(data) > cls.MOST_CLASSES:
            return False
        if int(any_known(data, None).sum()) > cls.MOST_LABELS:
            return False
        return cls.FEWEST_COLUMNS <= cls._width(data) <= cls.MOST_COLUMNS

    def spec(self, data: Dataset) -> EnsembleSpec:
        """Return the ensemble of a table: its columns, its factors, and the sizes that follow from them."""
        rows = data.x if isinstance(data.x, Tensor) else data.x[:]
        columns = data.table or tuple(Column(f"column {i}", "real") for i in range(rows.shape[1]))
        kinds, names = [c.kind for c in columns], [c.name for c in columns]
        described = describe_columns(kinds, rows, names, [len(c.classes) for c in columns])
        missing = torch.isnan(rows).any(0).tolist()
        made = [{**c, "missing": True} if m else c for c, m in zip(described, missing, strict=True)]
        return self._ensemble(data, made, self._width(data))

    def _ensemble(
        self, data: Dataset, columns: list[Mapping[str, Any]], width: int, **more: Any
    ) -> EnsembleSpec:
        """Return the ensemble of described columns, of ``width`` numbers.

        If a factor is a number, members with plain settings, ridge regression among them, are added.
        """
        factors = {}
        for name, factor in data.factors.items():
            if factor.kind == "continuous":
                size = factor.values.shape[1] if factor.values.ndim == 2 else 1
                factors[name] = {"family": "normal", "size": size}
            else:
                factors[name] = {"family": "concrete", "size": class_count(factor)}
        numbers = any(one["family"] == "normal" for one in factors.values())
        usual = (*SETTINGS, *PLAIN_SETTINGS) if numbers else SETTINGS
        return read_ensemble(
            {
                "columns": columns,
                "factors": factors,
                "rows": len(data),
                "style": self.style or self._style_size(width),
                "hidden": self.hidden,
                "folds": self.folds,
                "settings": usual if self.settings is None else self.settings,
                **more,
            }
        )

    def training(self, data: Dataset, given: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        objective = given.get("objective")
        symbols = {"name": objective} if isinstance(objective, str) else objective or {"name": "elbo"}
        own = isinstance(symbols, Mapping) and symbols.get("name", "elbo") in ("elbo", "supervised")
        if not own or symbols.get("alpha") or "regularizers" in symbols:
            raise SpecError(
                "train.objective: an ensemble is trained by its own bound, elbo, and its members have weights of the "
                "labels of their own; for another objective, alpha or regularizers choose model: {kind: class_style} "
                "(model='class_style' in Python)."
            )
        made = super().training(data, given)
        return {**made, "batch_size": min(made["batch_size"], len(data))}

    def _training(self, data: Dataset) -> dict[str, Any]:
        # The divergence of the style in closed form; few steps at a high rate.
        return {
            "objective": {"name": "elbo", "analytic": True},
            "steps": 500,
            "batch_size": 64,
            "learning_rate": {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20},
            "betas": [0.9, 0.99],
            "labeled_share": None,
        }

    @staticmethod
    def _style_size(columns: int) -> int:
        """Half the columns, from 2 to 20."""
        return min(max(columns // 2, 2), 20)

    @staticmethod
    def _classes(data: Dataset) -> int:
        """Classes of the one factor that would cost as much as all: each is an input in every combination of them."""
        counts = [class_count(factor) for factor in data.factors.values() if factor.kind != "continuous"]
        return math.isqrt(math.prod(counts) * sum(counts))

    @staticmethod
    def _width(data: Dataset) -> int:
        """Columns as networks see them, categories one-hot."""
        return sum(max(len(c.classes), 1) for c in data.table) if data.table else data.x.shape[1]


@dataclass(frozen=True)
class Wide(TableEnsemble):
    """Rows of many numbers or counts with labels: the ensemble of a table on the components of a truncated SVD.

    The components are those of all rows, labeled or not (:mod:`unknot.models.ensemble.components`).
    """

    name: ClassVar[str] = "wide"
    components: int = setting(whole(1, 1000), "components of the truncated SVD, or fewer", 50)

    FEWEST_COLUMNS: ClassVar[int] = 501  # below the columns themselves are what the ensemble learns from
    MOST_COLUMNS: ClassVar[int] = 10**6

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        rows = isinstance(data.x, Tensor | SparseCounts) and len(data.item_shape) == 1 and len(data) > 1
        if not rows or is_text(data) or any(column.kind == "category" for column in data.table):
            return "is for rows of numbers or counts in memory"
        return "" if data.factors else "needs labels"

    def spec(self, data: Dataset) -> EnsembleSpec:
        """Return the ensemble of the components: at most one fewer than rows, whose means are subtracted."""
        raw = {"columns": data.item_shape[0], "counts": are_counts(data.x)}
        size = min(self.components, len(data) - 1, raw["columns"])
        columns: list[Mapping[str, Any]] = [{"name": f"component {i}", "kind": "real"} for i in range(size)]
        return self._ensemble(data, columns, size, components=raw)


@dataclass(frozen=True)
class Topics(DefaultModel):
    """Texts with labels of one factor with classes: each class has its own words, and is inferred by Bayes' rule.

    Counts are weighted by tf-idf. The prior of each class counts as two thousand words of the corpus, from ten labels
    per class on as two hundred words per label: with many labels the term of the labels counts each of them many
    times, and only a prior that grows with them prevents overfitting.
    """

    name: ClassVar[str] = "topics"
    style: int | None = setting(_style, "topics beside the class; by default none", None)

    PRIOR_WORDS: ClassVar[tuple[float, float]] = (2000.0, 200.0)  # of a class, and for each of its labels

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        if not isinstance(data.x, SparseCounts) or len(data.factors) != 1:
            return "is for texts with labels of one factor"
        factor = next(iter(data.factors.values()))
        known = factor.kind in ("categorical", "binary") and bool(factor.known.any())
        return "" if known else "needs labels that are classes"

    def spec(self, data: Dataset) -> ModelSpec:
        (name, factor), x = next(iter(data.factors.items())), free_name("x", data.factors)
        size = class_count(factor)
        encoder = {"encoder": "bayes", "inferred_from": [x]}
        nodes: dict[str, Any] = {name: {"family": "categorical", "size": size, "labels": True, **encoder}}
        if self.style:
            topics = {"family": "normal", "size": self.style, "inferred_from": [x]}
            nodes[free_name("topics", data.factors)] = topics
        least, per_label = self.PRIOR_WORDS
        words: dict[str, Any] = {"name": "multinomial"}
        words["prior_words"] = max(least, per_label * int(factor.known.sum()) / size)
        if not data.x.dtype.is_floating_point:  # words are weighted already otherwise
            words["weights"] = "tfidf"
        nodes[x] = {"family": words, "parents": list(nodes)}
        return read_spec({"nodes": nodes})

    def training(self, data: Dataset, given: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        made = super().training(data, given)
        return {**made, "batch_size": min(made["batch_size"], len(data))}

    def _training(self, data: Dataset) -> dict[str, Any]:
        # Few steps at a low rate: the words of the classes begin where naive Bayes with EM ends.
        return {
            "objective": {"name": "semi_supervised", "alpha": 30.0},
            "steps": 300,
            "batch_size": 256,
            "learning_rate": {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20},
            "betas": [0.9, 0.99],
            "labeled_share": None,
        }


# ---- the choice --------------------------------------------------------------------------------------------

DEFAULT_MODELS: Mapping[str, type[DefaultModel]] = {
    one.name: one for one in (Wide, TableEnsemble, Topics, Images, ClassStyle)
}
"""All defaults by name; the first one that suits is chosen."""


def choose(data: Dataset) -> type[DefaultModel]:
    """Return the default model of a data set."""
    return next(one for one in DEFAULT_MODELS.values() if one.suits(data))


def default_model(described: Mapping[str, Any], data: Dataset) -> DefaultModel:
    """Make the default model that a ``model`` section asks for.

    Parameters
    ----------
    described : mapping
        The ``kind`` (a name of :data:`DEFAULT_MODELS`, or "auto" for :func:`choose`), and settings of that model.
    data : Dataset
        The training data.

    Raises
    ------
    SpecError
        If the model does not fit the data, or a setting does not fit the model.
    """
    settings = dict(described)
    kind = settings.pop("kind", "auto")
    chosen = choose(data) if kind == "auto" else DEFAULT_MODELS[kind]
    reason = chosen.unsuitable(data)
    if reason:
        raise SpecError(
            f"model: {chosen.name} {reason}, but {data.name} has items of shape {tuple(data.item_shape)} with labels "
            f"of {', '.join(data.factors) or 'nothing'}; choose kind: auto."
        )
    known = {name: [f.name for f in fields(one)] for name, one in DEFAULT_MODELS.items()}
    for key in settings:
        if key in known[chosen.name]:
            continue
        others = [
            name for name, keys in known.items() if key in keys and not DEFAULT_MODELS[name].unsuitable(data)
        ]
        if not others:
            raise SpecError(f"model: unknown key '{key}'; {did_you_mean(key, known[chosen.name])}")
        why = "which is the default for these data, " if kind == "auto" else ""
        raise SpecError(
            f"model: {chosen.name}, {why}has no setting '{key}', only {', '.join(known[chosen.name])}; leave it "
            f"out, or choose kind: {' or '.join(others)} (model='{others[-1]}' in Python)."
        )
    check(settings, schema_of(chosen, "settings of a default model"), "model")
    return chosen(**settings)


def make_default(described: Mapping[str, Any]) -> DefaultModel:
    """Read a default model from what :meth:`DefaultModel.to_dict` wrote."""
    settings = dict(described)
    return DEFAULT_MODELS[settings.pop("kind")](**settings)


def is_table(data: Dataset) -> bool:
    """Whether items are rows of columns: described ones, or real numbers; whole numbers are counts of words."""
    if data.table:
        return True
    return isinstance(data.x, Tensor | StoredItems) and data.x.ndim == 2 and data.x.dtype.is_floating_point


def is_text(data: Dataset) -> bool:
    """Whether items are counts of words: of texts, or with a vocabulary."""
    return isinstance(data, TextDataset) or (isinstance(data.x, SparseCounts) and bool(data.columns))


def is_named(objective: Any) -> bool:
    """Whether an objective is chosen, instead of symbols for the default one."""
    return objective is not None and not (isinstance(objective, Mapping) and "name" not in objective)


def tuned(default: str | Mapping[str, Any], objective: Any) -> Any:
    """Return the default objective with the symbols in ``objective``, or ``objective`` itself if it has a name.

    >>> tuned({"name": "semi_supervised", "alpha": 20.0}, {"alpha": 5.0})
    {'name': 'semi_supervised', 'alpha': 5.0}
    >>> tuned("elbo", "hfvae")
    'hfvae'
    >>> tuned({"name": "elbo", "regularizers": {"swap": 1.0}}, {"regularizers": {"swap": 2.0}})
    {'name': 'elbo', 'regularizers': {'swap': 2.0}}
    """
    if is_named(objective) or not objective:
        return objective or default
    symbols = dict(objective)
    chosen = symbols.pop("regularizers", None) or {}
    made = {**({"name": default} if isinstance(default, str) else default), **symbols}
    regularizers = made.get("regularizers") or {}
    return {**made, "regularizers": _merged(regularizers, chosen)} if chosen else made


def with_regularizers(objective: Any, regularizers: Mapping[str, Any]) -> dict[str, Any]:
    """Return an objective with further regularizers; those that it has keep their weights."""
    if callable(objective):
        raise SpecError(
            "separate adds regularizers to an objective by name, but the objective is a function; leave separate out, "
            "or choose an objective by name."
        )
    symbols: dict[str, Any] = {"name": objective} if isinstance(objective, str) else dict(objective)
    return {**symbols, "regularizers": _merged(regularizers, symbols.get("regularizers") or {})}


def _merged(usual: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Regularizers with changes; a changed weight keeps the other options."""
    made = dict(usual)
    for name, value in chosen.items():
        options = made.get(name)
        changed = value if isinstance(value, Mapping) else {"weight": value}
        made[name] = {**options, **changed} if isinstance(options, Mapping) else value
    return made
