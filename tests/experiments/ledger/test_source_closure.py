"""The source closure: what is imported in any way, and nothing else; only code counts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.ledger import source_closure
from experiments.ledger.source_closure import closure_digest, source_files
from unknot.errors import SpecError


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Write modules of a package ``madeup``."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(source_closure, "PACKAGES", ("madeup",))
    monkeypatch.setattr(source_closure, "_BY_NAME", source_closure.re.compile(r"((?:madeup)(?:\.\w+)+):\w+"))

    def forget() -> None:
        for one in (source_closure._path, source_closure._imports, source_closure._code_digest):
            one.cache_clear()
        importlib.invalidate_caches()

    def do(**modules: str) -> None:
        for name, text in modules.items():
            path = tmp_path.joinpath("madeup", *name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            root = tmp_path / "madeup" / "__init__.py"
            if not root.exists():
                root.write_text("from madeup.exported import thing\n")
                (root.parent / "exported.py").write_text("class thing: ...\n")
        forget()

    yield do
    forget()
    for name in [name for name in sys.modules if name.partition(".")[0] == "madeup"]:
        del sys.modules[name]


def names(module: str) -> set[str]:
    return {path.stem for path in source_files(module)}


def test_every_way_to_import_counts(write: Callable[..., None]) -> None:
    write(
        run="import madeup.first\nfrom madeup import second\nfrom madeup.third import a\n"
        "def f():\n    from madeup.inside import b\nNETWORK = 'madeup.by_name:Net'\nimport numpy\n",
        first="import madeup\nmadeup.thing\n",
        second="",
        third="a = 1\n",
        inside="b = 1\n",
        by_name="class Net: ...\n",
        other="",
    )
    assert names("madeup.run") == {"run", "first", "second", "third", "inside", "by_name", "exported"}


def test_only_code_counts(write: Callable[..., None]) -> None:
    write(run="from madeup.used import f\n", used='def f():\n    """Say."""\n    return 1\n', other="")
    first = closure_digest("madeup.run")
    write(used='# a comment\ndef f():\n    """Say more."""\n\n    return (1)\n', other="x = 1\n")
    assert closure_digest("madeup.run") == first
    write(used="def f():\n    return 2\n")
    assert closure_digest("madeup.run") != first


def test_a_module_that_is_not_there_is_refused(write: Callable[..., None]) -> None:
    write(run="")
    with pytest.raises(SpecError, match=r"no source file of madeup\.absent"):
        closure_digest("madeup.absent")
