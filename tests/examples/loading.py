"""Examples as modules: they are scripts outside of any package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
RECIPES = sorted(path.stem for path in (EXAMPLES / "recipes").glob("*.py"))


def load(name: str) -> ModuleType:
    """The example ``examples/name.py``, with names such as ``recipes/hmm``."""
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
