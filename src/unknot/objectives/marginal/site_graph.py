"""The sites of an encoder and who depends on whom: ancestors of a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from unknot.core.node import Variable


@dataclass(frozen=True)
class SiteGraph:
    """``nodes`` by name, in the program's order, and the direct ``parents`` of each."""

    nodes: Mapping[str, Variable]
    parents: Mapping[str, Sequence[str]]

    @property
    def device(self) -> torch.device:
        return next(iter(self.nodes.values())).value.device

    def ancestors(self, names: Sequence[str]) -> list[str]:
        """``names`` and all that they depend on, in the program's order."""
        met, stack = set(names), list(names)
        while stack:
            for parent in self.parents[stack.pop()]:
                if parent not in met:
                    met.add(parent)
                    stack.append(parent)
        return [name for name in self.nodes if name in met]

    def outside(self, names: Sequence[str]) -> list[str]:
        """The ancestors of ``names`` that are not among them: what must be summed out."""
        return [name for name in self.ancestors(names) if name not in names]

    def inside(self, names: Sequence[str]) -> list[str]:
        """The parents of ``names`` that are among them: what keeps the row's value."""
        return [name for name in names if any(name in self.parents[child] for child in names)]

    def conditions(self, names: Sequence[str]) -> list[str]:
        """All sites that something in the ancestry of ``names`` depends on."""
        those = self.ancestors(names)
        return [name for name in those if any(name in self.parents[child] for child in those)]
