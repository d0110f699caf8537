"""An extension of griffe that rewrites docstrings for mkdocstrings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from griffe import Extension, Object

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from tools.site.markup import docstring_markup


class Roles(Extension):
    """Rewrite every docstring before it is parsed."""

    def on_instance(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = docstring_markup(obj.docstring.value)
