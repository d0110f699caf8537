"""Hierarchy: a tree of classes, whose leaves are the classes of a factor and whose nodes are labels of any depth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unknot.errors import DataError
from unknot.suggest import did_you_mean
from unknot.yaml_file import read_yaml

SEPARATOR = "/"
_ALL = "*"  # "immune/*" is the node "immune"


@dataclass(frozen=True)
class Hierarchy:
    """A tree, or several, of named classes.

    Leaves are the classes of a factor. A label may be any node: an inner node says that the class is one of the leaves
    below it. Nodes are named by themselves (``lymphoid``), or by a path (``immune/lymphoid``, ``immune/*``).

    Parameters
    ----------
    parents : mapping from str to str or None
        The parent of every node, None for a root.

    Examples
    --------
    >>> tree = Hierarchy.from_mapping({"immune": {"lymphoid": ["T cell", "B cell"], "myeloid": None}, "stroma": None})
    >>> tree.leaves
    ('T cell', 'B cell', 'myeloid', 'stroma')
    >>> tree.mask(["immune/lymphoid", "stroma", None]).int().tolist()
    [[1, 1, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]]
    >>> tree.at_depth(1)
    ('immune', 'stroma')
    >>> tree.sums(torch.tensor([[0.5, 0.2, 0.2, 0.1]]), 1)
    tensor([[0.9000, 0.1000]])
    """

    parents: Mapping[str, str | None]

    def __post_init__(self) -> None:
        for node, parent in self.parents.items():
            if parent is not None and parent not in self.parents:
                raise DataError(
                    f"class tree: '{node}' has the parent '{parent}', which is no node of the tree."
                )
            ancestors = [node]
            while (above := self.parents[ancestors[-1]]) is not None:
                if above in ancestors:
                    path = " -> ".join([*ancestors, above])
                    raise DataError(f"class tree: the nodes {path} form a cycle; a tree has none.")
                ancestors.append(above)

    # ---- construction -------------------------------------------------------------------------------

    @classmethod
    def from_mapping(cls, tree: Mapping[Any, Any]) -> Hierarchy:
        """Make a tree from nested mappings.

        Parameters
        ----------
        tree : mapping
            By name of a node what is below it: a mapping, a list of names, or None.
        """
        return cls.from_pairs(_pairs(tree, None))

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[Any, Any]]) -> Hierarchy:
        """Make a tree from pairs.

        Parameters
        ----------
        pairs : iterable of (child, parent)
            The parent of a root is None; a parent that is never named as a child is a root too.
        """
        parents: dict[str, str | None] = {}
        named: list[str] = []
        for child, parent in pairs:
            name, above = str(child), None if parent is None else str(parent)
            if name in parents and parents[name] != above:
                raise DataError(
                    f"class tree: '{name}' has two parents, {_shown(parents[name])} and {_shown(above)}; a node of a "
                    "tree has one, so give the two nodes different names."
                )
            parents[name] = above
            if above is not None:
                named.append(above)
        roots: dict[str, str | None] = {name: None for name in named if name not in parents}
        return cls({**roots, **parents})

    @classmethod
    def from_paths(cls, paths: Iterable[str]) -> Hierarchy:
        """Make a tree from paths.

        Parameters
        ----------
        paths : iterable of str
            Paths such as ``immune/lymphoid/T cell``; one that ends with ``/*`` is that of a node.
        """
        pairs: dict[tuple[str, str | None], None] = {}
        for path in paths:
            parts = _parts(path)
            for above, name in zip([None, *parts], parts, strict=False):
                pairs[name, above] = None
        return cls.from_pairs(pairs)

    @classmethod
    def read(cls, tree: Any) -> Hierarchy:
        """Make a tree from any of the forms.

        Parameters
        ----------
        tree : Hierarchy, mapping, iterable of pairs or of paths, str or Path
            The tree; a str or Path is a YAML file of nested names.
        """
        if isinstance(tree, Hierarchy):
            return tree
        if isinstance(tree, str | Path):
            return cls.from_mapping(read_yaml(Path(tree), "class tree", "nested names of classes"))
        if isinstance(tree, Mapping):
            return cls.from_mapping(tree)
        listed = list(tree)
        return (
            cls.from_paths(listed) if all(isinstance(one, str) for one in listed) else cls.from_pairs(listed)
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the tree as nested mappings, as :meth:`from_mapping` takes them."""

        def below(node: str | None) -> dict[str, Any] | None:
            return {name: below(name) for name, parent in self.parents.items() if parent == node} or None

        return below(None) or {}

    # ---- nodes --------------------------------------------------------------------------------------

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The nodes without children, in the order in which they were named: the classes."""
        inner = set(self.parents.values())
        return tuple(name for name in self.parents if name not in inner)

    @cached_property
    def depth(self) -> int:
        """The largest number of nodes from a root to a leaf."""
        return max(len(self.path(name)) for name in self.leaves)

    def path(self, name: str) -> tuple[str, ...]:
        """Return the nodes from the root to a node.

        Parameters
        ----------
        name : str
            The node.
        """
        nodes: list[str] = [name]
        while (parent := self.parents[nodes[-1]]) is not None:
            nodes.append(parent)
        return tuple(reversed(nodes))

    def node(self, label: Any) -> str:
        """Return the node of a label.

        Parameters
        ----------
        label : str
            The name of the node, or a path to it, whole or from any node on.
        """
        text = str(label)
        if text in self.parents:
            return text
        parts = _parts(text)
        if not parts or parts[-1] not in self.parents:
            raise DataError(
                f"'{text}' is no node of the class tree; {did_you_mean(parts[-1] if parts else text, self.parents)}"
            )
        path = self.path(parts[-1])
        if path[-len(parts) :] != tuple(parts):
            raise DataError(
                f"'{text}' is no path of the class tree: the path to '{parts[-1]}' is {SEPARATOR.join(path)}."
            )
        return parts[-1]

    def mask(self, nodes: Sequence[Any]) -> Tensor:
        """Return which classes lie below each node, bool ``(B, K)``.

        Parameters
        ----------
        nodes : sequence of str or None
            Names or paths of nodes; None is any class.
        """
        row = dict.fromkeys(nodes)
        rows = (
            torch.stack([self._below(node) for node in row])
            if row
            else torch.ones(0, len(self.leaves), dtype=torch.bool)
        )
        place = {node: index for index, node in enumerate(row)}
        return rows[torch.tensor([place[node] for node in nodes], dtype=torch.int64)]

    # ---- probabilities ------------------------------------------------------------------------------

    def at_depth(self, depth: int) -> tuple[str, ...]:
        """Return the nodes at a depth.

        Parameters
        ----------
        depth : int
            From 1 for the roots; a leaf above this depth stands for itself.
        """
        if not 1 <= depth <= self.depth:
            raise DataError(f"depth is from 1 to {self.depth}, the depth of the class tree, but got {depth}.")
        return tuple(dict.fromkeys(self.path(name)[:depth][-1] for name in self.leaves))

    def sums(self, probabilities: Tensor, depth: int) -> Tensor:
        """Return the probabilities of the nodes at a depth, ``(B, J)``.

        Parameters
        ----------
        probabilities : Tensor
            Those of the classes, ``(B, K)``.
        depth : int
            As in :meth:`at_depth`.
        """
        member = self.mask(self.at_depth(depth)).to(probabilities)  # (J, K)
        return probabilities @ member.T

    def _below(self, label: Any) -> Tensor:
        if label is None:
            return torch.ones(len(self.leaves), dtype=torch.bool)
        node = self.node(label)
        return torch.tensor([node in self.path(name) for name in self.leaves])


def _parts(path: str) -> list[str]:
    parts = [part.strip() for part in path.split(SEPARATOR)]
    return parts[:-1] if parts[-1] == _ALL else parts


def _pairs(tree: Any, parent: str | None) -> Iterable[tuple[Any, str | None]]:
    if tree is None:
        return
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield name, parent
            yield from _pairs(below, str(name))
    elif isinstance(tree, str | int):
        yield tree, parent
    elif isinstance(tree, Iterable):
        for one in tree:
            yield from _pairs(one, parent)
    else:
        raise DataError(f"class tree: expected nested names of classes, but got {tree!r} below '{parent}'.")


def _shown(parent: str | None) -> str:
    return "none" if parent is None else f"'{parent}'"
