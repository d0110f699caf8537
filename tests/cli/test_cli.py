"""The command line itself: help, version, errors, and that commands load only when asked for."""

from __future__ import annotations

import importlib

import pytest
import typer

import unknot
from unknot import cli
from unknot.cli import COMMANDS, main, with_address
from unknot.errors import DataError


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_lists_every_command(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    for name, line in COMMANDS.items():
        assert name in out
        assert line[:30] in out


def test_help_loads_no_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} was loaded")

    monkeypatch.setattr(importlib, "import_module", refuse)
    assert run(capsys, "--help")[0] == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, name, "--help")
    assert code == 0
    assert f"Usage: unknot {name}" in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[:2] == (0, f"{unknot.__version__}\n")


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "fti")
    assert code == 2
    assert "No such command 'fti'" in err


def test_an_error_is_one_sentence_or_with_debug_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "data", "get", "nothing-like-this")
    assert (code, out) == (2, "")
    assert err.startswith("unknot: There is no data set named 'nothing-like-this'")
    assert err.count("\n") == 1
    with pytest.raises(DataError, match="nothing-like-this"):
        main(["data", "get", "nothing-like-this", "--debug"])


def test_a_command_may_be_a_function(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Module:
        @staticmethod
        def command(number: int) -> None:
            """Double a number."""
            print(2 * number)

    monkeypatch.setitem(cli.COMMANDS, "double-it", "Double a number.")
    monkeypatch.setattr(importlib, "import_module", {"unknot.cli.double_it": Module}.__getitem__)
    assert run(capsys, "double-it", "21")[:2] == (0, "42\n")
    assert isinstance(cli.make_app("double-it"), typer.Typer)


# ---- ``--ray`` with and without an address, wherever it stands -------------------------------------------


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("sweep a.yaml --ray", "sweep a.yaml --ray auto"),
        ("sweep --ray a.yaml b.npz", "sweep --ray auto a.yaml b.npz"),
        ("sweep a.yaml --ray --seeds 5", "sweep a.yaml --ray auto --seeds 5"),
        ("sweep a.yaml --ray ray://10.0.0.1:10001 b.npz", "sweep a.yaml --ray ray://10.0.0.1:10001 b.npz"),
        ("sweep x --ray local", "sweep x --ray local"),
        ("sweep x --ray=10.0.0.1:6379", "sweep x --ray=10.0.0.1:6379"),
        ("fit a.yaml", "fit a.yaml"),
    ],
)
def test_an_address_is_put_in_where_none_follows(given: str, read: str) -> None:
    assert with_address(given.split()) == read.split()
