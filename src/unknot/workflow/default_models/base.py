"""DefaultModel: what all defaults have in common, and the questions about data and objectives that they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar

from torch import Tensor

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import StoredItems
from unknot.data.text_dataset import TextDataset
from unknot.errors import SpecError
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.models.spec import ModelSpec
from unknot.schema import left_out_or, whole

NOTHING: Mapping[str, Any] = MappingProxyType({})
STYLE = left_out_or(whole(1, 10**5))  # the schema of a size of the style that may be left out


@dataclass(frozen=True)
class DefaultModel:
    """What all defaults have in common.

    Attributes
    ----------
    name : str
        How specs and runs name it.
    FEATURES : str, optional
        The features that its predictions are stacked on, where the data do not tell
        (:mod:`unknot.models.features`).
    """

    name: ClassVar[str]
    FEATURES: ClassVar[str | None] = None

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

    def training(self, data: Dataset, given: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
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


def is_table(data: Dataset) -> bool:
    """Whether items are rows of columns: described ones, or real numbers; whole numbers are counts of words."""
    if data.table:
        return True
    return isinstance(data.x, Tensor | StoredItems) and data.x.ndim == 2 and data.x.dtype.is_floating_point


def is_text(data: Dataset) -> bool:
    """Whether items are counts of words: of texts, or with a vocabulary."""
    if isinstance(data, CellDataset):
        return False
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
