"""What `mkdocs build` needs beside its plugins: pages of the API, figures of results, and links out of docs/."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))
from tools.site.markup import links_from, titled_blocks  # noqa: E402

# Modules whose ``__all__`` is public: the page of each, its title, and what it is for.
PUBLIC = {
    "unknot": ("Language and estimators", "Traces, handlers, declared models and the estimators."),
    "unknot.objectives": ("Objectives", "Functions of two traces that return named terms per item."),
    "unknot.objectives.regularizers": ("Regularizers", "Terms that are added to an objective, by name."),
    "unknot.data": ("Data", "Data sets with partly known factors."),
    "unknot.metrics": ("Metrics", "Scores of any codes: arrays in, numbers out."),
    "unknot.models": ("Models", "Models as data: nodes, families and networks by name."),
    "unknot.train": ("Training", "The training loop and run folders."),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the API and the figures of results."""
    for module, (title, purpose) in PUBLIC.items():
        page = File.generated(config, f"reference/{module}.md", content=reference(module, title, purpose))
        files.append(page)
    for path in sorted((ROOT / "results" / "figures").rglob("*")):
        if path.suffix in {".png", ".svg", ".csv"}:
            place = str(path.relative_to(ROOT / "results"))
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def reference(module: str, title: str, purpose: str) -> str:
    """Return the page of a module: all its public names, each from its docstring."""
    found = importlib.import_module(module)
    lines = [f"# {title}", "", f"`{module}`. {purpose}", ""]
    for name in sorted(found.__all__, key=str.lower):
        thing = getattr(found, name)
        if inspect.ismodule(thing) or not callable(thing):
            continue
        lines += [f"::: {thing.__module__}.{thing.__qualname__}", ""]
    return "\n".join(lines)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links that leave docs/ to the copies of figures or to the repository; give blocks their file names."""
    return links_from(page.file.src_uri, titled_blocks(markdown), config.repo_url or "")
