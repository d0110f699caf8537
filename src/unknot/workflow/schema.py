"""The sections of a spec file, each declared once as a dataclass, and the JSON Schema that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unknot.data.factor import DECLARED_KINDS as LABEL_KINDS
from unknot.errors import SpecError
from unknot.models.spec import MODEL
from unknot.schema import (
    ANYTHING,
    Schema,
    check,
    choice,
    either,
    left_out_or,
    list_of,
    number,
    schema_of,
    setting,
    table,
    table_of,
    text,
    whole,
)
from unknot.train.config import TRAIN
from unknot.workflow.default_models import DEFAULT_MODELS

_seed = whole(0, 2**32 - 1)
_value = {"type": ["string", "number", "boolean"], "description": "a word or a number"}
_names = {"if": {"type": "string"}, "then": text(), "else": list_of(text())}
_flag = {"type": "boolean", "description": "true or false"}


@dataclass(frozen=True)
class OwnData:
    """``data`` of the user's own: a file or a folder, see :func:`unknot.data.readers.user_files.read_user_data`."""

    file: str = setting(text(), "the file or folder")
    factors: Any = setting(left_out_or(_names), "the columns that are labels", None)
    kinds: Any = setting(
        left_out_or(table_of(choice(LABEL_KINDS), "a table of factors' kinds")), "kinds of labels", None
    )
    classes: Any = setting(
        left_out_or(
            table_of(
                either(table_of(ANYTHING, "a tree of classes as nested names"), list_of(_value)),
                "a table of factors' classes, or trees of classes",
            )
        ),
        "classes of labels, or the tree whose leaves they are",
        None,
    )
    raters: Any = setting(
        left_out_or(table_of(list_of(text()), "a table of factors' raters")),
        "the columns of what several raters report, by factor",
        None,
    )
    columns: Any = setting(
        left_out_or(table_of(text(), "a table of columns' kinds")), "kinds of columns", None
    )
    text: Any = setting(
        left_out_or(table_of(ANYTHING, "a table of how words are counted, as max_features: 2000")),
        "how words are counted",
        None,
    )
    test_share: float = setting(number(0, 1), "share of the items kept for the test", 0.0)
    mapped: bool | None = setting(
        left_out_or(_flag), "whether items stay in a file until a batch needs them", None
    )
    seed: int = setting(_seed, "seed of the choice of test items", 0)
    size: Any = setting(
        left_out_or(
            either(
                list_of(whole(1, 4096), 2),
                {
                    "anyOf": [{"type": "integer", "minimum": 1, "maximum": 4096}, {"const": "original"}],
                    "description": "pixels along the longest side, [height, width], or original",
                },
            )
        ),
        "the size at which pictures are read",
        None,
    )
    given: Any = setting(left_out_or(_names), "what is known of every item and is not predicted", None)
    layer: str = setting(
        {"type": "string", "description": "a name"}, "the layer of an .h5ad file with the counts", ""
    )
    unlabeled: Any = setting(
        left_out_or(_names), "labels of an .h5ad file that stand for an unknown one, beside Unknown", None
    )


@dataclass(frozen=True)
class LabelBudgetRules:
    """``labels``: how many labels may be used, and which."""

    budget: Any = setting(
        left_out_or(
            table_of(
                either(
                    table(
                        {"per": text(), "number": whole(0)},
                        "{per: factor, number: n}",
                        required=("per", "number"),
                    ),
                    {
                        "anyOf": [
                            {"type": "integer", "minimum": 0},
                            {"const": "all"},
                            {"type": "array", "items": {"type": ["integer", "boolean"]}},
                        ],
                        "description": "a number of labels, all, ids, or {per: factor, number: n}",
                    },
                ),
                "a table that maps factors to how many of their labels may be used",
            )
        ),
        "how many labels of each factor may be used; left out: all",
        None,
    )
    seed: int = setting(_seed, "seed of the choice of the items whose labels may be used", 0)


@dataclass(frozen=True)
class ProgramModel:
    """``model`` of ``kind: program``: a module with ``encode`` and ``decode`` in a Python file."""

    program: str = setting(text(), "FILE.py:CLASS")
    arguments: Any = setting(
        left_out_or(table_of(ANYTHING, "a table of arguments")), "arguments of the class", None
    )
    nested: Any = setting(
        left_out_or(
            table_of(
                {
                    "if": {"type": "string"},
                    "then": text(),
                    "else": table({"path": text(), "frozen": _flag}, "a trained model", required=("path",)),
                },
                "a table of trained models that it nests",
            )
        ),
        "trained models that it nests",
        None,
    )


# ---- the model section, by its kind ------------------------------------------------------------------------

DESCRIBED_KINDS: tuple[str, ...] = ("nodes", "program")
_DEFAULTS = {name: schema_of(one, f"settings of the {name} model") for name, one in DEFAULT_MODELS.items()}
_ANY = table(
    {k: v for one in _DEFAULTS.values() for k, v in one["properties"].items()}, "settings of the model"
)
MODELS: Mapping[str, Schema] = {
    "auto": _ANY,
    **_DEFAULTS,
    "nodes": MODEL,
    "program": schema_of(ProgramModel, "a model written as a program"),
}
"""The settings of every kind of model, beside ``kind`` itself."""


def kind_of(model: Mapping[str, Any]) -> str:
    """Return the kind of a ``model`` section.

    >>> kind_of({"nodes": {}}), kind_of({"style": 3}), kind_of({"kind": "images"})
    ('nodes', 'auto', 'images')
    """
    there = next((kind for kind in DESCRIBED_KINDS if kind in model), "auto")
    return str(model.get("kind", there))


def without_kind(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings beside the kind."""
    return {key: value for key, value in model.items() if key != "kind"}


# ---- the whole file ----------------------------------------------------------------------------------------

_own_data = schema_of(OwnData, "the user's own data")
_known_data: Schema = {
    "type": "object",
    "properties": {"name": text()},
    "description": "a known data set by name, with its options",
}
_labels = schema_of(LabelBudgetRules, "how many labels may be used: budget and seed")
# An objective without a name changes symbols of the model's default objective.
_train: Schema = {
    **TRAIN,
    "properties": {
        **TRAIN["properties"],
        "objective": left_out_or(
            either(
                {"type": "object", "properties": {"name": text()}, "description": "an objective's symbols"},
                {**text(), "description": "an objective's name, or its symbols"},
            )
        ),
    },
}
SECTIONS: tuple[str, ...] = ("data", "labels", "model", "train")


def check_section(name: str, content: Mapping[str, Any]) -> None:
    """Refuse a section whose settings cannot be; the sentence names the setting."""
    if name == "model":
        if "kind" in content:
            check(content["kind"], choice(MODELS), "model.kind")
        check(without_kind(content), MODELS[kind_of(content)], "model")
        return
    stray = next((key for key in content if key not in _labels["properties"]), None)
    if name == "labels" and stray is not None:
        raise SpecError(
            f"labels: unknown key '{stray}'; how many labels of a factor may be used stands under budget: "
            f"labels: {{budget: {{{stray}: 100}}, seed: 0}}."
        )
    data = _own_data if "file" in content else _known_data
    check(content, {"data": data, "labels": _labels, "train": _train}[name], name)


def spec_schema() -> dict[str, Any]:
    """Return the JSON Schema of a whole spec file, for editors."""
    model = _with_kind("auto")
    for kind in MODELS:
        if kind != "auto":
            named: Schema = {"properties": {"kind": {"const": kind}}, "required": ["kind"]}
            condition = {"anyOf": [named, {"required": [kind]}]} if kind in DESCRIBED_KINDS else named
            model = {"if": condition, "then": _with_kind(kind), "else": model}
    data = {"if": {"required": ["file"]}, "then": _own_data, "else": _known_data}
    sections = {"data": data, "labels": _labels, "model": model, "train": _train}
    whole_file = table({name: left_out_or(schema) for name, schema in sections.items()}, "a spec of Unknot")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Unknot spec", **whole_file}


def _with_kind(kind: str) -> Schema:
    schema = MODELS[kind]
    named = {"kind": {"const": kind, "description": f"{kind}, the kind of the model"}}
    return {**schema, "properties": {**named, **schema["properties"]}}
