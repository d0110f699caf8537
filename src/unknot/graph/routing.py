"""Arrows: straight where the way is free, else gently curved around what stands in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from unknot.graph.layout import LOOP, RADIUS, Shape

Point = tuple[float, float]

_CLEARANCE = 9.0  # how far an arrow stays from nodes that are not its own
_BENDS = [0.0, *(sign * 13.0 * step for step in range(1, 15) for sign in (1, -1))]
_SAMPLES = 40


@dataclass(frozen=True)
class Curve:
    """A cubic Bézier curve, from the border of one shape to the border of another."""

    start: Point
    leave: Point
    arrive: Point
    end: Point

    def at(self, t: float) -> Point:
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.start, self.leave, self.arrive, self.end
        return a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3

    def between(self, t0: float, t1: float) -> Curve:
        """The part of the curve from t0 to t1 (de Casteljau, twice)."""
        right = _split([self.start, self.leave, self.arrive, self.end], t0)[1]
        return Curve(*_split(right, (t1 - t0) / (1 - t0))[0])


def route(ends: list[tuple[str, str]], shapes: dict[str, Shape]) -> list[Curve]:
    """One curve per edge, in the edges' order; short ones choose their way first, loops last."""
    routed: dict[int, Curve] = {}
    taken: list[Point] = []
    for number in sorted(range(len(ends)), key=lambda n: _length(ends[n], shapes)):
        source, target = ends[number]
        if source == target:
            curve = _loop(shapes[source], _free_side(shapes[source], taken))
        else:
            around = obstacles(source, target, shapes)
            options = [_arc(shapes[source], shapes[target], bend) for bend in _BENDS]
            curve = min(options, key=lambda c: _cost(c, around, taken))
        routed[number] = curve
        taken += [curve.at(t / 20) for t in range(4, 17)]
    return [routed[number] for number in range(len(ends))]


def obstacles(source: str, target: str, shapes: dict[str, Shape]) -> list[Shape]:
    """What an arrow should not cross: other nodes, and plates that hold neither of its ends."""
    own = (shapes[source], shapes[target])
    return [
        shape
        for name, shape in shapes.items()
        if name not in (source, target) and not (shape.plate and any(_holds(shape, end) for end in own))
    ]


def distance(point: Point, shape: Shape) -> float:
    """From a point to a shape's border; negative inside. Nodes are pills: circles drawn out sideways."""
    dx, dy = abs(point[0] - shape.x), abs(point[1] - shape.y)
    if shape.plate:
        return max(dx - shape.width / 2, dy - shape.height / 2)
    radius = shape.height / 2
    return math.hypot(max(0.0, dx - (shape.width / 2 - radius)), dy) - radius


def _holds(plate: Shape, other: Shape) -> bool:
    return distance((other.x, other.y), plate) < 0


def _length(ends: tuple[str, str], shapes: dict[str, Shape]) -> float:
    if ends[0] == ends[1]:
        return math.inf
    one, other = shapes[ends[0]], shapes[ends[1]]
    return math.hypot(one.x - other.x, one.y - other.y)


def _arc(source: Shape, target: Shape, bend: float) -> Curve:
    """From center to center with the middle ``bend`` to the left, cut off at both borders."""
    (x0, y0), (x1, y1) = _anchor(source, target), _anchor(target, source)
    dx, dy = x1 - x0, y1 - y0
    length = math.hypot(dx, dy) or 1.0
    left, up = dy / length * bend * 4 / 3, -dx / length * bend * 4 / 3
    whole = Curve(
        (x0, y0),
        (x0 + 0.3 * dx + left, y0 + 0.3 * dy + up),
        (x0 + 0.7 * dx + left, y0 + 0.7 * dy + up),
        (x1, y1),
    )
    steps = [t / 150 for t in range(151)]
    first = next((t for t in steps if distance(whole.at(t), source) > 1), 0.0)
    last = next((t for t in reversed(steps) if distance(whole.at(t), target) > 2), 1.0)
    return whole.between(first, max(last, first))


def _anchor(shape: Shape, other: Shape) -> Point:
    """Where an arrow aims: the point deep inside the shape that is nearest to the other end."""
    inset = RADIUS if shape.plate else shape.height / 2
    across, down = shape.width / 2 - inset, shape.height / 2 - inset
    return (
        min(max(other.x, shape.x - across), shape.x + across),
        min(max(other.y, shape.y - down), shape.y + down),
    )


def _cost(curve: Curve, around: Iterable[Shape], taken: list[Point]) -> float:
    points = [curve.at(t / _SAMPLES) for t in range(_SAMPLES + 1)]
    length = sum(math.dist(a, b) for a, b in pairwise(points))
    chord = math.dist(curve.start, curve.end)
    cost = length + 1.5 * (length - chord) + 0.02 * length
    for shape in around:
        cost += sum(40.0 for point in points if distance(point, shape) < _CLEARANCE)
    cost += sum(5.0 for point in points[5:-5] if any(math.dist(point, other) < 6 for other in taken))
    return cost


def _free_side(shape: Shape, taken: list[Point]) -> int:
    """Where a loop and its label meet the fewest arrows: right (1) or left (-1)."""

    def busy(side: int) -> int:
        middle = shape.x + side * (shape.width / 2 + LOOP / 2)
        return sum(abs(x - middle) < LOOP / 2 + 4 and abs(y - shape.y) < RADIUS for x, y in taken)

    return min((1, -1), key=busy)


def _loop(shape: Shape, side: int) -> Curve:
    """From a node back to itself, at its right (side 1) or left side (-1)."""
    middle = shape.x + side * (shape.width / 2 - RADIUS)
    rise, reach = 0.55 * RADIUS, 2.4 * RADIUS
    out = math.sqrt((RADIUS + 1) ** 2 - rise**2)
    return Curve(
        (middle + side * out, shape.y - rise),
        (middle + side * reach, shape.y - 1.9 * rise),
        (middle + side * reach, shape.y + 1.9 * rise),
        (middle + side * (out + 1.5), shape.y + rise),
    )


def _split(points: list[Point], t: float) -> tuple[list[Point], list[Point]]:
    left: list[Point] = []
    right: list[Point] = []
    while points:
        left.append(points[0])
        right.insert(0, points[-1])
        points = [((1 - t) * a[0] + t * b[0], (1 - t) * a[1] + t * b[1]) for a, b in pairwise(points)]
    return left, right
