"""`unknot schema`: the JSON Schema of spec files, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def command(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file to write; by default it is printed.")
    ] = None,
) -> None:
    """Print the JSON Schema of spec files. With it an editor completes keys and marks mistakes.

    **Example**

        unknot schema -o unknot.schema.json       then, in the first line of a spec:

        # yaml-language-server: $schema=unknot.schema.json
    """
    from unknot.files import write_file
    from unknot.workflow.schema import spec_schema

    text = json.dumps(spec_schema(), indent=1)
    if output is None:
        typer.echo(text)
    else:
        write_file(output, text.encode() + b"\n")
        typer.echo(f"Wrote {output}.")
