"""`unknot explore`: a run in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[
        Path | None, typer.Argument(help="Items to choose from, instead of the run's own.")
    ] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="The folder of the data sets.")] = None,
    show: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Write the page of `unknot export` to a temporary file and open it in the browser.

    **Examples**

        unknot explore runs/mine-1 --no-show
    """
    import tempfile
    import webbrowser

    from unknot.cli.shared import write_explorer

    path = Path(tempfile.mkdtemp(prefix="unknot-"), "explorer.html")
    write_explorer(run, data, path, data_dir)
    typer.echo(f"The explorer is in {path}.")
    if show:
        webbrowser.open(path.as_uri())
