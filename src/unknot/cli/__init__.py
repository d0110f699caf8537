"""The `unknot` command. Each sub-command is one file of this folder, imported only when it is called.

To add a command `fit`: write `cli/fit.py` with a `command` (a function for typer, or a `typer.Typer` when it has
sub-commands of its own), and add one line to `COMMANDS`. A command raises UnknotError for what the user can
fix; `main` prints it as one sentence and ends with code 2.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from unknot.errors import UnknotError, UnknotWarning

# Name -> the line in `unknot --help`. The module is the name with "_" for "-".
COMMANDS = {
    "demo": "Learn digits from 100 labels and write a report, in a few minutes.",
    "fit": "Train a model on partly labeled data.",
    "evaluate": "Errors of a run's encoder.",
    "predict": "A table of predictions for new data.",
    "ask": "Which items to label next.",
    "sample": "New data from a run's decoder.",
    "report": "One HTML page about a run.",
    "explore": "A run in the browser: change its factors and see what the model makes.",
    "export": "That page as one HTML file that needs no network, or the model as ONNX files.",
    "sweep": "Train many settings and seeds, and rank them on one page.",
    "data": "List, fetch, check and draw the data sets.",
    "metrics": "Every disentanglement score of codes in a file.",
    "schema": "The JSON Schema of spec files, for editors.",
    "objectives": "The objectives by name: formula, symbols, reference.",
}


RAY_HELP = (
    "Run on the Ray cluster at this address; without one, on that of this machine (needs unknot[sweep])."
)

_HELP = "Structured disentangled representations: name the factors you can, let networks learn the rest."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the entry point of the package."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    run_app(given, lambda words: make_app(next((w for w in words if not w.startswith("-")), None)), "unknot")


def run_app(arguments: Sequence[str], app: Callable[[Sequence[str]], typer.Typer], name: str) -> None:
    """Run an application; errors that the user can fix are one sentence, and end it with code 2.

    Parameters
    ----------
    arguments : sequence of str
        The words after the command's name. ``--debug`` may stand anywhere; it shows the traceback of an error.
    app : callable
        Returns the application for these words.
    name : str
        The command's name in messages.
    """
    words = with_address([word for word in arguments if word != "--debug"])
    with warnings.catch_warnings():
        warnings.simplefilter("always", UnknotWarning)
        warnings.showwarning = _show_warning
        try:
            app(words)(words, prog_name=name)
        except (UnknotError, OSError) as error:
            if "--debug" in arguments:
                raise
            print(f"unknot: {_sentence(error)}", file=sys.stderr)
            sys.exit(2)


def with_address(words: Sequence[str]) -> list[str]:
    """The words of a command line, with "auto" after a ``--ray`` without an address, which typer does not support.

    >>> with_address(["sweep", "--ray", "spec.yaml"])
    ['sweep', '--ray', 'auto', 'spec.yaml']
    >>> with_address(["sweep", "--ray", "10.0.0.1:6379"])
    ['sweep', '--ray', '10.0.0.1:6379']
    """
    found: list[str] = []
    for place, word in enumerate(words):
        found.append(word)
        if word == "--ray" and not _is_address(words[place + 1 : place + 2]):
            found.append("auto")
    return found


def _is_address(following: Sequence[str]) -> bool:
    """Whether the next word, if there is one, is HOST:PORT, ray://..., "auto" or "local"."""
    return any(word in ("auto", "local") or (":" in word and "=" not in word) for word in following)


def _sentence(error: UnknotError | OSError) -> str:
    """An error on one line; of a file that cannot be read or written, its name and the reason."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).splitlines())


def _show_warning(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
    """A warning as one sentence, like an error."""
    print(f"unknot: note: {' '.join(str(message).splitlines())}", file=sys.stderr)


def make_app(wanted: str | None) -> typer.Typer:
    """The application with the `wanted` command in full, and the names and help of the others."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(help=_HELP)(_options)
    for name, line in COMMANDS.items():
        if name != wanted:
            app.command(name, help=line)(_not_loaded)
            continue
        command = importlib.import_module(f"unknot.cli.{name.replace('-', '_')}").command
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        import unknot

        print(unknot.__version__)
        raise typer.Exit()


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Both options act elsewhere: `main` takes --debug out, so that it may stand anywhere."""


def _not_loaded() -> None:
    raise AssertionError("only the wanted command is ever run")
