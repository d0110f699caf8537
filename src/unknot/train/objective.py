"""From an objective's name and symbols, as a config file has them, to what a training step calls."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import nn

from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.errors import SpecError
from unknot.objectives.terms import Terms
from unknot.schema import ANYTHING, Schema, check, shown
from unknot.suggest import did_you_mean

if TYPE_CHECKING:
    from unknot.objectives.catalogue import Entry

Objective = Callable[..., Terms]  # (q, p) -> Terms, or (q, p, batch, program) -> Terms
_FROM_STEP = ("batch", "program")  # parameters that a training step fills in
_PARTS = {"information", "between", "within"}
# The words of symbols' annotations: the type that a file has for it, and its name; None: what no file has.
_IN_WORDS: dict[str, tuple[str, str] | None] = {
    "float": ("number", "a number"),
    "Number": ("number", "a number"),
    "int": ("integer", "a whole number"),
    "bool": ("boolean", "true or false"),
    "str": ("string", "a word"),
    "Mapping": ("object", "a table"),
    "Sequence": ("array", "a list"),
    "None": ("null", "left out"),
    "Tensor": None,
}


@dataclass(frozen=True)
class StepObjective:
    """An objective as a training step calls it. What it takes is looked up once, by :func:`step_objective`.

    Attributes
    ----------
    function : callable
        Returns :class:`~unknot.objectives.terms.Terms`.
    takes_batch, takes_program, takes_reference : bool
        Whether it has a parameter ``batch``, ``program`` or ``reference``.
    sleeps : bool
        Whether its traces are those of the sleep phase, of generated items, instead of the batch's.
    """

    function: Objective
    takes_batch: bool = False
    takes_program: bool = False
    takes_reference: bool = False
    sleeps: bool = False

    def __call__(
        self, q: Trace, p: Trace, batch: Batch, program: Program, reference: Trace | None = None
    ) -> Terms:
        """Evaluate the objective on the traces of one batch.

        Parameters
        ----------
        q, p : Trace
            The encoder's and the decoder's trace.
        batch : Batch
            What they were made from.
        program : Program
            The model that made them.
        reference : Trace, optional
            The encoder's trace of further items, for objectives that estimate q(z).
        """
        more: dict[str, Any] = {}
        if self.takes_batch:
            more["batch"] = batch
        if self.takes_program:
            more["program"] = program
        if reference is not None:
            more["reference"] = reference
        return self.function(q, p, **more)


def step_objective(function: Objective) -> StepObjective:
    """Look up what an objective takes.

    Parameters
    ----------
    function : callable
        A function of ``(q, p)`` or of ``(q, p, batch, program)``, as :func:`resolve` returns it.

    Returns
    -------
    StepObjective

    Examples
    --------
    >>> step_objective(lambda q, p, batch, program: ...).takes_batch
    True
    >>> step_objective(resolve("sleep", dataset_size=100)).sleeps
    True
    """
    from unknot.objectives.catalogue import CATALOGUE

    own = function.func if isinstance(function, partial) else function
    sleeps = any(entry.function is own for entry in CATALOGUE.values() if entry.of_sleep_phase)
    return StepObjective(
        function, takes(function, "batch"), takes(function, "program"), takes(function, "reference"), sleeps
    )


def resolve(
    given: str | Mapping[str, Any] | Objective,
    dataset_size: int,
    draw: Callable[[], Trace] | None = None,
    compiled: bool = False,
) -> Objective:
    """Return the function that a config means.

    Parameters
    ----------
    given : str, mapping or callable
        ``"elbo"`` or ``{"name": "hfvae", "beta": 4.0}``, looked up in the catalogue
        (:mod:`unknot.objectives.catalogue`); or a function of ``(q, p)`` or ``(q, p, batch, program)``, which is used
        as it is.
    dataset_size : int
        The value of the symbol ``dataset_size``, where the objective has one and none is given.
    draw : callable, optional
        Returns a trace of the model's encoder, from which an objective's own network takes its size. Without it only
        the settings are checked.
    compiled : bool, default=False
        Whether the training step is compiled. A compiled step cannot read from the program which variables depend on
        each other, so this is read from ``draw`` here.

    Returns
    -------
    callable

    Examples
    --------
    >>> resolve({"name": "elbo"}, dataset_size=100).__name__
    'elbo'
    """
    if callable(given):
        return _complete(given, {}, dataset_size, supplied=_FROM_STEP)
    symbols = {"name": given} if isinstance(given, str) else dict(given)
    name = symbols.pop("name", None)
    if name is None:
        raise SpecError("objective: say which one, {'name': 'elbo', ...}; `unknot objectives` lists them.")
    entry = _entry(str(name))
    if draw is not None and compiled:
        symbols = _with_parents(entry.function, symbols, draw)
    if entry.own_network is None or entry.own_network in symbols:
        return _complete(entry.function, symbols, dataset_size)
    function = _complete(entry.function, symbols, dataset_size, supplied=(entry.own_network,))
    if draw is None:
        return function
    from unknot.train.adversary import FactorVAE

    return FactorVAE(draw(), **symbols)


def takes(objective: Objective, symbol: str) -> bool:
    """Whether a resolved objective has a symbol of that name, as a parameter or among its options.

    Examples
    --------
    >>> takes(resolve({"name": "hfvae", "beta": 2.0}, dataset_size=100), "reference")
    True
    >>> takes(resolve({"name": "vae"}, dataset_size=100), "reference")
    False
    """
    function = _body(objective.func if isinstance(objective, partial) else objective)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return symbol in parameters or symbol in (_options(function, parameters) or ())


def _entry(name: str) -> Entry:
    from unknot.objectives.catalogue import CATALOGUE

    if name not in CATALOGUE:
        raise SpecError(f"objective: there is no {shown(name)}; {did_you_mean(name, CATALOGUE)}")
    return CATALOGUE[name]


def _with_parents(function: Objective, symbols: dict[str, Any], draw: Callable[[], Trace]) -> dict[str, Any]:
    """Add the symbol ``parents`` for objectives that estimate q(z).

    These are the objectives that need the size of the data set, and semi-supervised ones with a weight on one of the
    parts of the KL divergence.
    """
    size = inspect.signature(function).parameters.get("dataset_size")
    estimates = size is not None and (size.default is size.empty or not _PARTS.isdisjoint(symbols))
    if not estimates or "parents" in symbols or "encoder" in symbols:
        return symbols
    from unknot.core.dependence import site_parents

    return {**symbols, "parents": site_parents(draw)}


def _complete(
    function: Objective, symbols: dict[str, Any], dataset_size: int, supplied: tuple[str, ...] = ()
) -> Objective:
    """Bind the symbols, after a check of which ones the function takes; ``supplied`` ones are given later."""
    try:
        parameters = inspect.signature(_body(function)).parameters
    except (TypeError, ValueError):
        return partial(function, **symbols) if symbols else function
    options = _options(function, parameters)
    takes_any = options is None
    names = [*list(parameters)[2:], *(options or ())]
    for symbol in symbols:
        if symbol not in names and not takes_any:
            raise SpecError(
                f"objective '{_name(function)}' has no symbol '{symbol}'; {did_you_mean(symbol, names)}"
            )
    for symbol, value in symbols.items():
        if symbol in parameters:
            check(value, symbol_schema(str(parameters[symbol].annotation)), f"train.objective.{symbol}")
    if "dataset_size" in names:
        symbols.setdefault("dataset_size", dataset_size)
    rest = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    needed = [n for n in list(parameters)[2:] if parameters[n].default is inspect.Parameter.empty]
    missing = [n for n in needed if n not in (*symbols, *supplied) and parameters[n].kind not in rest]
    if missing:
        raise SpecError(f"objective '{_name(function)}' needs a value for: {', '.join(missing)}.")
    return partial(function, **symbols) if symbols else function


def _options(function: Objective, parameters: Mapping[str, inspect.Parameter]) -> list[str] | None:
    """The names that ``**options: Unpack[Options]`` takes; none without such; None if it takes any name."""
    found: list[str] = []
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            word = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
            told = getattr(function, "__globals__", {}).get(word[1]) if word else None
            if told is None:
                return None
            found += told.__annotations__
    return found


def symbol_schema(annotation: str) -> Schema:
    """What a symbol may be, from its annotation: ``float | Mapping[str, float]`` is a number or a table of numbers.

    An annotation that says more than a file can hold (a network, a callable) allows anything.
    """
    words = set(re.findall(r"\w+", annotation))
    if not words or words - _IN_WORDS.keys():
        return ANYTHING
    outside = re.sub(r"\[[^\]]*\]", "", annotation)
    told = dict.fromkeys(
        _IN_WORDS[word] for word in re.findall(r"\w+", outside) if _IN_WORDS[word] is not None
    )
    kinds = [kind for kind, _ in filter(None, told)]
    schema: Schema = {"type": kinds, "description": " or ".join(words for _, words in filter(None, told))}
    inner = {"type": "number", "description": "a number"} if words & {"float", "Number"} else ANYTHING
    return schema | ({"additionalProperties": inner} if "object" in kinds else {})


def _body(function: Objective) -> Callable[..., Any]:
    """Return the callable whose signature names the parameters."""
    return function.forward if isinstance(function, nn.Module) else function


def _name(function: Objective) -> str:
    return getattr(function, "__name__", type(function).__name__)
