"""What a spec file may hold: the four sections, as one JSON Schema."""

from __future__ import annotations

from typing import Any

from unknot.data.factor import KINDS
from unknot.models.spec_schema import MODEL, MODEL_SETTINGS, NODE
from unknot.schema import (
    ANYTHING,
    Schema,
    choice,
    either,
    flag,
    left_out_or,
    list_of,
    number,
    table,
    table_of,
    text,
    whole,
)
from unknot.train.config_schema import TRAIN

_seed = whole(0, 2**32 - 1)
_value = {"type": ["string", "number", "boolean"], "description": "a word or a number"}

FILE: Schema = table(
    {
        "file": text(),
        "factors": left_out_or({"if": {"type": "string"}, "then": text(), "else": list_of(text())}),
        "kinds": left_out_or(table_of(choice(KINDS), "a table of factors' kinds")),
        "classes": left_out_or(table_of(list_of(_value), "a table of factors' classes")),
        "columns": left_out_or(table_of(text(), "a table of columns' kinds")),
        "text": left_out_or(table_of(ANYTHING, "a table of how words are counted, as max_features: 2000")),
        "test_share": number(0, 1),
        "mapped": left_out_or(
            {"type": "boolean", "description": "whether items stay in a file until the batch"}
        ),
        "seed": _seed,
    },
    "the user's own data",
)
NAMED: Schema = {
    "type": "object",
    "properties": {"name": text()},
    "description": "a known data set by name, with its options",
}
DATA: Schema = {"if": {"required": ["file"]}, "then": FILE, "else": NAMED}

_rule = "a number of labels, all, ids, or {per: factor, number: n}"
LABELS: Schema = {
    "type": "object",
    "properties": {"seed": _seed},
    "additionalProperties": either(
        table({"per": text(), "number": whole(0)}, _rule, required=("per", "number")),
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"const": "all"},
                {"type": "array", "items": {"type": ["integer", "boolean"]}},
            ],
            "description": _rule,
        },
    ),
    "description": "how many labels of each factor may be seen",
}

_NESTED = {
    "if": {"type": "string"},
    "then": text(),
    "else": table({"path": text(), "frozen": {"type": "boolean"}}, "a trained model", required=("path",)),
}
PROGRAM: Schema = table(
    {
        "program": text(),
        "arguments": left_out_or(table_of(ANYTHING, "a table of arguments")),
        "nested": left_out_or(table_of(_NESTED, "a table of trained models that it nests")),
    },
    "a model written as a program",
)
DEFAULT_MODEL: Schema = table(
    {
        "style": whole(1, 10**5),
        "gradient": NODE["properties"]["gradient"],
        "separate": flag(),
        "x": left_out_or({**NODE, "required": []}),
        **MODEL_SETTINGS,
    },
    "options of the default model",
)
ENSEMBLE: Schema = table(
    {"ensemble": left_out_or(table_of(ANYTHING, "a table of an ensemble's settings"))},
    "an ensemble of small models of a table",
)
ANY_MODEL: Schema = {
    "if": {"required": ["nodes"]},
    "then": MODEL,
    "else": {
        "if": {"required": ["program"]},
        "then": PROGRAM,
        "else": {"if": {"required": ["ensemble"]}, "then": ENSEMBLE, "else": DEFAULT_MODEL},
    },
}

SECTIONS: dict[str, Schema] = {"data": DATA, "labels": LABELS, "model": ANY_MODEL, "train": TRAIN}


def spec_schema() -> dict[str, Any]:
    """The schema of a whole spec file, for editors."""
    whole_file = table({name: left_out_or(schema) for name, schema in SECTIONS.items()}, "a spec of Unknot")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Unknot spec", **whole_file}
