"""`unknot export`: a run as a page for the browser, or as ONNX files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[
        Path | None, typer.Argument(help="Items to choose from on the page, instead of the run's own.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="An .html or an .onnx file; by default RUN/explorer.html."),
    ] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="The folder of the data sets.")] = None,
) -> None:
    """Write one HTML page that runs the model in a browser, without a server or a network; or ONNX files.

    The page has the held-out items of the run, and the next report beside it links to it. `model.onnx` stands for
    model.encoder.onnx, model.decoder.onnx and model.json, which describes the factors. Needs `pip install
    'unknot[explore]'`.

    **Examples**

        unknot export runs/mine-1 -o explorer.html

        unknot export runs/mine-1 -o model.onnx
    """
    from unknot.cli.shared import EXPLORER, is_run, write_explorer
    from unknot.errors import SpecError
    from unknot.explorer.export import export_onnx
    from unknot.workflow.trained_model import TrainedModel

    output = output or (run / EXPLORER if data is None and is_run(run) else Path(EXPLORER))
    if output.suffix == ".onnx":
        written = export_onnx(TrainedModel.load(run), output)
    elif output.suffix == ".html":
        write_explorer(run, data, output, data_dir)
        written = [output]
    else:
        raise SpecError(f"cannot write {output}: a page is .html, graphs are .onnx.")
    for path in written:
        typer.echo(f"Wrote {path}.")
