"""Which part of the package imports which, read from the source: ``python tools/import_graph.py``.

A part is a folder of ``src/unknot`` or a file at its top. Each line is a part, the number of its files and
lines, and the parts it imports with the number of import statements; a part that stands above all it imports
comes later in the list.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "unknot"


def part_of(path: Path, source: Path = SOURCE) -> str:
    """The folder or top file that a file belongs to."""
    return path.relative_to(source).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> Counter[str]:
    """The parts of unknot that a file imports, anywhere in it, and how often."""
    found: Counter[str] = Counter()
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            module = statement.module or ""
            names = [f"unknot.{a.name}" for a in statement.names] if module == "unknot" else [module]
        else:
            continue
        ours = [name for name in names if name == "unknot" or name.startswith("unknot.")]
        found.update(name.split(".")[1] if "." in name else "__init__" for name in ours)
    return found


def import_graph(source: Path = SOURCE) -> dict[str, Counter[str]]:
    """Part -> the parts it imports, itself left out."""
    graph: dict[str, Counter[str]] = {}
    for path in sorted(source.rglob("*.py")):
        part = part_of(path, source)
        graph.setdefault(part, Counter()).update(imported_parts(path))
    return {part: Counter({p: n for p, n in to.items() if p != part}) for part, to in graph.items()}


def in_order(graph: dict[str, Counter[str]]) -> list[str]:
    """Parts so that what is imported comes first; parts of a cycle come last, in the order of their names."""
    order: list[str] = []
    left = sorted(graph)
    while left:
        ready = [part for part in left if all(p in order or p not in graph for p in graph[part])] or left
        order += ready
        left = [part for part in left if part not in order]
    return order


def main() -> None:
    graph = import_graph()
    for part in in_order(graph):
        files = [path for path in SOURCE.rglob("*.py") if part_of(path) == part]
        lines = sum(len(path.read_text().splitlines()) for path in files)
        to = ", ".join(f"{p} {n}" for p, n in sorted(graph[part].items())) or "nothing"
        print(f"{part:12} {len(files):3} files {lines:6} lines  imports {to}")


if __name__ == "__main__":
    main()
