"""Write docs/api.md: every public name, what it takes and how it begins to tell of itself.

python tools/api_page.py docs/api.md
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Modules whose ``__all__`` is public, and what each is for.
PUBLIC = {
    "unknot": "the language, declared models and the estimators",
    "unknot.objectives": "functions of two traces; `unknot objectives` has their formulas",
    "unknot.metrics": "arrays in, scores out; [which to use](metrics.md)",
    "unknot.data": "data sets with partly known factors",
    "unknot.train": "training and runs",
}
OPENING = """# Public names

Made from the docstrings by `python tools/api_page.py docs/api.md`. Each name is given with what it takes and how its
docstring begins; `help(...)` has the rest: equations, every argument, an example.
"""


def page() -> str:
    """The whole page."""
    parts = [OPENING]
    for module, purpose in PUBLIC.items():
        parts.append(f"## {module}\n\n{purpose[0].upper()}{purpose[1:]}.\n")
        found = importlib.import_module(module)
        parts += [entry(name, getattr(found, name)) for name in sorted(found.__all__, key=str.lower)]
    return "\n".join(parts)


def entry(name: str, thing: Any) -> str:
    """One name: a heading, the beginning of its docstring, and of a class its methods, each on a line."""
    if inspect.ismodule(thing):
        return f"### {name}\n\n{opening(thing)} See [below](#unknot{name}).\n"
    if not callable(thing):
        return f"### {name}\n\n{type(thing).__name__} of {len(thing)}: {', '.join(f'`{key}`' for key in thing)}.\n"
    lines = [f"### {name}\n", f"```python\n{name}{arguments(thing)}\n```\n", f"{opening(thing)}\n"]
    methods = [
        f"- `.{method}{arguments(function, bound=True)}`: {opening(function)}"
        for method, function in (own_methods(thing) if inspect.isclass(thing) else ())
    ]
    return "\n".join([*lines, *methods, ""] if methods else lines)


def own_methods(thing: type) -> Iterator[tuple[str, Any]]:
    """Public methods that say what they do, in the order of their names."""
    for method, function in inspect.getmembers(thing, inspect.isfunction):
        if not method.startswith("_") and function.__module__.startswith("unknot") and function.__doc__:
            yield method, function


def arguments(thing: Any, bound: bool = False) -> str:
    """Names and defaults of the arguments; types are the editor's business."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return "(message)"
    signature = inspect.signature(thing)
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    if bound:
        plain = plain[1:]
    shown = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return re.sub(r"<function (\w+) at 0x\w+>", r"\1", shown)


def opening(thing: Any) -> str:
    """The first paragraph of a docstring, in Markdown."""
    paragraph = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    plain = re.sub(r":\w+:`~?([^`]+)`", lambda found: f"`{found[1].split('.')[-1]}`", paragraph)
    return plain.replace("``", "`").rstrip(":")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
