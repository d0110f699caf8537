"""The regularizers by name, and what a config's ``regularizers`` means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.objectives.regularizers.agreement import agreement
from unknot.objectives.regularizers.independence import independence
from unknot.objectives.regularizers.pairs import pairs
from unknot.objectives.regularizers.swap import swap
from unknot.schema import Schema, check, either, left_out_or, list_of, number, table, table_of, text, whole

Penalties = Callable[..., dict[str, Tensor]]  # (program, batch, q, p, **options)


@dataclass(frozen=True)
class Regularizer:
    """One regularizer that a config can name.

    Attributes
    ----------
    function : callable
        ``(program, batch, q, p, **options)`` returns named penalties, one per item.
    meaning : str
        What a positive weight asks for.
    options : mapping from str to schema
        What its options may be.
    needs_second_view : bool
        Whether it looks at ``batch.second_view``.
    needs_options : sequence of str
        The options that have no default.
    """

    function: Penalties
    meaning: str
    options: Mapping[str, Schema] = field(default_factory=dict)
    needs_second_view: bool = False
    needs_options: Sequence[str] = ()

    @property
    def schema(self) -> Schema:
        """Its weight, or a table with its weight and options."""
        words = f"a table with {', '.join(['weight', *self.options])}"
        settings = table(
            {"weight": number(), **self.options}, words, required=("weight", *self.needs_options)
        )
        return settings if self.needs_options else either(settings, number())


_share = number(0, 1)
_pairs = list_of(list_of(whole(0), 2, 2, "two ids of items"), words="pairs of ids of items")

REGULARIZERS: dict[str, Regularizer] = {
    "agreement": Regularizer(
        agreement,
        "the predictions for an item and its augmented view agree",
        {"confidence": either(table_of(_share, "a number for each site"), _share)},
        needs_second_view=True,
    ),
    "independence": Regularizer(independence, "the style does not depend on the factors"),
    "pairs": Regularizer(
        pairs,
        "pairs of items that must, or cannot, have the same class do so",
        {"site": text(), "must_link": _pairs, "cannot_link": _pairs},
        needs_options=("site",),
    ),
    "swap": Regularizer(
        swap,
        "items generated with other items' factors are encoded as what they were generated from",
        {"decoder_weight": _share},
    ),
}

REGULARIZERS_SCHEMA = left_out_or(
    table({name: one.schema for name, one in REGULARIZERS.items()}, "weights of regularizers, by name")
)


class Regularizers:
    """The regularizers of an objective, with their weights. A positive weight penalizes, a negative one rewards.

    Parameters
    ----------
    given : mapping from str, default={}
        For each name of :data:`REGULARIZERS` its weight, or a mapping with ``weight`` and its options.

    Examples
    --------
    >>> Regularizers({"agreement": {"weight": 400.0, "confidence": 0.9}, "swap": 0.0})
    Regularizers(400.0 · agreement)
    """

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        check(given, REGULARIZERS_SCHEMA, "train.objective.regularizers")
        self._chosen: list[tuple[str, float, dict[str, Any]]] = []
        # in the order of the registry: the order of random draws does not depend on that in a file
        for name in REGULARIZERS:
            settings = (given or {}).get(name, 0.0)
            options = dict(settings) if isinstance(settings, Mapping) else {"weight": settings}
            weight = float(options.pop("weight"))
            if weight:
                self._chosen.append((name, weight, options))

    @property
    def needs_second_view(self) -> bool:
        """Whether one of them compares two views of an item."""
        return any(REGULARIZERS[name].needs_second_view for name, _, _ in self._chosen)

    def add_to(self, program: Program, batch: Any, q: Trace, p: Trace) -> None:
        """Add every penalty, times minus its weight, to p as a log-term.

        Each objective counts the log-terms of p, and knows the score-function gradient of those that depend on draws.
        """
        for name, weight, options in self._chosen:
            penalties = REGULARIZERS[name].function(program, batch, q, p, **options)
            for term, penalty in penalties.items():
                p.log_term(-weight * penalty, name=term)

    def __bool__(self) -> bool:
        return bool(self._chosen)

    def __repr__(self) -> str:
        return f"Regularizers({', '.join(f'{weight} · {name}' for name, weight, _ in self._chosen)})"
