"""Checked settings: what a table of settings may hold, as JSON Schema, and one sentence about what it may not.

Every part of a description has its schema beside the code that reads it, made of the few pieces below. Each piece
says in words what it takes (its ``description``), which is what an error says and what an editor shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields
from typing import TYPE_CHECKING, Any

from unknot.errors import SpecError
from unknot.suggest import did_you_mean, nearest

if TYPE_CHECKING:
    from jsonschema import ValidationError

Schema = dict[str, Any]
ANYTHING: Schema = {}
_ENDLESS = 10**9  # a limit that only keeps out what no machine can count to


def check(value: Any, schema: Schema, path: str) -> None:
    """Refuse a value that the schema does not allow, by its place: ``train.steps is a whole number ..., but got 0``."""
    try:
        errors = list(_validator(schema).iter_errors(value))
    except (ValueError, RecursionError):  # what Python itself refuses to print
        raise SpecError(f"{path}: a number or a list in it is too large.") from None
    if errors:
        raise SpecError(_sentence(min(errors, key=_importance), path))


# ---- pieces -------------------------------------------------------------------------------------------------


def whole(low: int = 1, high: int | None = None) -> Schema:
    """A whole number in a range, both ends included."""
    span = f"of at least {low}" if high is None or high >= _ENDLESS else f"from {low} to {high}"
    return _without_none(
        {"type": "integer", "minimum": low, "maximum": high, "description": f"a whole number {span}"}
    )


def number(low: float | None = None, high: float | None = None, *, above: float | None = None) -> Schema:
    """A finite number in a range, both ends included; or above a limit that is not."""
    if above is not None:
        span = f" above {above:g}"
    elif low is None:
        span = ""
    else:
        span = f" of at least {low:g}" if high is None else f" from {low:g} to {high:g}"
    limits = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
    return _without_none({"type": "number", **limits, "description": f"a number{span}"})


def text() -> Schema:
    return {"type": "string", "minLength": 1, "description": "a word or a text"}


def flag() -> Schema:
    return {"type": "boolean", "description": "true or false"}


def choice(names: Iterable[str]) -> Schema:
    """One of a few words."""
    listed = list(names)
    return {"enum": listed, "description": f"one of {', '.join(listed)}"}


def list_of(item: Schema, shortest: int = 0, longest: int | None = None, words: str = "") -> Schema:
    """A list whose entries are all of a kind; ``words`` say it better than ``a list; each entry is ...``."""
    told = words or f"a list in which each entry is {item.get('description', 'a setting')}"
    return _without_none(
        {"type": "array", "items": item, "minItems": shortest, "maxItems": longest, "description": told}
    )


def table_of(item: Schema, words: str, least: int = 0) -> Schema:
    """A table from any names to settings of one kind."""
    return {
        "type": "object",
        "additionalProperties": item,
        "minProperties": least,
        "description": words,
    }


def table(keys: Mapping[str, Schema], words: str, required: Sequence[str] = ()) -> Schema:
    """A table with known keys."""
    return {
        "type": "object",
        "properties": dict(keys),
        "additionalProperties": False,
        "required": list(required),
        "description": words,
    }


def either(table_schema: Schema, otherwise: Schema) -> Schema:
    """A table of settings, or in short something that is no table."""
    return {"if": {"type": "object"}, "then": table_schema, "else": otherwise}


def left_out_or(schema: Schema) -> Schema:
    """A setting that may also be null, which is the same as leaving it out."""
    return {"if": {"not": {"type": "null"}}, "then": schema}


# ---- settings declared once, as fields of a dataclass -------------------------------------------------------


def setting(schema: Schema, about: str, default: Any = MISSING) -> Any:
    """Declare a field of a dataclass that users set: its schema, a line for the documentation, and its default.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Layer:
    ...     width: int = setting(whole(1), "units of the layer", 256)
    >>> schema_of(Layer, "a layer")["properties"]["width"]["description"]
    'a whole number of at least 1'
    >>> print(settings_table(Layer))
    | key | |
    |---|---|
    | `width` | units of the layer |
    """
    return field(default=default, metadata={"schema": schema, "about": about})


def schema_of(declared: type, words: str) -> Schema:
    """Return the schema of a dataclass whose fields are declared with :func:`setting`; others are left out."""
    settings = _settings(declared)
    required = [one.name for one in settings if one.default is MISSING]
    return table({one.name: one.metadata["schema"] for one in settings}, words, required)


def settings_table(declared: type) -> str:
    """Return the settings of a dataclass as a table in Markdown, for the documentation."""
    rows = [f"| `{one.name}` | {one.metadata['about']} |" for one in _settings(declared)]
    return "\n".join(["| key | |", "|---|---|", *rows])


def _settings(declared: type) -> list[Field[Any]]:
    return [one for one in fields(declared) if "schema" in one.metadata]


# ---- from what jsonschema finds to a sentence ---------------------------------------------------------------


def _validator(schema: Schema) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: isinstance(value, int) and _is_number(value),
            "number": lambda _, value: _is_number(value),
            "array": lambda _, value: isinstance(value, list | tuple),
            "object": lambda _, value: isinstance(value, Mapping),
        }
    )
    return extend(Draft202012Validator, type_checker=types)(schema)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number that is larger than any float
        return False


def _importance(error: ValidationError) -> tuple[bool, int]:
    """Unknown keys first, since they explain others; then what is nearest to the top."""
    return error.validator not in ("additionalProperties", "required"), len(error.absolute_path)


def _sentence(error: ValidationError, path: str) -> str:
    where = path
    for step in error.absolute_path:
        where += f"[{step}]" if isinstance(step, int) else f".{shown(step, plain=True)}"
    if error.validator == "additionalProperties" and error.schema.get("properties"):
        known = list(error.schema["properties"])
        stray = next(key for key in error.instance if key not in known)
        return f"{where}: unknown key '{shown(stray, plain=True)}'; {did_you_mean(shown(stray, plain=True), known)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"{where}: needs '{missing}', {_told(error.schema['properties'][missing])}."
    near = nearest(error.instance, error.validator_value) if error.validator == "enum" else None
    hint = f"; did you mean '{near}'?" if near else "."
    return f"{where} is {_told(error.schema)}, but got {shown(error.instance)}{hint}"


def _told(schema: Any) -> str:
    return str(schema.get("description") or "something else") if isinstance(schema, Mapping) else "a setting"


def shown(value: Any, plain: bool = False) -> str:
    """A value for a sentence: on one line and not too long."""
    try:
        said = " ".join((str(value) if plain else repr(value)).split())
    except (ValueError, RecursionError):  # a number of thousands of digits, a list that holds itself
        said = f"a {type(value).__name__} too large to print"
    return said if len(said) <= 60 else said[:57] + "..."


def _without_none(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if value is not None}
