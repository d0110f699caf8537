"""Classes by name: a name of ours, ``package.module:Class`` or ``file.py:Class``, with options of its own."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from unknot.errors import SpecError
from unknot.schema import ANYTHING, Schema, check, table, text
from unknot.suggest import did_you_mean

Kind = TypeVar("Kind", bound=type)

NAMED: Schema = {
    "if": {"type": "object"},
    "then": {
        "type": "object",
        "properties": {"name": text()},
        "additionalProperties": ANYTHING,
        "required": ["name"],
        "description": "a name, or a mapping of a name and options",
    },
    "else": {**text(), "maxLength": 1000, "description": "a name, or a mapping of a name and options"},
}


@dataclass(frozen=True)
class Named:
    """A class of ours or of the user's by its name, with its options.

    >>> Named.read("mlp"), Named.read({"name": "mlp", "hidden": [64]})
    (Named(name='mlp', options={}), Named(name='mlp', options={'hidden': [64]}))
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, described: Named | str | Mapping[str, Any]) -> Named:
        """Return what a description names: a name alone, or a mapping of ``name`` and options."""
        if isinstance(described, Named):
            return described
        if isinstance(described, str):
            return cls(described)
        return cls(described["name"], {key: value for key, value in described.items() if key != "name"})

    def to_plain(self) -> str | dict[str, Any]:
        """Return the description that :meth:`read` reads."""
        return {"name": self.name, **self.options} if self.options else self.name

    def __str__(self) -> str:
        return self.name


def find_class(name: str, known: Mapping[str, str | Kind], base: Kind, where: str) -> Kind:
    """Return the class of a name.

    Parameters
    ----------
    name : str
        A key of ``known``, ``package.module:Class`` or ``file.py:Class``. A module or file of the user's is run.
    known : mapping from str to str or type
        The names of ours, each with its class or its ``package.module:Class``.
    base : type
        What the class must be derived from.
    where : str
        The place in the description, for errors.

    Raises
    ------
    SpecError
        If there is no such class, or it is not derived from ``base``.
    """
    found = known.get(name, name)
    if not isinstance(found, str):
        return found
    module, _, attribute = found.rpartition(":")
    if not module:
        raise SpecError(f"{where}: unknown name '{name}'; {did_you_mean(name, known)}")
    if module.endswith(".py"):
        content = run_file(Path(module), where)
    else:
        content = _import(module, where)
    made = vars(content).get(attribute)
    if not (isinstance(made, type) and issubclass(made, base)):
        there = [n for n, v in vars(content).items() if isinstance(v, type) and issubclass(v, base)]
        raise SpecError(
            f"{where}: {module} has no class '{attribute}' derived from {base.__module__}.{base.__name__}; "
            f"{did_you_mean(attribute, there)}"
        )
    return cast(Kind, made)


def check_options(named: Named, options: Mapping[str, Schema], where: str) -> None:
    """Refuse options that a class does not declare, or values that it does not take."""
    words = f"options of '{named.name}'" if options else f"nothing: '{named.name}' has no options"
    for key in named.options:
        if key not in options:
            raise SpecError(f"{where}: '{named.name}' has no option '{key}'; {did_you_mean(key, options)}")
    check(dict(named.options), table(options, words), where)


def run_file(path: Path, where: str) -> ModuleType:
    """Run a Python file and return its module; the same file is run once.

    Raises
    ------
    SpecError
        If the file cannot be read, or its code fails.
    """
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise SpecError(f"{where}: cannot read the program {path}: {error.strerror}.") from None
    key = f"unknot_program_{path.stem}_{digest}"
    if key in sys.modules:
        return sys.modules[key]
    spec = importlib.util.spec_from_file_location(key, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[key]
        raise SpecError(f"{where}: the program {path} fails: {type(error).__name__}: {error}.") from error
    return module


def _import(module: str, where: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise SpecError(f"{where}: cannot import {module}: {type(error).__name__}: {error}.") from error
