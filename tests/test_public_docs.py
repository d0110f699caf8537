"""The public entries say what they take: every argument is named in the docstring, in one mark-up."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import unknot
import unknot.data
import unknot.train

SOURCE = Path(__file__).parent.parent / "src" / "unknot"

# The parts whose public entries are held to this, and whose docstrings have one mark-up. To be extended to all.
PARTS = ("core", "graph", "objectives", "data", "train", "plots", "metrics")
# What all sites of a trace take is said once, in the docstring of the class they belong to.
SHARED_BY_SITES = {"value", "name", "gradient", "event_dims"}


def entries() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Every public function, and of every public class its constructor and methods: name, callable, docstring."""
    for module in (unknot, unknot.objectives, unknot.data, unknot.train):
        for name in module.__all__:
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith(tuple(f"unknot.{part}" for part in PARTS)):
                yield from callables(name, thing)


def callables(name: str, thing: Any) -> Iterator[tuple[str, Callable[..., Any], str]]:
    if inspect.isfunction(thing):
        yield name, thing, inspect.getdoc(thing) or ""
    elif inspect.isclass(thing):
        yield name, thing.__init__, inspect.getdoc(thing) or ""
        for method, function in inspect.getmembers(thing, inspect.isroutine):
            if not method.startswith("_") and function.__module__.startswith("unknot"):
                yield f"{name}.{method}", function, inspect.getdoc(function) or ""


def undocumented(name: str, function: Callable[..., Any], doc: str) -> list[str]:
    """Parameters that the docstring neither shows as ``parameter`` nor has as an entry, ``parameter : type``."""
    shared = SHARED_BY_SITES if is_site(name, function) else set()
    shown = set(re.findall(r"``(\w+)``", doc))
    for names in re.findall(r"^\s*([*\w]+(?:, [*\w]+)*)(?: : .*)?$", doc, flags=re.MULTILINE):
        shown |= {one.strip("*") for one in names.split(", ")}
    return [p for p in inspect.signature(function).parameters if p not in {"self", *shared, *shown}]


def is_site(name: str, function: Callable[..., Any]) -> bool:
    return name.startswith("Trace.") and function.__module__ == "unknot.core.sites"


ENTRIES = list(entries())


@pytest.mark.parametrize(("name", "function", "doc"), ENTRIES, ids=[name for name, *_ in ENTRIES])
def test_every_argument_is_in_the_docstring(name: str, function: Callable[..., Any], doc: str) -> None:
    assert doc, f"{name} has no docstring"
    missing = undocumented(name, function, doc)
    assert not missing, f"{name}: the docstring says nothing of {', '.join(missing)}"


def test_what_all_sites_take_is_said_once() -> None:
    doc = inspect.getdoc(unknot.Trace) or ""
    assert all(f"``{name}``" in doc for name in SHARED_BY_SITES)
    assert sum(is_site(name, function) for name, function, _ in ENTRIES) > 10


def test_an_argument_that_is_left_out_is_found() -> None:
    def scale(values: float, by: float) -> float:
        """Multiply ``values``."""
        return values * by

    def shift(values: float, by: float, **more: float) -> float:
        """Add.

        Parameters
        ----------
        values : float
            What is shifted.
        **more
            Options.
        """
        return values + by

    assert undocumented("scale", scale, scale.__doc__ or "") == ["by"]
    assert undocumented("shift", shift, shift.__doc__ or "") == ["by"]


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Every docstring of a file, with the name it belongs to."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield getattr(node, "name", path.stem), ast.get_docstring(node) or ""


def single_backticks(doc: str) -> list[str]:
    """Words in `single` backticks that are no role such as :func:`name`."""
    return re.findall(r"`[^`]+`", re.sub(r"``.+?``|:\w+:`[^`]+`", "", doc, flags=re.DOTALL))


@pytest.mark.parametrize("part", PARTS)
def test_code_in_docstrings_stands_in_double_backticks(part: str) -> None:
    found = {
        f"{path.relative_to(SOURCE)}: {name}": wrong
        for path in sorted((SOURCE / part).rglob("*.py"))
        for name, doc in docstrings(path)
        if (wrong := single_backticks(doc))
    }
    assert not found


def test_both_mark_ups_are_told_apart() -> None:
    doc = "``good`` :func:`~unknot.check` and `bad` code, ``with `inner` ones``"
    assert single_backticks(doc) == ["`bad`"]
