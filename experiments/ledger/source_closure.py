"""The source files that a result depends on, and their digest.

The files are those that the module of an experiment imports, directly or through others, also inside functions and by
names such as ``"experiments.faces.networks:Trunk"``. Comments, docstrings and layout do not count: the digest is that
of the syntax trees. What only shows numbers, like reports, is left out.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from unknot.errors import SpecError

PACKAGES = ("experiments", "unknot")
_ONLY_SHOWS = ("unknot.cli", "unknot.explorer", "unknot.plots", "unknot.report")
_BY_NAME = re.compile(rf"((?:{'|'.join(PACKAGES)})(?:\.\w+)+):\w+")


def source_files(module: str) -> list[Path]:
    """Return the files of a module and of all that it imports from :data:`PACKAGES`, sorted by module.

    >>> [path.name for path in source_files("unknot.suggest")]
    ['suggest.py']
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or name.startswith(_ONLY_SHOWS):
            continue
        path = _path(name)
        if path is not None:
            found[name] = path
            waiting += _imports(path, name)
    if module not in found:
        raise SpecError(f"there is no source file of {module} whose code could be told.")
    return [found[name] for name in sorted(found)]


def closure_digest(module: str) -> str:
    """Return 12 hexadecimal digits of the code of :func:`source_files`."""
    digest = hashlib.sha256()
    for path in source_files(module):
        digest.update(_code_digest(path))
    return digest.hexdigest()[:12]


@cache
def _code_digest(path: Path) -> bytes:
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            del node.body[0]
    return hashlib.sha256(ast.dump(tree).encode()).digest()


@cache
def _imports(path: Path, name: str) -> tuple[str, ...]:
    """Return the modules that a file names; the root package stands for the names that are used of it."""
    tree = ast.parse(path.read_bytes())
    here = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return tuple(dict.fromkeys(found for node in ast.walk(tree) for found in _named(node, here)))


def _named(node: ast.AST, here: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _is_ours(alias.name))
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            base = ".".join(
                here.split(".")[: len(here.split(".")) - node.level + 1] + ([base] if base else [])
            )
        if _is_ours(base):
            for alias in node.names:
                yield from _of_package(base, alias.name)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in PACKAGES:
        yield from _of_package(node.value.id, node.attr)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from (match.group(1) for match in _BY_NAME.finditer(node.value))


def _of_package(package: str, name: str) -> Iterator[str]:
    """Return the modules behind ``from package import name``: a submodule, or the package and the name's module."""
    if package not in PACKAGES:
        yield package
    if _path(f"{package}.{name}") is not None:
        yield f"{package}.{name}"
    elif package in PACKAGES:
        value = getattr(import_module(package), name, None)
        module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(module, str) and _is_ours(module):
            yield module


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


@cache
def _path(module: str) -> Path | None:
    """Return the file of a module; None for what is no module, and for the root packages."""
    if module in PACKAGES:
        return None
    try:
        spec = find_spec(module)
    except (ModuleNotFoundError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None
