"""Sphinx roles and double backticks of docstrings, in the mark-up of mkdocstrings."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ROLE = re.compile(r":(?:func|class|meth|mod|data|attr):`(~?)([\w.]+)`")


def to_markdown(text: str) -> str:
    """Return a docstring with links of Markdown and code in single backticks.

    >>> to_markdown("see :func:`~unknot.check` and ``alpha``")
    'see `check` and `alpha`'
    """
    text = _ROLE.sub(lambda m: f"`{m[2].rsplit('.', 1)[-1] if m[1] else m[2]}`", text)
    return re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL)


class Roles(Extension):
    """Rewrite every docstring before it is parsed."""

    def on_instance(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
