"""Puts a subject on a canvas: scales the layout, draws lines, arrows, vertices, path and names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.viz.colouring import FADED, GROUND, INK, ROUTE, Groups, Plain, amount, ink_on
from kleene.viz.layout import Layout, separate, street_courses
from kleene.viz.picture import Picture
from kleene.viz.shapes import Areas, Box, Dots, Lines, Shape, Text, text_width
from kleene.viz.subject import Subject

__all__ = ["Name", "Scene", "Strokes", "arrowhead", "place_names"]

Array = NDArray[Any]

_WIDTH, _NARROW = 960, 640  # pixels; small graphs need less
_MARGIN, _SIDE, _HEAD, _FOOT = 48, 80, 108, 76  # _SIDE has room for names
_LONGEST = 190.0  # pixels of a typical arc: a graph of three vertices does not fill the canvas
_MOST_NAMES = 60  # vertices, or arcs with weights, that are named unless asked
_MOST_ARROWS = 400


class Scene:
    """A subject with its layout in pixels."""

    def __init__(
        self,
        subject: Subject,
        layout: Layout,
        labels: bool | None,
        arrows: bool | None,
    ) -> None:
        self.subject, points = subject, layout.points
        self.vertices = np.flatnonzero(np.isfinite(points).all(axis=1))
        few = len(self.vertices) <= _MOST_NAMES
        longest = (
            max((len(subject.name(v)) for v in self.vertices.tolist()), default=0) if few else 0
        )
        self.width = _NARROW if few and len(self.vertices) * longest < 100 else _WIDTH
        self.named = few if labels is None else labels
        self._foot = _MARGIN if isinstance(subject.colouring, Plain) else _FOOT
        self._fit(points)
        graph = subject.graph
        if arrows is None:
            arrows = graph.directed and graph.m <= _MOST_ARROWS and not graph.stats.symmetric
        self.strokes = strokes = Strokes(graph, self.points, arrows)
        courses = street_courses(graph, layout, strokes.arcs, strokes.pairs[:, 0])
        strokes.follow([None if line is None else self.to_pixels(line) for line in courses])
        self.line_width = float(np.clip(self.strokes.typical_length / 6, 1.2, 2.5))
        crowding = float(np.sqrt(self.width * self.height / max(1, len(self.vertices))))
        self.radius = min(self.strokes.typical_length / 5, crowding / 5, 7.0)
        roomy = few and self.strokes.typical_length > 26
        self.names_inside = self.named and roomy and longest <= 3
        if self.names_inside:
            self.radius = 14.0 if self.strokes.typical_length > 40 else 11.0

    # ---- from the plane to the canvas -------------------------------------------------------

    def _fit(self, points: NDArray[np.float64]) -> None:
        """Scale the layout to the canvas, flip y, and move coinciding vertices apart."""
        sources, targets, _ = self.subject.graph.coo
        shown = points[self.vertices]
        low = shown.min(axis=0) if len(shown) else np.zeros(2)
        span = (shown.max(axis=0) if len(shown) else np.zeros(2)) - low
        room = np.array([self.width - 2 * _SIDE, 0.75 * self.width])
        scale = float((room / np.where(span > 0, span, 1e-300)).min()) if span.any() else 1.0
        lengths = np.hypot(*(points[targets] - points[sources]).T)
        lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
        if len(lengths):
            scale = min(scale, _LONGEST / float(np.median(lengths)))
        size = span * scale
        inner = max(160.0, float(size[1]))
        corner = np.array([(self.width - size[0]) / 2, _HEAD + (inner + size[1]) / 2])
        self.height = round(inner + _HEAD + self._foot)
        self._low, self._scale, self._corner = low, scale, corner
        self.points = self.to_pixels(points)
        typical = scale * float(np.median(lengths)) if len(lengths) else 40.0
        gap = float(np.clip(typical / 2, 3, 34))
        self.points[self.vertices] = separate(self.points[self.vertices], gap, 0.5)

    def to_pixels(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        pixels: NDArray[np.float64] = (points - self._low) * self._scale * [1, -1] + self._corner
        return pixels

    # ---- shapes -----------------------------------------------------------------------------

    def picture(self, title: str | None) -> Picture:
        picture = Picture(self.width, self.height, title or self.subject.title, self.description())
        picture.shapes += [Box(0, 0, self.width, self.height, GROUND)]
        picture.shapes += self._graph()
        picture.shapes += self._names()
        picture.shapes += self._captions(picture.title)
        picture.shapes += self.subject.colouring.legend(
            _MARGIN, self.height - self._foot + 24, self.width - 2 * _MARGIN
        )
        return picture

    def _graph(self) -> Iterator[Shape]:
        """Yield lines, weights, path and vertices.

        Vertices are drawn over the path if they are wider than it, under it otherwise, and are left
        out if they are no wider than their lines.
        """
        strokes, heads = self.strokes, {}
        clear = self.radius + 1 if self.radius > self.line_width else 0.0
        size = float(np.clip(strokes.typical_length / 5, 6, 11))
        lines = list(strokes.lines)
        if strokes.each_arc:
            for i, line in enumerate(lines):
                lines[i], heads[i] = arrowhead(line, clear, size)
        for colour, chosen in self.subject.colouring.arcs(strokes.pairs):
            yield Lines([lines[i] for i in chosen], colour, self.line_width)
            if heads:
                yield Areas([heads[i] for i in chosen], colour)
        dots = [
            Dots(self.points[self.vertices[chosen]], colour, self.radius)
            for colour, chosen in self.subject.colouring.vertices(self.vertices)
            if self.radius > self.line_width
        ]
        route = [*self._others(), *self._route(lines, heads)]
        yield from route if self.radius > 4 else dots
        yield from self._weights()
        yield from dots if self.radius > 4 else route
        yield from self._marks()

    def _others(self) -> Iterator[Lines]:
        """Yield the longer paths, the longest first: shorter ones cover what they share."""
        for number, path in reversed(list(enumerate(self.subject.others))):
            line, _ = self.strokes.along(path, self.points)
            yield Lines([line], Groups.palette(number), 4)

    def _route(self, lines: list[Array], heads: dict[int, Array]) -> Iterator[Shape]:
        if len(self.subject.route) < 2:
            return
        line, used = self.strokes.along(self.subject.route, self.points)
        parts = [lines[i] for i in used] if heads else [line]
        yield Lines(parts, GROUND, 7.5)
        yield Lines(parts, ROUTE, 4)
        if heads:
            yield Areas([heads[i] for i in used], ROUTE)

    def _weights(self) -> Iterator[Text]:
        weights = self.subject.graph.weights
        if not self.named or weights is None or len(self.strokes.arcs) > _MOST_NAMES:
            return
        for arc, line in zip(self.strokes.arcs.tolist(), self.strokes.lines, strict=True):
            x, y = line[len(line) // 2] if len(line) > 2 else line.mean(axis=0)
            text = amount(weights[arc], "")
            yield Text(round(x, 1), round(y + 4, 1), text, 12, FADED, "middle", halo=GROUND)

    def _marks(self) -> Iterator[Shape]:
        """Yield the source and the target."""
        for vertex, colour in self._marked():
            if self.names_inside:
                yield Dots(self.points[[vertex]], colour, self.radius + 1, rim=GROUND)
            else:
                yield Dots(self.points[[vertex]], colour, 7, rim=GROUND)

    def _marked(self) -> list[tuple[int, str]]:
        marked = [(v, INK) for v in self.subject.marked]
        if self.subject.target is not None and self.subject.target not in self.subject.marked:
            marked.append((self.subject.target, ROUTE))
        return [(v, colour) for v, colour in marked if np.isfinite(self.points[v, 0])]

    def _names(self) -> Iterator[Text]:
        """Yield the names of the marked vertices, and of all if there is room."""
        marked = dict(self._marked())
        if self.names_inside:
            fills: dict[int, str] = {}
            for colour, chosen in self.subject.colouring.vertices(self.vertices):
                fills |= dict.fromkeys(self.vertices[chosen].tolist(), colour)
            for vertex, fill in (fills | marked).items():
                x, y = self.points[vertex].round(1).tolist()
                name = self.subject.name(vertex)
                yield Text(x, y + 4.5, name, 13, ink_on(fill), "middle", bold=True)
            return
        names: list[Name] = [
            (self.subject.name(v), self.points[v], 8, colour, 16) for v, colour in marked.items()
        ]
        if self.named:
            rest = (v for v in self.vertices.tolist() if v not in marked)
            names += [(self.subject.name(v), self.points[v], self.radius, INK, 13) for v in rest]
        tails, heads = self.points[self.strokes.pairs].transpose(1, 0, 2)
        on_lines = tails + np.linspace(0, 1, 9)[:, None, None] * (heads - tails)
        yield from place_names(names, on_lines.reshape(-1, 2), self.width, GROUND)

    # ---- texts ------------------------------------------------------------------------------

    def description(self) -> str:
        subject, n = self.subject, len(self.vertices)
        parts = [f"{n:,} {'vertex' if n == 1 else 'vertices'}"]
        if subject.reached is None:
            m = subject.graph.m if subject.graph.directed else subject.graph.m // 2
            parts[0] += f", {m:,} {'arc' if subject.graph.directed else 'edge'}{'s' * (m != 1)}"
        left_out = subject.graph.n - n
        if left_out:
            parts[0] += f" ({left_out:,} in other components are not drawn)"
        if subject.reached is not None:
            unreached = n - int(np.count_nonzero(subject.reached[self.vertices]))
            if unreached:
                are = "is" if unreached == 1 else "are"
                parts.append(f"{unreached:,} {are} {subject.grey} (grey)")
        return "; ".join([*parts, *subject.notes])

    def _captions(self, title: str) -> Iterator[Text]:
        for text, y, size, colour in ((title, 44, 24, INK), (self.description(), 70, 15, FADED)):
            fitting = size * min(1.0, (self.width - 2 * _MARGIN) / text_width(text, size))
            yield Text(_MARGIN, y, text, round(fitting, 1), colour, bold=colour == INK)


# ---- The lines of a drawing ---------------------------------------------------------------------
# One per arc with arrows, or one for both directions of an edge.
#
# A line is straight, or follows the street if the graph knows its course. Where arrows are drawn,
# two arcs between the same vertices bend away from each other.

_BEND = 0.14  # how far two opposite arcs bend, as a share of their length
_STEPS = np.linspace(0, 1, 11)[:, None]  # along a bent arc


class Strokes:
    """Lines in pixels, with the arc that each of them stands for."""

    def __init__(self, graph: Graph, points: NDArray[np.float64], each_arc: bool) -> None:
        sources, targets, _ = graph.coo
        drawn = np.isfinite(points[sources, 0]) & np.isfinite(points[targets, 0])
        drawn &= sources != targets
        arcs = np.flatnonzero(drawn)
        pairs = np.stack([sources[arcs], targets[arcs]], axis=1).astype(np.int64)
        if not each_arc:
            pairs, first = np.unique(np.sort(pairs), axis=0, return_index=True)
            arcs = arcs[first]
        self.arcs, self.pairs, self.each_arc = arcs, pairs, each_arc
        self.lines: list[Array] = list(points[pairs])
        lengths = np.hypot(*(points[pairs[:, 1]] - points[pairs[:, 0]]).T)
        self.typical_length = float(np.median(lengths)) if len(pairs) else 40.0
        if each_arc:
            self._bend(graph.n)

    def follow(self, courses: Sequence[Array | None]) -> None:
        """Take the course of each line, where it is known."""
        self.lines = [
            line if course is None else course
            for line, course in zip(self.lines, courses, strict=True)
        ]

    def _bend(self, n: int) -> None:
        tails, heads = self.pairs.T
        for i in np.flatnonzero(np.isin(tails * n + heads, heads * n + tails)).tolist():
            start, end = self.lines[i]
            across = (end - start)[::-1] * [1, -1]
            middle = (start + end) / 2 + 2 * _BEND * across
            self.lines[i] = (
                (1 - _STEPS) ** 2 * start + 2 * _STEPS * (1 - _STEPS) * middle + _STEPS**2 * end
            )

    def along(self, route: Sequence[int], points: Array) -> tuple[Array, list[int]]:
        """Return a path as one line, and the strokes on it."""
        number = {(u, v): i for i, (u, v) in enumerate(self.pairs.tolist())}
        parts, used = [points[route[:1]]], []
        for u, v in pairwise(route):
            i = number.get((u, v), number.get((v, u)))
            if i is None:
                parts.append(points[[v]])
                continue
            used.append(i)
            line = self.lines[i]
            backwards = np.hypot(*(line[-1] - points[u])) < np.hypot(*(line[0] - points[u]))
            parts.append((line[::-1] if backwards else line)[1:])
        return np.concatenate(parts), used


def arrowhead(line: Array, clear: float, size: float) -> tuple[Array, Array]:
    """Return a line shortened by an arrowhead, and the head: its tip is ``clear`` from the end."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    to_end = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])

    def at(distance: float) -> Array:
        distance = min(distance, 0.9 * to_end[0])
        return np.array([np.interp(-distance, -to_end, line[:, c]) for c in (0, 1)])

    tip, back = at(clear), at(clear + size)
    length = np.hypot(*(tip - back)) or 1.0
    ahead = (tip - back) / length
    side = ahead[::-1] * [1, -1] * size * 0.42
    kept = line[to_end > clear + 0.8 * size]
    shortened = np.vstack([kept if len(kept) else line[:1], at(clear + 0.8 * size)])
    return shortened, np.array([tip, tip - ahead * size + side, tip - ahead * size - side])


# ---- where the names of vertices go: each to the side where it covers least ----------------------


Name = tuple[str, NDArray[np.float64], float, str, float]  # text, place, radius, colour, size

#: Directions from the vertex in the order they are tried, and the anchor of the text there.
_SIDES = (
    (1, 0, "start"), (-1, 0, "end"), (0, -1, "middle"), (0, 1, "middle"),
    (0.7, -0.7, "start"), (-0.7, -0.7, "end"), (0.7, 0.7, "start"), (-0.7, 0.7, "end"),
)  # fmt: skip


def place_names(
    names: Sequence[Name], points: NDArray[np.float64], width: float, halo: str
) -> Iterator[Text]:
    """Yield the names, each clear of these points and of the names before it if it can be."""
    taken = np.empty((0, 4))
    for text, (x, y), radius, colour, size in names:
        wide, away = text_width(text, size), radius + 5
        best, least = None, np.inf
        for order, (right, down, anchor) in enumerate(_SIDES):
            at = x + right * away
            left = at - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            base = y + down * (away + 0.3 * size) + 0.35 * size
            box = np.array([left, base - 0.8 * size, left + wide, base + 0.2 * size])
            outside = max(0.0, -left) + max(0.0, left + wide - width)
            cost = 9 * _overlaps(box, taken) + _covered(box, points) + outside + 0.1 * order
            if cost < least:
                best, least = (at, base, anchor, box), cost
        assert best is not None
        at, base, anchor, box = best
        taken = np.vstack([taken, box])
        yield Text(round(at, 1), round(base, 1), text, size, colour, anchor, bold=True, halo=halo)


def _overlaps(box: NDArray[np.float64], others: NDArray[np.float64]) -> int:
    left, top, right, bottom = others.T
    apart = (left > box[2]) | (right < box[0]) | (top > box[3]) | (bottom < box[1])
    return int(np.count_nonzero(~apart))


def _covered(box: NDArray[np.float64], points: NDArray[np.float64]) -> int:
    x, y = points.T
    return int(np.count_nonzero((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])))
