"""``unknot objectives``: the catalogue, with formula, symbols and reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from unknot.errors import SpecError
from unknot.suggest import did_you_mean

if TYPE_CHECKING:
    from unknot.objectives.catalogue import Entry

LEGEND = (
    "(1)+(3) reconstruction · (2) mutual information · (4) = (A)+(B): q(z) against the prior · (A) correlation "
    "between groups · (B) = (i)+(ii) · (i) correlation within groups · (ii) single dimensions against their prior · "
    "(A)* = (A)+(i) correlation over all dimensions [E19 Figs. 1 and 3]"
)


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show one objective in full.")] = None,
) -> None:
    """The objectives by name, S17's for partly labeled data and E19's Table 1: formula, symbols, reference.

    Examples: `unknot objectives`, `unknot objectives hfvae`
    """
    from unknot.objectives.catalogue import CATALOGUE

    if name is None:
        _list(list(CATALOGUE.values()))
    elif name in CATALOGUE:
        _show(CATALOGUE[name])
    else:
        raise SpecError(f"there is no objective '{name}'; {did_you_mean(name, CATALOGUE)}")


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

    size = ", dataset_size" if entry.takes_dataset_size else ""
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
