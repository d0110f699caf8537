"""From an objective's name and symbols, as a config file has them, to what a training step calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import nn

from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.errors import SpecError
from unknot.objectives.regularizers import Regularizers
from unknot.objectives.symbols import symbols_of
from unknot.objectives.terms import Terms
from unknot.schema import check, shown
from unknot.suggest import did_you_mean

if TYPE_CHECKING:
    from unknot.objectives.catalogue import Entry

Function = Callable[..., Terms]  # (q, p) -> Terms, or (q, p, batch, program) -> Terms
Given = str | Mapping[str, Any] | Function
_FROM_STEP = ("batch", "program")  # parameters that a training step fills in


@dataclass(frozen=True)
class Objective:
    """An objective as a training step calls it. What it takes is looked up once, by :func:`resolve`.

    Attributes
    ----------
    function : callable
        Returns :class:`~unknot.objectives.terms.Terms`.
    takes_batch, takes_program, takes_reference : bool
        Whether it has a parameter ``batch``, ``program`` or ``reference``.
    sleeps : bool
        Whether its traces are those of the sleep phase, of generated items, instead of the batch's.
    regularizers : Regularizers
        Penalties that it adds to p.
    adversarial : bool
        Whether it has a network of its own, which minimizes its ``own_loss`` beside the model
        (:class:`~unknot.train.adversary.Adversary`).
    """

    function: Function
    takes_batch: bool = False
    takes_program: bool = False
    takes_reference: bool = False
    sleeps: bool = False
    regularizers: Regularizers = field(default_factory=Regularizers)
    adversarial: bool = False

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

    @property
    def module(self) -> nn.Module | None:
        """The function, if it is a module, whose weights belong to checkpoints."""
        return self.function if isinstance(self.function, nn.Module) else None

    def augmented(self, batch: Batch, program: Program) -> Batch:
        """Return the batch as the programs should see it.

        If a regularizer compares two views, the augmented view is put beside the items, else in their place.
        """
        two = self.regularizers.needs_second_view
        view = program.augment(batch.x, scored=not two)
        if view is None:
            return batch
        return replace(batch, second_view=view) if two else replace(batch, x=view)


def resolve(
    given: Given,
    dataset_size: int,
    draw: Callable[[], Trace] | None = None,
    compiled: bool = False,
) -> Objective:
    """Return the objective that a config means.

    Parameters
    ----------
    given : str, mapping or callable
        ``"elbo"`` or ``{"name": "hfvae", "beta": 4.0, "regularizers": {...}}``, looked up in the catalogue
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
    Objective

    Examples
    --------
    >>> resolve({"name": "elbo"}, dataset_size=100).function.__name__
    'elbo'
    >>> resolve("sleep", dataset_size=100).sleeps
    True
    """
    if callable(given):
        return _objective(_complete(given, {}, dataset_size, supplied=_FROM_STEP), _entry_of(given))
    symbols: dict[str, Any] = {"name": given} if isinstance(given, str) else dict(given)
    name = symbols.pop("name", None)
    if name is None:
        raise SpecError("objective: say which one, {'name': 'elbo', ...}; `unknot objectives` lists them.")
    entry = _entry(str(name))
    regularizers = Regularizers(symbols.pop("regularizers", None))
    if regularizers and entry.of_sleep_phase:
        raise SpecError(
            f"objective '{entry.name}' is about generated items and takes no regularizers; leave them out."
        )
    if draw is not None and compiled and entry.estimates_marginal(symbols):
        symbols = _with_parents(symbols, draw)
    own = entry.own_network
    if own is None or own in symbols:
        return _objective(_complete(entry.function, symbols, dataset_size), entry, regularizers)
    function = _complete(entry.function, symbols, dataset_size, supplied=(own,))
    if draw is None:
        return _objective(function, entry, regularizers)
    assert entry.with_network is not None
    return replace(_objective(entry.with_network(draw(), **symbols), entry, regularizers), adversarial=True)


def _entry(name: str) -> Entry:
    from unknot.objectives.catalogue import CATALOGUE

    if name not in CATALOGUE:
        raise SpecError(f"objective: there is no {shown(name)}; {did_you_mean(name, CATALOGUE)}")
    return CATALOGUE[name]


def _entry_of(function: Function) -> Entry | None:
    """The catalogue's entry of a function, if it has one."""
    from unknot.objectives.catalogue import CATALOGUE

    own = function.func if isinstance(function, partial) else function
    return next((entry for entry in CATALOGUE.values() if entry.function is own), None)


def _objective(
    function: Function, entry: Entry | None, regularizers: Regularizers | None = None
) -> Objective:
    symbols, _ = symbols_of(function)
    return Objective(
        function,
        "batch" in symbols,
        "program" in symbols,
        "reference" in symbols,
        entry is not None and entry.of_sleep_phase,
        regularizers or Regularizers(),
    )


def _with_parents(symbols: dict[str, Any], draw: Callable[[], Trace]) -> dict[str, Any]:
    """Add the symbol ``parents``, for objectives that estimate q(z)."""
    if "parents" in symbols or "encoder" in symbols:
        return symbols
    from unknot.core.dependence import site_parents

    return {**symbols, "parents": site_parents(draw)}


def _complete(
    function: Function, symbols: dict[str, Any], dataset_size: int, supplied: tuple[str, ...] = ()
) -> Function:
    """Bind the symbols, after a check of which ones the function takes; ``supplied`` ones are given later."""
    known, takes_any = symbols_of(function)
    for name, value in symbols.items():
        if name in known:
            check(value, known[name].schema, f"train.objective.{name}")
        elif not takes_any:
            names = [*known, "regularizers"]
            raise SpecError(
                f"objective '{_name(function)}' has no symbol '{name}'; {did_you_mean(name, names)}"
            )
    given = function.keywords if isinstance(function, partial) else {}
    if "dataset_size" in known and "dataset_size" not in given:
        symbols.setdefault("dataset_size", dataset_size)
    needed = [name for name, symbol in known.items() if symbol.required and name not in given]
    missing = [name for name in needed if name not in (*symbols, *supplied)]
    if missing:
        raise SpecError(f"objective '{_name(function)}' needs a value for: {', '.join(missing)}.")
    return partial(function, **symbols) if symbols else function


def _name(function: Function) -> str:
    return getattr(function, "__name__", type(function).__name__)
