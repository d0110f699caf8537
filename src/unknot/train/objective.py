"""From an objective's name and symbols, as a config file has them, to a function of the two traces."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from unknot.core.trace import Trace
from unknot.errors import SpecError

Objective = Callable[..., Any]  # (q, p) -> Terms


def resolve(
    given: str | Mapping[str, Any] | Objective, dataset_size: int, draw: Callable[[], Trace] | None = None
) -> Objective:
    """The function ``(q, p) -> Terms`` that a config means.

    ``"elbo"`` or ``{"name": "hfvae", "beta": 4.0}`` is looked up in :mod:`unknot.objectives`; a function is taken
    as it is. Where the objective asks for ``dataset_size`` and it is not given, it is the size of the data set.
    ``draw`` makes a recognition trace of the model; FactorVAE's discriminator takes its size from it.

    >>> resolve({"name": "elbo"}, dataset_size=100).__name__
    'elbo'
    """
    if callable(given):
        return _complete(given, {}, dataset_size)
    symbols = {"name": given} if isinstance(given, str) else dict(given)
    name = symbols.pop("name", None)
    if name is None:
        raise SpecError("objective: say which one, {'name': 'elbo', ...}; `unknot objectives` lists them.")
    makes_own = name == "factor_vae" and "discriminator" not in symbols and draw is not None
    function = _complete(_named(str(name)), symbols, dataset_size, ("discriminator",) if makes_own else ())
    if makes_own and draw is not None:
        from unknot.train.adversary import FactorVAE

        return FactorVAE(draw(), **symbols)
    return function


def _named(name: str) -> Objective:
    from unknot import objectives

    names = [n for n in getattr(objectives, "__all__", ()) if _takes_traces(getattr(objectives, n))]
    if name in names:
        found: Objective = getattr(objectives, name)
        return found
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise SpecError(f"objective: there is no '{name}'; {hint}There are: {', '.join(names)}.")


def _takes_traces(thing: Any) -> bool:
    """Whether this is an objective: a function whose first two arguments are q and p."""
    if not inspect.isfunction(thing):
        return False
    return list(inspect.signature(thing).parameters)[:2] == ["q", "p"]


def _complete(
    function: Objective, symbols: dict[str, Any], dataset_size: int, supplied: tuple[str, ...] = ()
) -> Objective:
    """Bind the symbols, after a look at which ones the function takes."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return partial(function, **symbols) if symbols else function
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    names = list(parameters)[2:]
    for symbol in symbols:
        if symbol not in names and not takes_any:
            near = difflib.get_close_matches(symbol, names, n=1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            takes = ", ".join(names) or "none"
            raise SpecError(
                f"objective '{_name(function)}' has no symbol '{symbol}'; {hint}It takes: {takes}."
            )
    if "dataset_size" in names:
        symbols.setdefault("dataset_size", dataset_size)
    rest = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    needed = [n for n in names if parameters[n].default is inspect.Parameter.empty]
    missing = [n for n in needed if n not in (*symbols, *supplied) and parameters[n].kind not in rest]
    if missing:
        raise SpecError(f"objective '{_name(function)}' needs a value for: {', '.join(missing)}.")
    return partial(function, **symbols) if symbols else function


def _name(function: Objective) -> str:
    return getattr(function, "__name__", type(function).__name__)
