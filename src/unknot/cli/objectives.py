"""`unknot objectives`: the catalogue, with formula, symbols and reference."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated

import typer

from unknot.errors import SpecError

if TYPE_CHECKING:
    from unknot.objectives.catalogue import Entry

LEGEND = (
    "(1)+(3) reconstruction · (2) mutual information · (4) = (A)+(B): q(z) against the prior · (A) correlation "
    "between groups · (B) = (i)+(ii) · (i) correlation within groups · (ii) single dimensions against their prior · "
    "(A)* correlation over all dimensions, beside which (B) is (ii) [E19 Figs. 1 and 3]"
)


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show one objective in full.")] = None,
) -> None:
    """The objectives by name, S17's for partly labelled data and E19's Table 1: formula, symbols, reference.

    Examples: `unknot objectives`, `unknot objectives hfvae`
    """
    from unknot.objectives.catalogue import CATALOGUE, FROM_LABELS

    entries = FROM_LABELS | CATALOGUE
    if name is None:
        _list(list(entries.values()))
    elif name in entries:
        _show(entries[name])
    else:
        near = difflib.get_close_matches(name, entries, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise SpecError(f"there is no objective {name!r}; {hint}there are {', '.join(entries)}")


def _list(entries: list[Entry]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("name", "formula", "symbols", "reference", box=None, pad_edge=False)
    for entry in entries:
        table.add_row(entry.name, escape(entry.formula), escape(_symbols(entry)), entry.reference)
    console = Console(soft_wrap=False)
    console.print(table)
    console.print(LEGEND, highlight=False)


def _show(entry: Entry) -> None:
    from rich.console import Console

    size = ", dataset_size" if entry.needs_dataset_size else ""
    lines = [
        f"{entry.name}: {entry.formula}",
        f"rewards {entry.rewards}",
        *[f"  {_symbol(entry, symbol)}: {meaning}" for symbol, meaning in entry.symbols.items()],
        f"call unknot.objectives.{entry.name}(q, p{size}{''.join(f', {symbol}=...' for symbol in entry.symbols)})",
        f"reference: {entry.reference}",
    ]
    if "(1)" in entry.formula:  # written in the terms of the decomposition
        lines.append(LEGEND)
    Console().print("\n".join(lines), highlight=False, markup=False)


def _symbols(entry: Entry) -> str:
    return ", ".join(_symbol(entry, symbol) for symbol in entry.symbols)


def _symbol(entry: Entry, symbol: str) -> str:
    default = entry.defaults[symbol]
    return symbol if default is None else f"{symbol} = {default}"
