"""`unknot export`: a run as ONNX files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="An .onnx file.")] = Path("model.onnx"),
) -> None:
    """Write the encoder and the decoder as ONNX files, with a JSON of the factors.

    `model.onnx` stands for model.encoder.onnx, model.decoder.onnx and model.json. Needs `pip install
    'unknot[explore]'`.

    **Examples**

        unknot export runs/mine-1 -o model.onnx
    """
    from unknot.explorer.export import export_onnx
    from unknot.workflow.trained_model import TrainedModel

    for path in export_onnx(TrainedModel.load(run), output):
        typer.echo(f"Wrote {path}.")
