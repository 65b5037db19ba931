"""Puts a subject on a canvas: scales the layout, draws lines, arrows, vertices, path and names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.system.cached_property import cached_property
from kleene.system.colours import FADED, GROUND, INK, ROUTE, group_colour, ink_on
from kleene.viz.colouring import amount
from kleene.viz.flow import Band, Flow, beside
from kleene.viz.layout import Layout, separate, street_courses
from kleene.viz.legend import crosses, height
from kleene.viz.names import Name, place_names, place_numbers, text_boxes
from kleene.viz.picture import Picture
from kleene.viz.shapes import Areas, Box, Dots, Lines, Region, Shape, Text, text_width
from kleene.viz.subject import Subject

__all__ = [
    "Scene",
    "Strokes",
    "arrowhead",
]

Array = NDArray[Any]

_WIDTH, _NARROW = 960, 640  # pixels; small graphs need less
_MARGIN, _SIDE, _HEAD = 48, 80, 108  # _SIDE has room for names
_LINE = 21  # from line to line of the description
_ABOVE, _BELOW = 40, 24  # the legend
_LONGEST = 190.0  # pixels of a typical arc: a graph of three vertices does not fill the canvas
_MOST_NAMES = 60  # vertices, or arcs with weights, that are named unless asked
_MOST_ARROWS = 400
_HEAD_SIZE, _SPREAD = 5, 0.62  # of the arrowhead of a band: how much longer it is than wide


class Scene:
    """A subject with its layout in pixels."""

    def __init__(
        self,
        subject: Subject,
        layout: Layout,
        labels: bool | None,
        arrows: bool | None,
    ) -> None:
        self.subject, self.layout, points = subject, layout, layout.points
        self.vertices = np.flatnonzero(np.isfinite(points).all(axis=1))
        few = len(self.vertices) <= _MOST_NAMES
        longest = (
            max((len(subject.name(v)) for v in self.vertices.tolist()), default=0) if few else 0
        )
        self.width = _NARROW if few and len(self.vertices) * longest < 100 else _WIDTH
        self.named = few if labels is None else labels
        self._head = _HEAD + _LINE * (len(self._description_lines()) - 1)
        legend = height(self._legend(0))
        self._foot = _ABOVE + legend + _BELOW if legend else _MARGIN
        self._fit(points)
        graph = subject.graph
        if arrows is None:
            arrows = graph.directed and graph.m <= _MOST_ARROWS and not graph.stats.symmetric
        flow = isinstance(subject.colouring, Flow)
        self.arrows, self.strokes = (
            arrows,
            self._follow(Strokes(graph, self.points, arrows and not flow)),
        )
        self.line_width = float(np.clip(self.strokes.typical_length / 6, 1.2, 2.5))
        crowding = float(np.sqrt(self.width * self.height / max(1, len(self.vertices))))
        self.radius = min(self.strokes.typical_length / 5, crowding / 5, 7.0)
        roomy = few and self.strokes.typical_length > 26
        self.names_inside = self.named and roomy and longest <= 3
        if isinstance(subject.colouring, Flow):
            self.line_width, self.radius = min(self.line_width, 1.4), 7.0 if few else 0.0
        if subject.sizes is not None:
            self.names_inside, self.radius = False, float(np.clip(0.3 * crowding, 3, 15))
        if self.names_inside:
            self.radius = 14.0 if self.strokes.typical_length > 40 else 11.0

    def _follow(self, strokes: Strokes) -> Strokes:
        """Let strokes take the course of their streets, where it is known."""
        courses = street_courses(strokes.graph, self.layout, strokes.arcs, strokes.pairs[:, 0])
        strokes.follow([None if line is None else self.to_pixels(line) for line in courses])
        return strokes

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
        corner = np.array([(self.width - size[0]) / 2, self._head + (inner + size[1]) / 2])
        self.height = round(inner + self._head + self._foot)
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
        picture.shapes += self._zones()
        names = list(self._names())
        picture.shapes += self._graph(names)
        picture.shapes += names
        picture.shapes += self._captions(picture.title)
        picture.shapes += self._legend(self.height - self._foot + _ABOVE)
        return picture

    def _legend(self, y: float) -> Iterator[Shape]:
        return self.subject.colouring.legend(_MARGIN, y, self.width - 2 * _MARGIN)

    def _zones(self) -> Iterator[Region]:
        """Yield areas, in the positions of the graph: none where vertices are placed otherwise."""
        if self.layout.scale is None:
            return
        for polygons, colour in self.subject.zones:
            rings = [self.to_pixels(r * self.layout.scale) for rings in polygons for r in rings]
            if rings:
                yield Region(rings, colour, 0.2, 1.5)

    def _graph(self, names: Sequence[Text]) -> Iterator[Shape]:
        """Yield lines, bands, numbers, path and vertices.

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
        yield from self._band_shapes(clear)
        dots = list(self._dots())
        route = [*self._others(), *self._route(lines, heads)]
        yield from route if self.radius > 4 else dots
        yield from place_numbers(self._numbers(), self._taken(names), FADED, GROUND)
        yield from dots if self.radius > 4 else route
        yield from self._only()
        yield from self._marks()

    def _dots(self) -> Iterator[Dots]:
        """Yield vertices, by colour; those that have sizes, by colour and size."""
        sizes = self.subject.sizes
        for colour, chosen in self.subject.colouring.vertices(self.vertices):
            vertices = self.vertices[chosen]
            if sizes is None:
                if self.radius > self.line_width:
                    yield Dots(self.points[vertices], colour, self.radius)
                continue
            steps = np.rint(np.sqrt(np.nan_to_num(sizes[vertices])) * 16)
            for step in np.unique(steps).tolist():
                radius = round(self.radius * (0.3 + 0.7 * step / 16), 2)
                yield Dots(self.points[vertices[steps == step]], colour, radius)

    def _only(self) -> Iterator[Shape]:
        """Yield the vertices that one of two answers has: rings, and crosses."""
        if self.subject.only is not None:
            size = max(4.0, 0.7 * self.radius)
            first, second = (
                points[np.isfinite(points[:, 0])]
                for points in (self.points[vertices] for vertices in self.subject.only)
            )
            if len(first):
                yield Dots(first, GROUND, size, INK)
            if len(second):
                yield crosses(second, size)

    # ---- bands ------------------------------------------------------------------------------

    @cached_property
    def _bands(self) -> list[Band]:
        """The bands of a flow."""
        flow = self.subject.colouring
        if not isinstance(flow, Flow):
            return []
        pairs, lines, numbers = [np.empty((0, 2), np.int64)], [], [np.empty(0)]
        for graph, of_arcs in flow.parts:
            strokes = self._follow(Strokes(graph, self.points, True, bend=False))
            found = of_arcs[strokes.arcs]
            kept = np.flatnonzero(np.isfinite(found) & (found != 0))
            pairs.append(strokes.pairs[kept])
            numbers.append(found[kept])
            lines += [strokes.lines[i] for i in kept.tolist()]
        return flow.bands(np.concatenate(pairs), lines, np.concatenate(numbers), self._widest)

    @property
    def _widest(self) -> float:
        """The width of the widest band: two of them leave room between streets."""
        return float(np.clip(self.strokes.typical_length / 3, 7, 14))

    def _band_shapes(self, clear: float) -> Iterator[Shape]:
        """Yield bands, those of one colour and width together; with arrowheads where asked."""
        for (colour, width), some in groupby(self._bands, key=attrgetter("colour", "width")):
            lines = [band.line for band in some]
            if self.arrows:
                ends = [arrowhead(line, clear, _HEAD_SIZE + width, _SPREAD) for line in lines]
                lines = [line for line, _ in ends]
                yield Areas([head for _, head in ends], colour)
            yield Lines(lines, colour, width)

    def _numbers(self) -> Iterator[tuple[str, Array]]:
        """Yield the number of each arc with its line: those of the bands, or the weights."""
        if not self.named or len(self._bands) > _MOST_NAMES:
            return
        flow = self.subject.colouring
        if isinstance(flow, Flow):
            for line, _, width, number in self._bands[::-1]:
                text, way = flow.text(number), np.abs(line[-1] - line[0])
                half = np.array([6, text_width(text, 12) / 2]) @ way / (np.hypot(*way) or 1.0)
                yield text, beside(line, width / 2 + 3 + half)
            return
        weights = self.subject.graph.weights
        if weights is None or len(self.strokes.arcs) > _MOST_NAMES:
            return
        for arc, line in zip(self.strokes.arcs.tolist(), self.strokes.lines, strict=True):
            yield amount(weights[arc], ""), line

    def _taken(self, names: Sequence[Text]) -> Array:
        """Return the boxes of names, and of vertices that have their names inside."""
        boxes = text_boxes(names)
        if not self.named:
            return boxes
        points = self.points[self.vertices]
        return np.vstack([boxes, np.hstack([points - self.radius, points + self.radius])])

    def _others(self) -> Iterator[Lines]:
        """Yield the longer paths, the longest first: shorter ones cover what they share."""
        for number, path in reversed(list(enumerate(self.subject.others))):
            line, _ = self.strokes.along(path, self.points)
            yield Lines([line], group_colour(number), 4)

    def _route(self, lines: list[Array], heads: dict[int, Array]) -> Iterator[Shape]:
        if len(self.subject.route) < 2:
            return
        line, used = self.strokes.along(self.subject.route, self.points)
        parts = [lines[i] for i in used] if heads else [line]
        yield Lines(parts, GROUND, 7.5)
        yield Lines(parts, ROUTE, 4)
        if heads:
            yield Areas([heads[i] for i in used], ROUTE)

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
        points = [on_lines.reshape(-1, 2)]
        for line, _, width, _ in self._bands if self.named else ():
            half = _SPREAD * (_HEAD_SIZE + width) if self.arrows else width / 2
            points += [_between(beside(line, side * half)) for side in (-1, 1)]
        yield from place_names(names, np.concatenate(points), self.width, GROUND)

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

    def _description_lines(self) -> list[str]:
        """Return the description in one line or two."""
        first, *parts = self.description().split("; ")
        while parts and text_width(f"{first}; {parts[0]}", 15) <= self.width - 2 * _MARGIN:
            first += f"; {parts.pop(0)}"
        return [f"{first};", "; ".join(parts)] if parts else [first]

    def _captions(self, title: str) -> Iterator[Text]:
        """Yield title and description, smaller where they would not fit."""
        lines = [(title, 44, 24.0, INK)]
        for i, text in enumerate(self._description_lines()):
            lines.append((text, 70 + _LINE * i, 15.0, FADED))
        for text, y, size, colour in lines:
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

    def __init__(
        self, graph: Graph, points: NDArray[np.float64], each_arc: bool, bend: bool = True
    ) -> None:
        sources, targets, _ = graph.coo
        drawn = np.isfinite(points[sources, 0]) & np.isfinite(points[targets, 0])
        drawn &= sources != targets
        arcs = np.flatnonzero(drawn)
        pairs = np.stack([sources[arcs], targets[arcs]], axis=1).astype(np.int64)
        if not each_arc:
            pairs, first = np.unique(np.sort(pairs), axis=0, return_index=True)
            arcs = arcs[first]
        self.graph, self.arcs, self.pairs, self.each_arc = graph, arcs, pairs, each_arc
        self.lines: list[Array] = list(points[pairs])
        lengths = np.hypot(*(points[pairs[:, 1]] - points[pairs[:, 0]]).T)
        self.typical_length = float(np.median(lengths)) if len(pairs) else 40.0
        if each_arc and bend:
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


def _between(line: Array) -> Array:
    """Return the points of a line, and some between them."""
    steps = np.linspace(0, 1, 9)[:, None, None]
    points: Array = (line[:-1] + steps * np.diff(line, axis=0)).reshape(-1, 2)
    return points


def arrowhead(line: Array, clear: float, size: float, spread: float = 0.42) -> tuple[Array, Array]:
    """Return a line shortened by an arrowhead, and the head: its tip is ``clear`` from the end."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    to_end = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])

    def at(distance: float) -> Array:
        distance = min(distance, 0.9 * to_end[0])
        return np.array([np.interp(-distance, -to_end, line[:, c]) for c in (0, 1)])

    tip, back = at(clear), at(clear + size)
    length = np.hypot(*(tip - back)) or 1.0
    ahead = (tip - back) / length
    side = ahead[::-1] * [1, -1] * size * spread
    kept = line[to_end > clear + 0.8 * size]
    shortened = np.vstack([kept if len(kept) else line[:1], at(clear + 0.8 * size)])
    return shortened, np.array([tip, tip - ahead * size + side, tip - ahead * size - side])
