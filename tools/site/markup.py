"""Changes of Markdown on its way into the site."""

from __future__ import annotations

import re

_ROLE = re.compile(r":(?:func|class|meth|mod|data|attr):`(~?)([\w.]+)`")
_NAMED_BLOCK = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"(!?)\[([^\]]*)\]\((?:\.\./)+((?!docs/)[^)#\s]+)(#[^)\s]*)?\)")
_FOLDERS = (
    "benchmarks/",
    "examples/",
    "experiments/",
    "results/",
    "src/",
    "tests/",
    "tools/",
    "CONTRIBUTING.md",
)


def docstring_markup(text: str) -> str:
    """Return a docstring with single backticks in the place of Sphinx roles and double backticks.

    >>> docstring_markup("see :func:`~unknot.check` and ``alpha``")
    'see `check` and `alpha`'
    """
    text = _ROLE.sub(lambda m: f"`{m[2].rsplit('.', 1)[-1] if m[1] else m[2]}`", text)
    return re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL)


def titled_blocks(markdown: str) -> str:
    """Return a page whose code blocks have their file name as a title.

    >>> titled_blocks("```yaml spec.yaml")
    '```yaml title="spec.yaml"'
    """
    return _NAMED_BLOCK.sub(r'```\1 title="\2"', markdown)


def links_from(source: str, markdown: str, repository: str = "") -> str:
    """Return a page of docs/ whose links out of docs/ lead to the site's copies of figures, or to the repository.

    Without a repository a link becomes its text and the path.

    Parameters
    ----------
    source : str
        The page, as a path below docs/.
    markdown : str
        Its text.
    repository : str, default=""
        The address of the repository.

    Examples
    --------
    >>> links_from("results/mnist.md", "![a](../../results/figures/a.png)")
    '![a](../figures/a.png)'
    >>> links_from("guide.md", "[the example](../examples/own_data.py)")
    'the example (`examples/own_data.py`)'
    """
    up = "../" * source.count("/")

    def moved(match: re.Match[str]) -> str:
        mark, text, target = match[1], match[2], match[3]
        if not target.startswith(_FOLDERS):
            return match[0]
        if target.startswith("results/figures/"):
            return f"{mark}[{text}]({up}{target.removeprefix('results/')})"
        if repository:
            return f"{mark}[{text}]({repository}/blob/main/{target})"
        return f"`{target}`" if text.strip("`") in {target, ""} else f"{text} (`{target}`)"

    return _OUTSIDE.sub(moved, markdown)
