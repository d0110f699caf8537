"""Layers: which item of a graph stands above which, and in what order they stand side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

STAND_IN = "\0"  # begins the name of a stand-in; no site has such a name
SWEEPS = 12


@dataclass
class Layered:
    """Items in layers, with stand-ins where an edge passes through a layer."""

    layers: list[list[str]]
    links: list[tuple[str, str]] = field(default_factory=list)  # between neighboring layers only

    def all(self) -> list[str]:
        return [name for layer in self.layers for name in layer]


def _depths(items: list[str], pairs: list[tuple[str, str]]) -> dict[str, int]:
    """Longest-path layers; items without parents move down to just above their first child."""
    children = {item: [t for s, t in pairs if s == item] for item in items}
    finished: list[str] = []
    forward: list[tuple[str, str]] = []
    entered: set[str] = set()

    def visit(item: str) -> None:
        entered.add(item)
        for child in children[item]:
            if child not in entered:
                visit(child)
            if child in finished:  # otherwise the edge closes a cycle and has no say
                forward.append((item, child))
        finished.append(item)

    for item in items:
        if item not in entered:
            visit(item)
    layer = dict.fromkeys(items, 0)
    for item in reversed(finished):
        for source, target in forward:
            if source == item:
                layer[target] = max(layer[target], layer[item] + 1)
    for item in items:
        below = [layer[t] for s, t in forward if s == item]
        if below and all(t != item for _, t in forward):
            layer[item] = min(below) - 1
    return layer


def layers(items: list[str], pairs: list[tuple[str, str]]) -> Layered:
    """Put items in layers; ends of pairs that are no items become stand-ins themselves."""
    ends = [end for pair in pairs for end in pair]
    layer = _depths(list(dict.fromkeys([*items, *ends])), pairs)
    found = Layered([[] for _ in range(max(layer.values(), default=0) + 1)])
    for item, depth in layer.items():
        found.layers[depth].append(item)
    for number, (source, target) in enumerate(pairs):
        low, high = sorted((source, target), key=lambda item: layer[item])
        chain = [low]
        for depth in range(layer[low] + 1, layer[high]):
            chain.append(f"{STAND_IN}{number} {depth}")
            found.layers[depth].append(chain[-1])
        chain.append(high)
        if layer[low] != layer[high]:
            found.links += pairwise(chain)
    return found


def neighbors(layered: Layered) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {name: [] for layer in layered.layers for name in layer}
    for one, other in layered.links:
        near[one].append(other)
        near[other].append(one)
    return near


def order(layered: Layered) -> None:
    """Order each layer by the mean position of its neighbors, down and up, and keep the fewest crossings."""
    near = neighbors(layered)
    best, fewest = [list(layer) for layer in layered.layers], _crossings(layered)
    for sweep in range(SWEEPS):
        depths = range(1, len(layered.layers))
        for depth in depths if sweep % 2 == 0 else [d - 1 for d in reversed(depths)]:
            fixed = layered.layers[depth - 1 if sweep % 2 == 0 else depth + 1]
            place = {name: position for position, name in enumerate(fixed)}
            layer = layered.layers[depth]
            own = {name: position for position, name in enumerate(layer)}
            means = {name: mean([place[n] for n in near[name] if n in place], own[name]) for name in layer}
            layer.sort(key=means.__getitem__)
        crossings = _crossings(layered)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layered.layers], crossings
    layered.layers = best


def _crossings(layered: Layered) -> int:
    place = {name: position for layer in layered.layers for position, name in enumerate(layer)}
    depth = {name: d for d, layer in enumerate(layered.layers) for name in layer}
    links = [(depth[a], place[a], place[b]) for a, b in layered.links]
    return sum(
        d == e and (a - c) * (b - f) < 0 for i, (d, a, b) in enumerate(links) for e, c, f in links[i + 1 :]
    )


def mean(values: list[float] | list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
