"""A small layered layout: where the nodes and plates of one model go.

Nodes stand in layers by the longest path that leads to them (the first two steps of Sugiyama's method); the
barycenter rule orders each layer; a last pass pulls each node towards its neighbors. A plate is laid out on
its own first and then takes part as one large node, so that nothing foreign can stand inside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from unknot.graph.plates import inside, plates_within
from unknot.graph.structure import Edge, GraphNode, same_turn

# ---- Layers: which item of a graph stands above which, and in what order they stand side by side ---------

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


RADIUS = 22.0
GAP = 34.0  # between neighbors in a layer
LAYER_GAP = 46.0  # between layers
PADDING = 18.0  # between a plate's border and its contents
CAPTION = 14.0  # room for a plate's name, at the end where its arrows point
LOOP = 46.0  # room beside a node for an arrow to itself


@dataclass
class Shape:
    """A node or a plate: its center and its size. Coordinates grow to the right and down."""

    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    plate: bool = False
    aside: float = 0.0  # room at both sides, for an arrow to itself or a name


def layout(
    nodes: list[GraphNode], edges: list[Edge], shapes: dict[str, Shape], upward: bool
) -> dict[str, Shape]:
    """Places for the nodes' shapes, and shapes for the plates, around the origin.

    Arrows point down, or up if ``upward``. An edge may also end at a plate as a whole.
    """
    shapes = dict(shapes)
    for edge in edges:
        if same_turn(edge.source) == edge.target:
            shapes[edge.target].aside = LOOP
    _place(nodes, edges, None, shapes, upward)
    return shapes


def _place(
    nodes: list[GraphNode], edges: list[Edge], plate: str | None, shapes: dict[str, Shape], upward: bool
) -> tuple[float, float]:
    """Lay out what stands directly in a plate, its inner plates first; returns the size of the whole."""
    holder = {n.name: n.name for n in nodes if n.plate == plate}  # which item of this plate a name belongs to
    inner = plates_within(nodes, plate)
    for name in inner:
        within = [n for n in nodes if n.plate is not None and inside(n.plate, name)]
        width, height = _place(within, edges, name, shapes, upward)
        shapes[name] = Shape(width + 2 * PADDING, height + 2 * PADDING + CAPTION, plate=True)
        holder |= {n.name: name for n in within} | {n.plate: name for n in within if n.plate is not None}
    items = list(dict.fromkeys(holder[n.name] for n in nodes))
    layered = layers(items, _pairs(edges, holder))
    size = {n: shapes[n].width + 2 * shapes[n].aside if n in shapes else 0.0 for n in layered.all()}
    order(layered)
    total = _write(layered, _across(layered, size), size, shapes, upward)
    for name in inner:
        _shift(nodes, name, shapes, upward)
    return total


def _pairs(edges: list[Edge], holder: dict[str, str]) -> list[tuple[str, str]]:
    """The edges between items; where one comes from outside or leaves, a stand-in keeps a way free."""
    pairs: dict[tuple[str, str], None] = {}
    for edge in edges:
        source, target = holder.get(same_turn(edge.source)), holder.get(edge.target)
        if source != target:
            pairs[source or f"{STAND_IN}in", target or f"{STAND_IN}out"] = None
    return list(pairs)


def _across(layered: Layered, size: dict[str, float]) -> dict[str, float]:
    """Horizontal positions: each item near the mean of its neighbors, none closer than the gap."""
    near = neighbors(layered)
    x: dict[str, float] = {}
    for layer in layered.layers:
        x |= _spread(layer, dict.fromkeys(layer, 0.0), size)
    for sweep in range(2 * SWEEPS):
        for layer in layered.layers if sweep % 2 == 0 else reversed(layered.layers):
            x |= _spread(layer, {name: mean([x[n] for n in near[name]], x[name]) for name in layer}, size)
    return x


def _spread(layer: list[str], wish: dict[str, float], size: dict[str, float]) -> dict[str, float]:
    """The positions nearest to the wishes (least squares) that keep order and distance.

    Subtracting the distances from the wishes leaves a sequence that must not decrease: neighbors that
    would are pooled at their mean.
    """
    offsets: list[float] = []
    for before, name in zip([None, *layer], layer, strict=False):
        step = 0.0 if before is None else offsets[-1] + (size[before] + size[name]) / 2 + _gap(before, name)
        offsets.append(step)
    pools: list[tuple[float, int]] = []  # mean and how many
    for name, offset in zip(layer, offsets, strict=True):
        pools.append((wish[name] - offset, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    levels = [mean for mean, count in pools for _ in range(count)]
    return {name: level + offset for name, level, offset in zip(layer, levels, offsets, strict=True)}


def _gap(one: str, other: str) -> float:
    """Arrows that pass by need less room than nodes."""
    return 0.8 * GAP if STAND_IN in one + other else GAP


def _write(
    layered: Layered, across: dict[str, float], size: dict[str, float], shapes: dict[str, Shape], upward: bool
) -> tuple[float, float]:
    """Write the positions into the shapes, centered on the origin; returns width and height."""
    real = [layer for layer in layered.layers if any(name in shapes for name in layer)]
    heights = [max(shapes[name].height for name in layer if name in shapes) for layer in real]
    total = sum(heights) + LAYER_GAP * (len(heights) - 1)
    left = min(across[name] - size[name] / 2 for layer in real for name in layer)
    right = max(across[name] + size[name] / 2 for layer in real for name in layer)
    top = -total / 2
    for layer, height in zip(real, heights, strict=True):
        for name in layer:
            if name in shapes:
                shapes[name].x = across[name] - (left + right) / 2
                shapes[name].y = (-1 if upward else 1) * (top + height / 2)
        top += height + LAYER_GAP
    return right - left, total


def _shift(nodes: list[GraphNode], plate: str, shapes: dict[str, Shape], upward: bool) -> None:
    """Move what stands in a plate to where the plate went."""
    to = shapes[plate]
    below = [n.name for n in nodes if n.plate is not None and inside(n.plate, plate)]
    plates = [p for p, s in shapes.items() if s.plate and p != plate and inside(p, plate)]
    for name in [*below, *plates]:
        shapes[name].x += to.x
        shapes[name].y += to.y + (CAPTION if upward else -CAPTION) / 2
