"""A graph as an SVG document: both models side by side, as in S17 Figs. 1 and 5.

Open circles are latent, half shaded ones partly observed, shaded ones observed; small squares are log-terms.
Rounded frames are plates: loops, with one copy of their contents for each turn k. An arrow that ends (or
starts) at a frame stands for one arrow to (or from) every variable inside.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from unknot.graph.layout import RADIUS, Shape, layout
from unknot.graph.plates import inside
from unknot.graph.routing import Curve, route
from unknot.graph.structure import MODELS, Edge, Graph, GraphNode, Model, same_turn

_INK = {"generative": "#1f5fa8", "recognition": "#d9731a"}
_OUTLINE, _SHADE, _PLATE, _CAPTION = "#2b2f36", "#c9ced6", "#8a919c", "#6b7280"
_SERIF = "font-family=\"'STIX Two Text', 'Latin Modern Roman', 'Times New Roman', serif\""
_SANS = "font-family=\"'Helvetica Neue', Helvetica, Arial, sans-serif\""
_MARGIN, _BETWEEN, _TITLE = 20.0, 56.0, 34.0
_SQUARE = 14.0  # side of a log-term's square
_BUNDLE = 3  # an arrow to a frame replaces at least this number of arrows


def svg(graph: Graph) -> str:
    """The document's text."""
    panels = [_Panel(graph, model) for model in MODELS if graph.part(model)[0]]
    height = max((panel.height for panel in panels), default=0.0)
    x, parts = _MARGIN, []
    for panel in panels:
        parts += panel.draw(x, _MARGIN + height)
        x += panel.width + _BETWEEN
    width, height = x - _BETWEEN + _MARGIN, height + _TITLE + 2 * _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">'
    )
    background = f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="white"/>'
    return "\n".join([head, background, *parts, "</svg>", ""])


class _Panel:
    """One model: shapes and arrows around the origin, then drawn at a place in the picture."""

    def __init__(self, graph: Graph, model: Model) -> None:
        self.model = model
        self.nodes, self.edges = graph.part(model)
        self.arrows = bundle(self.nodes, self.edges)
        self.upward = model == "recognition"  # data at the foot of both pictures
        own = {node.name: _shape(node) for node in self.nodes}
        self.shapes = layout(self.nodes, self.arrows, own, self.upward)
        ends = [(same_turn(edge.source), edge.target) for edge in self.arrows]
        self.curves = route(ends, self.shapes)
        self.left, self.top, right, self.bottom = _bounds(self.shapes.values(), self.curves)
        title = 7.4 * len(_title(model))
        missing = max(0.0, title - (right - self.left))
        self.left -= missing / 2
        self.width, self.height = right - self.left + missing / 2, self.bottom - self.top

    def draw(self, left: float, bottom: float) -> list[str]:
        """All of it, its left edge and its lower edge given, the title below."""
        dx, dy = left - self.left, bottom - self.bottom
        parts = [f'<g transform="translate({dx:.1f} {dy:.1f})">']
        plates = [(name, shape) for name, shape in self.shapes.items() if shape.plate]
        parts += [_frame(shape) for _, shape in plates]
        for edge, curve in zip(self.arrows, self.curves, strict=True):
            parts += _arrow(edge, curve)
        parts += [self._caption(name, shape) for name, shape in plates]
        parts += [_node(node, self.shapes[node.name]) for node in self.nodes]
        middle = self.left + self.width / 2
        parts.append(
            f'<text x="{middle:.1f}" y="{self.bottom + _TITLE:.1f}" text-anchor="middle" {_SANS} '
            f'font-size="14" fill="{_INK[self.model]}">{_title(self.model)}</text>'
        )
        return [*parts, "</g>"]

    def _caption(self, plate: str, shape: Shape) -> str:
        """A plate's name, in the corner that has the fewest arrows."""
        left, top = shape.x - shape.width / 2, shape.y - shape.height / 2
        scope, turn = plate[: plate.rindex("[")].split(".")[-1], plate[plate.rindex("[") + 1 : -1]
        y = top + 19 if self.upward else top + shape.height - 8
        across = 6.4 * len(f"{scope} {turn}")
        corners = {"end": left + shape.width - 11, "start": left + 11}
        points = [c.at(t / 40) for c in self.curves for t in range(41)]

        def busy(anchor: str) -> int:
            middle = corners[anchor] + (-across / 2 if anchor == "end" else across / 2)
            return sum(abs(px - middle) < across / 2 + 5 and abs(py - y + 4) < 12 for px, py in points)

        anchor = min(corners, key=busy)
        return (
            f'<text x="{corners[anchor]:.1f}" y="{y:.1f}" text-anchor="{anchor}" {_SERIF} font-size="14" '
            f'fill="{_CAPTION}" stroke="white" stroke-width="4" stroke-linejoin="round" paint-order="stroke">'
            f'{escape(scope)} <tspan font-style="italic">{turn}</tspan></text>'
        )


def bundle(nodes: list[GraphNode], edges: list[Edge]) -> list[Edge]:
    """Replace the arrows between a node and *all* variables of a plate by one arrow at the plate's frame."""
    for plate in dict.fromkeys(node.plate for node in nodes if node.plate is not None):
        members = {n.name for n in nodes if n.plate is not None and inside(n.plate, plate)}
        if len(members) < _BUNDLE:
            continue
        for node in (n.name for n in nodes if n.name not in members):
            arriving = {e.target: e for e in edges if e.source == node and e.target in members}
            leaving = {e.source: e for e in edges if e.target == node and e.source in members}
            for found, whole in (
                (arriving, Edge(node, plate, edges[0].model)),
                (leaving, Edge(plate, node, edges[0].model)),
            ):
                if found.keys() == members:
                    edges = [e for e in edges if e not in found.values()] + [whole]
    return edges


def _title(model: Model) -> str:
    return f"{model.title()} model"


def _label(name: str) -> tuple[str, str]:
    """A node's text and its subscript: the scope's name is on the frame, the turn goes below the line.

    >>> _label("digit[k].style"), _label("x")
    (('style', 'k'), ('x', ''))
    """
    turns = ",".join(re.findall(r"\[(.*?)\]", name))
    return name[name.rindex("]") + 2 :] if "]" in name else name, turns


def _shape(node: GraphNode) -> Shape:
    """Nodes are circles, drawn out sideways where the name is long; log-terms are small, their names beside."""
    text, turns = _label(node.name)
    width = 8.6 * len(text) + 5.5 * len(turns)
    if node.kind == "log-term":
        return Shape(_SQUARE, _SQUARE, aside=width)
    return Shape(max(2 * RADIUS, 20 + width), 2 * RADIUS)


def _bounds(shapes: Iterable[Shape], curves: Iterable[Curve]) -> tuple[float, float, float, float]:
    boxes = []
    for s in shapes:
        across, down = s.width / 2 + s.aside, s.height / 2
        boxes.append((s.x - across, s.y - down, s.x + across, s.y + down))
    boxes += [(*c.at(t / 20), *c.at(t / 20)) for c in curves for t in range(21)]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _frame(shape: Shape) -> str:
    left, top = shape.x - shape.width / 2, shape.y - shape.height / 2
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}" rx="10" '
        f'fill="none" stroke="{_PLATE}" stroke-width="1.2"/>'
    )


def _node(node: GraphNode, shape: Shape) -> str:
    """The outline with its shading, and the name; the family shows when the pointer rests on it."""
    left, top, r = shape.x - shape.width / 2, shape.y - shape.height / 2, shape.height / 2
    box = f'x="{left:.1f}" y="{top:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
    title = f"<title>{escape(node.name)}: {escape(node.family)}, {node.kind}</title>"
    if node.kind == "log-term":
        return f'<g>{title}<rect {box} fill="{_OUTLINE}"/>{_name(node, left + 20, shape.y, "start")}</g>'
    fill = _SHADE if node.kind == "observed" else "white"
    half = ""
    if node.kind == "partly observed":
        run = shape.width / 2 - r
        way = f"M{shape.x:.1f} {top:.1f} h{run:.1f} a{r:.1f} {r:.1f} 0 0 1 0 {2 * r:.1f} h{-run:.1f} z"
        half = f'<path d="{way}" fill="{_SHADE}"/>'
    return (
        f'<g>{title}<rect {box} rx="{r:.1f}" fill="{fill}"/>{half}'
        f'<rect {box} rx="{r:.1f}" fill="none" stroke="{_OUTLINE}" stroke-width="1.5"/>'
        f"{_name(node, shape.x, shape.y, 'middle')}</g>"
    )


def _name(node: GraphNode, x: float, y: float, anchor: str) -> str:
    text, turns = _label(node.name)
    below = f'<tspan dy="4" font-size="12">{escape(turns)}</tspan>' if turns else ""
    return (
        f'<text x="{x:.1f}" y="{y + 5.5:.1f}" text-anchor="{anchor}" {_SERIF} font-style="italic" '
        f'font-size="19" fill="{_OUTLINE}">{escape(text)}{below}</text>'
    )


def _arrow(edge: Edge, curve: Curve) -> list[str]:
    """The line, its head, and for an arrow from another turn of a loop which turn that is."""
    ink = _INK[edge.model]
    dash = ' stroke-dasharray="6 4"' if edge.model == "recognition" else ""
    (x, y), (bx, by) = curve.end, curve.at(0.96)
    size = math.hypot(x - bx, y - by) or 1.0
    ux, uy = (x - bx) / size, (y - by) / size
    neck = (x - 7 * ux, y - 7 * uy)
    wings = [(x - 10 * ux + side * 4.2 * uy, y - 10 * uy - side * 4.2 * ux) for side in (1, -1)]
    points = " ".join(f"{px:.1f},{py:.1f}" for px, py in [(x, y), wings[0], neck, wings[1]])
    numbers = [*curve.start, *curve.leave, *curve.arrive, *neck]
    path = "M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}".format(*numbers)
    parts = [
        f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="1.7"{dash}/>',
        f'<polygon points="{points}" fill="{ink}"/>',
    ]
    return parts if edge.source == same_turn(edge.source) else [*parts, _turn(edge, curve)]


def _turn(edge: Edge, curve: Curve) -> str:
    """Which turn of the loop an arrow comes from, written beside the arrow, on the outside of its bend."""
    turn = next(t for t in re.findall(r"\[(.*?)\]", edge.source) if len(t) > 1).replace("-", "−")
    (mx, my), (sx, sy), (ex, ey) = curve.at(0.5), curve.start, curve.end
    dx, dy = mx - (sx + ex) / 2, my - (sy + ey) / 2
    if math.hypot(dx, dy) < 1:
        dx, dy = ey - sy, sx - ex
    size = math.hypot(dx, dy)
    away = 5 + 9.5 * abs(dx) / size + 5 * abs(dy) / size
    return (
        f'<text x="{mx + away * dx / size:.1f}" y="{my + away * dy / size + 4:.1f}" text-anchor="middle" '
        f'{_SERIF} font-style="italic" font-size="13" fill="{_INK[edge.model]}">{escape(turn)}</text>'
    )
