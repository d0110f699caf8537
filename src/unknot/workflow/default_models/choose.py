"""The registry of default models, and the choice of one by the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.schema import check, schema_of
from unknot.suggest import did_you_mean
from unknot.workflow.default_models.base import DefaultModel
from unknot.workflow.default_models.cells import Cells
from unknot.workflow.default_models.class_style import ClassStyle
from unknot.workflow.default_models.images import Images
from unknot.workflow.default_models.series import Series
from unknot.workflow.default_models.tables import TableEnsemble
from unknot.workflow.default_models.topics import Topics
from unknot.workflow.default_models.wide import Wide

DEFAULT_MODELS: Mapping[str, type[DefaultModel]] = {
    one.name: one for one in (Cells, Wide, TableEnsemble, Topics, Series, Images, ClassStyle)
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
