"""The page: one HTML file with the model, its runtime and the items, which needs no network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from importlib.resources import files
from typing import Any

from unknot import __version__
from unknot.explorer.content import Block

_SCRIPTS = ("runtime", "model", "pictures", "controls", "views", "draw", "app")


def render(title: str, summary: str, content: dict[str, Any], block: Block, **more: Any) -> str:
    """Return the HTML text.

    Parameters
    ----------
    title, summary : str
        The headline and the line below it.
    content : dict
        What the page shows, as JSON has it.
    block : Block
        The arrays that ``content`` refers to.
    **more
        ``load``, ``data_name`` and ``map_caption`` of the template.
    """
    from jinja2 import Environment, PackageLoader

    folder = files("unknot.explorer") / "page"
    script = "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)
    style = (folder / "style.css").read_text(encoding="utf-8")
    packed = gzip.compress(bytes(block.content), mtime=0)
    templates = Environment(loader=PackageLoader("unknot.explorer", "page"), autoescape=True)
    graph = content.pop("graph")
    return templates.get_template("page.html.jinja").render(
        title=title,
        summary=summary,
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
        content=json.dumps(content, allow_nan=False).replace("<", "\\u003c"),
        block=base64.b64encode(packed).decode(),
        graph=graph,
        version=__version__,
        **more,
    )


def _hash(text: str) -> str:
    """What the page's content security policy names an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
