"""EnsembleSpec: an ensemble for tables as plain data, and the settings in which its members differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from unknot.errors import SpecError
from unknot.models.node_spec import NodeSpec, node
from unknot.suggest import did_you_mean


@dataclass(frozen=True)
class Setting:
    """What the members of one setting have in common.

    Parameters
    ----------
    generative : bool, default=True
        Whether its members have a decoder and learn from unlabeled rows too.
    rank : bool, default=True
        Whether that decoder models rank-Gaussian columns, not standardized ones.
    hidden : bool, default=False
        Whether the encoder has a hidden layer beside its linear part.
    plain : bool, default=False
        Whether the encoder is linear in the plain columns, like a ridge regression.
    alpha : float, default=5.0
        The weight α of the labels (S17 Eq. 8).
    ridge : float, default=1.0
        Precision of the Gaussian prior on the linear part's weights.
    ridge_hidden : float, default=3.0
        Precision of the Gaussian prior on the hidden part's weights.
    """

    generative: bool = True
    rank: bool = True
    hidden: bool = False
    plain: bool = False
    alpha: float = 5.0
    ridge: float = 1.0
    ridge_hidden: float = 3.0


# Between the linear and the nonlinear limit, and between all data and the labels alone (docs/defaults.md).
SETTINGS = (
    Setting(),
    Setting(rank=False, hidden=True, alpha=3.0, ridge_hidden=4.0),
    Setting(hidden=True, alpha=3.0, ridge_hidden=1.0),
    Setting(generative=False, hidden=True, ridge=5.0),
    Setting(generative=False, ridge=1.0),
    Setting(generative=False, ridge=5.0),
    Setting(generative=False, ridge=20.0),
)
# For numbers beside these: ridge regression in the plain columns, hardly and strongly penalized.
PLAIN_SETTINGS = (
    Setting(generative=False, plain=True, ridge=0.02),
    Setting(generative=False, plain=True, ridge=10.0),
)


COMPONENTS = "components"  # the family of the data node of wide rows


@dataclass(frozen=True)
class EnsembleSpec:
    """An ensemble, checked.

    Parameters
    ----------
    columns : tuple of mapping
        The table's columns, as :class:`~unknot.models.likelihoods.table.Table` describes them, and whether they have
        missing values (``"missing": True``).
    factors : tuple of NodeSpec
        The nodes that take labels, classes ("concrete") or numbers ("normal").
    rows : int
        How many order statistics of each column are kept.
    style : int
        Dimensions of the style.
    hidden : int, default=32
        Width of hidden layers.
    folds : int, default=5
        Number of folds of the labels; each member does not see one.
    settings : tuple of Setting
        The settings of the members, those with a decoder first.
    components : mapping, optional
        Of wide rows, whose components are the columns: ``{"columns": C, "counts": whether they are counts}``, and
        of cells ``"variable"``, how many genes the components are of.
    """

    columns: tuple[Mapping[str, Any], ...]
    factors: tuple[NodeSpec, ...]
    rows: int
    style: int
    hidden: int = 32
    folds: int = 5
    settings: tuple[Setting, ...] = SETTINGS
    components: Mapping[str, Any] | None = None

    @property
    def data_name(self) -> str:
        """The name of the data node: x, with trailing underscores if a factor has the same name."""
        return free_name("x", [one.name for one in self.factors])

    @property
    def style_name(self) -> str:
        """The name of the style, likewise."""
        return free_name("style", [one.name for one in self.factors])

    @property
    def nodes(self) -> list[NodeSpec]:
        """All variables: factors, style, and the table made from them."""
        names = [one.name for one in self.factors]
        style = node(self.style_name, "normal", self.style, inferred_from=[self.data_name, *names])
        family: dict[str, Any] = {"name": "table", "columns": [dict(column) for column in self.columns]}
        if self.components is not None:
            family = {"name": COMPONENTS, **self.components}
        data = node(self.data_name, family, parents=[*names, style.name])
        return [*self.factors, style, data]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``model.json`` has it."""
        factors = {
            one.name: {"family": one.family.name, "size": one.size}
            | ({"raters": one.raters} if one.raters else {})
            for one in self.factors
        }
        settings = [asdict(one) for one in self.settings]
        rest = {key: getattr(self, key) for key in ("rows", "style", "hidden", "folds")}
        if self.components is not None:
            rest["components"] = dict(self.components)
        return {**rest, "factors": factors, "columns": [dict(c) for c in self.columns], "settings": settings}


def read_ensemble(described: Mapping[str, Any]) -> EnsembleSpec:
    """A checked ensemble from its plain description."""
    given = dict(described)
    known = [one.name for one in fields(EnsembleSpec)]
    for key in given:
        if key not in known:
            raise SpecError(f"ensemble: unknown key '{key}'; {did_you_mean(key, known)}")
    for key in ("columns", "factors", "rows", "style"):
        if key not in given:
            raise SpecError(f"ensemble: needs '{key}'; a table's data gives it.")
    data = free_name("x", given["factors"])
    given["factors"] = tuple(factor_node(name, data, **dict(one)) for name, one in given["factors"].items())
    given["columns"] = tuple(given["columns"])
    if "settings" in given:
        given["settings"] = _settings(given["settings"])
    return _check(EnsembleSpec(**given))


def factor_node(
    name: str, data: str, family: str, size: int, raters: int | None = None, **_: Any
) -> NodeSpec:
    """The node of a labeled factor in an ensemble, inferred from the node ``data``: classes, or numbers."""
    if family not in ("concrete", "normal"):
        raise SpecError(
            f"ensemble: factor '{name}' is concrete (classes) or normal (numbers), not {family!r}."
        )
    return node(name, family, size, inferred_from=[data], labels=True, raters=raters)


def _settings(given: Sequence[Mapping[str, Any] | Setting]) -> tuple[Setting, ...]:
    known = [one.name for one in fields(Setting)]
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpecError(f"ensemble: settings is a list of tables, but got {given!r}.")
    for one in given:
        if not isinstance(one, Mapping | Setting):
            raise SpecError(f"ensemble: a setting is a table with {', '.join(known)}, but got {one!r}.")
        for key, value in one.items() if isinstance(one, Mapping) else ():
            if key not in known:
                raise SpecError(f"ensemble: a setting has no '{key}'; {did_you_mean(key, known)}")
            _check_value(key, value)
    made = [one if isinstance(one, Setting) else Setting(**one) for one in given]
    for one in made:
        if one.plain and (one.generative or one.hidden):
            raise SpecError("ensemble: a plain setting has neither a decoder nor a hidden layer.")
    return tuple(sorted(made, key=lambda one: (not one.generative, one.plain)))


def _check_value(key: str, value: Any) -> None:
    if isinstance(getattr(Setting(), key), bool):
        fits, wanted = isinstance(value, bool), "true or false"
    else:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        fits, wanted = number and 0 <= value < math.inf, "a number of at least 0"
    if not fits:
        raise SpecError(f"ensemble: {key} of a setting is {wanted}, but got {value!r}.")


def _check(spec: EnsembleSpec) -> EnsembleSpec:
    for key in ("rows", "style", "hidden"):
        if not isinstance(getattr(spec, key), int) or getattr(spec, key) < 1:
            raise SpecError(
                f"ensemble: {key} is a whole number of at least 1, but is {getattr(spec, key)!r}."
            )
    if not isinstance(spec.folds, int) or spec.folds < 2:
        raise SpecError(f"ensemble: folds is a whole number of at least 2, but is {spec.folds!r}.")
    if not spec.factors:
        raise SpecError("ensemble: there is no labeled factor; a table without labels gets the plain model.")
    if not spec.settings or not spec.settings[0].generative:
        raise SpecError("ensemble: at least one of its settings has a decoder (generative: true).")
    return spec


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name of a node that is no factor, with trailing underscores if a factor has the same name."""
    taken = set(taken)
    while name in taken:
        name += "_"
    return name
