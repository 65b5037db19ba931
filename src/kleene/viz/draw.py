"""A drawing of a graph, coloured by distance from a source, with the path to a target.

Without positions the vertices are laid out by the distances between them (``kleene.viz.layout``),
so a road network resembles its street map. The two directions of an edge are drawn as one line. The
colour map is viridis, perceptually uniform and safe for colour-blind readers, without the yellow
end that vanishes on a light background; the path is vermilion, which is not in the colour map.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.errors import GraphError, RequestError
from kleene.graph import Graph
from kleene.results.result import Result
from kleene.viz.layout import component, pivot_mds
from kleene.viz.picture import Box, Dots, Lines, Picture, Text

__all__ = ["draw"]

Array = NDArray[Any]

_MOST_ARCS = 200_000  # more arcs are illegible, and make files of megabytes
_WIDTH, _MARGIN, _SIDE, _HEAD, _FOOT = 960, 48, 80, 108, 76  # pixels; _SIDE has room for names
_GROUND, _INK, _FADED, _GREY, _ROUTE = "#fbfaf7", "#22262b", "#6b7178", "#cfcfca", "#d1380f"
_SCALE = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#9bd93c")
_BUCKETS = 32


def draw(
    result: Result,
    path: str | Path,
    target: Hashable | None = None,
    positions: ArrayLike | None = None,
    row: int = 0,
    *,
    title: str | None = None,
    unit: str | None = None,
) -> Path:
    """Draw the graph of a result, coloured by distance from its source.

    Parameters
    ----------
    result : Result
        From ``bfs``, ``sssp`` or ``apsp``.
    path : str or Path
        The file to write. ``.svg`` needs no other package; other formats (``.png``, ``.pdf``) need
        matplotlib, the extra ``kleene[plot]``.
    target : vertex, optional
        A vertex, by id or label; the path to it from the source is highlighted.
    positions : array of shape (n, 2), optional
        Positions of the vertices, y upwards. By default they are computed from the distances, and
        only the connected component of the source is drawn.
    row : int
        Index of the source, for a result with several.
    title : str, optional
        A title; by default the graph's name and the source.
    unit : str, optional
        The unit of the distances, such as ``"m"``; ``"hops"`` by default where arcs are counted.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import kleene as kl, tempfile
    >>> g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kl.draw(kl.bfs(g, 0), f"{folder}/square.svg", target=2).name
    'square.svg'
    """
    view = _view(result, target, positions, row, unit)
    height = view.fit()
    picture = Picture(_WIDTH, height, title or view.headline(), view.description())
    picture.shapes += [Box(0, 0, _WIDTH, height, _GROUND)]
    picture.shapes += view.graph_and_path()
    picture.shapes += view.endpoints()
    picture.shapes += view.captions(picture.title)
    picture.shapes += view.colour_bar(height - _FOOT + 24)
    picture.write(path)
    return Path(path)


def _view(
    result: Result, target: Hashable | None, positions: ArrayLike | None, row: int, unit: str | None
) -> _View:
    """Check the arguments and collect what is drawn."""
    graph = result.graph
    if graph.m > _MOST_ARCS:
        raise RequestError(
            f"the graph has {graph.m:,} arcs, too many to draw (the limit is {_MOST_ARCS:,}); "
            "draw a subgraph: graph.subgraph(vertices)"
        )
    if result.plan.semiring != "min_plus" or result.targets is not None:
        raise RequestError(
            "draw needs distances to all vertices: bfs, sssp or apsp without targets"
        )
    if not 0 <= row < len(result.sources):
        raise RequestError(f"row must be from 0 to {len(result.sources) - 1}, but is {row}")
    source = int(result._sources[row])
    route: list[int] = []
    end = None
    if target is not None:
        end = graph.index(target)
        route = graph.index(result.path(graph.label(source), target)).tolist()
    if positions is None:
        vertices = component(graph, source)
        part = graph if len(vertices) == graph.n else graph.subgraph(vertices)
        points = np.full((graph.n, 2), np.nan)
        points[vertices] = pivot_mds(part)
    else:
        vertices = np.arange(graph.n)
        points = np.array(positions, dtype=float)
        if points.shape != (graph.n, 2) or not np.isfinite(points).all():
            raise GraphError(
                f"positions must be finite and have shape ({graph.n}, 2), not {points.shape}"
            )
    distances = np.atleast_2d(result.to_numpy())[row]
    reached = np.atleast_2d(result.reached)[row]
    if unit is None:
        unit = "hops" if result.problem == "bfs" or graph.weights is None else ""
    return _View(graph, source, end, route, vertices, points, distances, reached, unit)


@dataclass
class _View:
    """What is drawn; :meth:`fit` scales ``positions`` to pixels."""

    graph: Graph
    source: int
    target: int | None
    route: list[int]
    vertices: Array
    positions: NDArray[np.float64]
    distances: Array
    reached: Array
    unit: str

    def fit(self) -> int:
        """Scale the positions to the canvas, flip y, and return the canvas's height."""
        low = self.positions[self.vertices].min(axis=0)
        span = self.positions[self.vertices].max(axis=0) - low
        room = np.array([_WIDTH - 2 * _SIDE, 0.75 * _WIDTH])
        scale = float((room / np.where(span > 0, span, 1e-300)).min()) if span.any() else 1.0
        size = span * scale
        height = max(240.0, float(size[1]))
        corner = [(_WIDTH - size[0]) / 2, _HEAD + (height - size[1]) / 2]
        self.positions = (self.positions - low) * scale * [1, -1] + [0, size[1]] + corner
        return round(height + _HEAD + _FOOT)

    # ---- the graph -------------------------------------------------------------------------

    def shade(self) -> NDArray[np.float64]:
        """Return 0 (at the source) to 1 (farthest) for each vertex; NaN where there is no path."""
        shade = np.full(self.graph.n, np.nan)
        shade[self.reached] = self.distances[self.reached]
        low, high = np.nanmin(shade), np.nanmax(shade)
        scaled: NDArray[np.float64] = (shade - low) / (high - low if high > low else 1.0)
        return scaled

    def graph_and_path(self) -> Iterator[Lines | Dots]:
        """Yield lines by colour, grey first, then vertices and the path.

        Vertices are drawn over the path if they are wider than it, under it otherwise, and are left
        out if they are no wider than their lines.
        """
        sources, targets, _ = self.graph.coo
        drawn = np.unique(np.sort(np.stack([sources, targets], axis=1)), axis=0)
        drawn = drawn[np.isfinite(self.positions[drawn[:, 0], 0])]
        shade = self.shade()
        strokes = self.positions[drawn]
        typical = np.median(np.hypot(*(strokes[:, 1] - strokes[:, 0]).T)) if len(drawn) else 40.0
        width = float(np.clip(typical / 6, 1.2, 2.5))
        for colour, lines in _by_colour(shade[drawn].mean(axis=1)):
            yield Lines(list(strokes[lines]), colour, width)
        radius = float(min(typical / 5, 7))
        dots = [
            Dots(self.positions[self.vertices[chosen]], colour, radius)
            for colour, chosen in _by_colour(shade[self.vertices])
            if radius > width
        ]
        stroke = [self.positions[self.route]] if len(self.route) > 1 else []
        route = [Lines(stroke, _GROUND, 7.5), Lines(stroke, _ROUTE, 4)] if stroke else []
        yield from route if radius > 4 else dots
        yield from dots if radius > 4 else route

    def endpoints(self) -> Iterator[Dots | Text]:
        """Yield the source and the target, with their names on the outer side."""
        marked = [(self.source, _INK)]
        if self.target is not None and np.isfinite(self.positions[self.target]).all():
            marked.append((self.target, _ROUTE))
        for vertex, colour in marked:
            x, y = self.positions[vertex].tolist()
            yield Dots(self.positions[[vertex]], colour, 7, rim=_GROUND)
            name = self.name(vertex)
            if min(x, _WIDTH - x) < 13 + _text_width(name, 16):  # too long: put it above
                place = (x - 8, y - 14, "start") if x < _WIDTH / 2 else (x + 8, y - 14, "end")
            else:
                place = (x - 13, y + 5, "end") if x < _WIDTH / 2 else (x + 13, y + 5, "start")
            across, up, anchor = place
            yield Text(across, up, name, 16, colour, anchor, bold=True, halo=_GROUND)

    # ---- texts -----------------------------------------------------------------------------

    def name(self, vertex: int) -> str:
        labels = self.graph.labels
        return str(vertex if labels is None else labels[vertex])

    def amount(self, distance: Any) -> str:
        """Return a distance with its unit."""
        number = f"{distance:,}" if np.issubdtype(type(distance), np.integer) else f"{distance:,g}"
        return f"{number} {self.unit}".rstrip()

    def headline(self) -> str:
        what = "Hops" if self.unit == "hops" else "Distances"
        whose = f"{self.graph.name}: " if self.graph.name else ""
        return f"{whose}{what.lower() if whose else what} from {self.name(self.source)}"

    def description(self) -> str:
        parts = [f"{len(self.vertices):,} vertices"]
        left_out = self.graph.n - len(self.vertices)
        if left_out:
            parts[0] += f" ({left_out:,} in other components are not drawn)"
        unreached = len(self.vertices) - np.count_nonzero(self.reached[self.vertices])
        if unreached:
            parts.append(f"{unreached:,} are unreachable (grey)")
        if self.route:
            steps = len(self.route) - 1
            arcs = f"{steps:,} arc{'s' * (steps != 1)}"
            length = self.amount(self.distances[self.route[-1]])
            along = "" if self.unit == "hops" else f" along {arcs}"
            parts.append(f"path to {self.name(self.route[-1])}: {length}{along}")
        elif self.target is not None:
            parts.append(f"no path to {self.name(self.target)}")
        return "; ".join(parts)

    def captions(self, title: str) -> Iterator[Text]:
        for text, y, size, colour in ((title, 44, 24, _INK), (self.description(), 70, 15, _FADED)):
            fitting = size * min(1.0, (_WIDTH - 2 * _MARGIN) / _text_width(text, size))
            yield Text(_MARGIN, y, text, round(fitting, 1), colour, bold=colour == _INK)

    def colour_bar(self, y: float) -> Iterator[Box | Text]:
        """Yield the colour bar, from the smallest to the largest distance."""
        width, height = 280.0, 10.0
        step = width / _BUCKETS
        for bucket in range(_BUCKETS):  # each overlaps the one before, so there are no seams
            yield Box(_MARGIN + bucket * step, y, width - bucket * step, height, _colour(bucket))
        distances = self.distances[self.reached]
        below = y + height + 18
        yield Text(_MARGIN, below, self.amount(distances.min()), 13, _FADED)
        yield Text(_MARGIN + width, below, self.amount(distances.max()), 13, _FADED, "end")


def _text_width(text: str, size: float) -> float:
    """Return an estimate of the width of bold text, in pixels."""
    return 0.62 * size * max(1, len(text))


# ---- colours ------------------------------------------------------------------------------------


def _colour(bucket: int) -> str:
    """Return a colour of the colour map, interpolated between its anchors."""
    anchors = np.array([[int(a[i : i + 2], 16) for i in (1, 3, 5)] for a in _SCALE])
    at = bucket / (_BUCKETS - 1) * (len(anchors) - 1)
    mixed = [round(np.interp(at, range(len(anchors)), anchors[:, c])) for c in range(3)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _by_colour(shades: Array) -> Iterator[tuple[str, Array]]:
    """Yield each colour with its indices: grey for NaN first, then far before near."""
    bucket = np.full(len(shades), -1)
    known = ~np.isnan(shades)
    bucket[known] = np.minimum((shades[known] * _BUCKETS).astype(int), _BUCKETS - 1)
    for number in (-1, *range(_BUCKETS - 1, -1, -1)):
        chosen = np.flatnonzero(bucket == number)
        if len(chosen):
            yield _GREY if number < 0 else _colour(number), chosen
