"""The symbols of an objective: its parameters beside the traces, with what a config file may give for each.

They are read from the function's signature and type hints, which are the one declaration of them.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Union, Unpack, get_args, get_origin, get_type_hints, is_typeddict

from torch import Tensor, nn

from unknot.schema import ANYTHING, Schema

_PLAIN: dict[Any, tuple[str, str]] = {
    float: ("number", "a number"),
    int: ("integer", "a whole number"),
    bool: ("boolean", "true or false"),
    str: ("string", "a word"),
    type(None): ("null", "left out"),
}


@dataclass(frozen=True)
class Symbol:
    """One parameter of an objective.

    Attributes
    ----------
    schema : dict
        What a file may give for it.
    default : object
        Its default; ``inspect.Parameter.empty`` if it has none.
    """

    schema: Schema
    default: Any

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty


def symbols_of(objective: Callable[..., Any]) -> tuple[dict[str, Symbol], bool]:
    """Return the symbols of an objective, and whether it takes any others.

    Parameters
    ----------
    objective : callable
        A function of (q, p, ...), a module, or a partial function of these.

    Returns
    -------
    symbols : dict from str to Symbol
        All parameters but the first two; those of ``**options: Unpack[...]`` one by one.
    takes_any : bool
        Whether it has other ``**options``, or no signature that can be read.

    Examples
    --------
    >>> def loss(q, p, beta: float | None = None): ...
    >>> symbols_of(loss)[0]["beta"].schema["description"]
    'a number or left out'
    """
    function = objective.func if isinstance(objective, partial) else objective
    function = function.forward if isinstance(function, nn.Module) else function
    try:
        parameters = list(inspect.signature(function).parameters.values())[2:]
        hints = get_type_hints(function)
    except (TypeError, ValueError):
        return {}, True
    except NameError:  # an annotation that cannot be resolved
        hints = {}
    found: dict[str, Symbol] = {}
    takes_any = False
    for parameter in parameters:
        hint = hints.get(parameter.name, Any)
        if parameter.kind is parameter.VAR_KEYWORD:
            options = get_args(hint)[0] if get_origin(hint) is Unpack else None
            if options is None or not is_typeddict(options):
                takes_any = True
                continue
            found |= {name: Symbol(hint_schema(kind), None) for name, kind in get_type_hints(options).items()}
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            found[parameter.name] = Symbol(hint_schema(hint), parameter.default)
    return found, takes_any


def hint_schema(hint: Any) -> Schema:
    """Return what a file may give for a value of a type.

    A ``float | Mapping[str, float]`` is a number or a table of numbers.

    A type that a file cannot hold (a network, a callable) allows anything.
    """
    kinds: list[str] = []
    words: list[str] = []
    inner: Schema = ANYTHING
    for one in get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,):
        origin = get_origin(one) or one
        if one is Tensor:
            continue
        if one in _PLAIN:
            kind, word = _PLAIN[one]
        elif origin is Mapping:
            kind, word = "object", "a table"
            inner = hint_schema(get_args(one)[1]) if get_args(one) else ANYTHING
        elif origin is Sequence:
            kind, word = "array", "a list"
        else:
            return ANYTHING
        kinds.append(kind)
        words.append(word)
    if not kinds:
        return ANYTHING
    schema: Schema = {"type": kinds, "description": " or ".join(dict.fromkeys(words))}
    return schema | ({"additionalProperties": inner} if "object" in kinds else {})
