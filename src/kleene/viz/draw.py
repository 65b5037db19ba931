"""Drawings of graphs, distances and paths.

Without positions the vertices are laid out by the distances between them (``kleene.viz.layout``),
so a road network resembles its street map. The two directions of an edge are drawn as one line.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.positions import as_positions
from kleene.measures.edge_table import EdgeTable
from kleene.measures.loads import Loads
from kleene.measures.measure import Measure
from kleene.results.components import Components
from kleene.results.isochrones import Isochrones, IsochronesEach
from kleene.results.k_shortest import KShortest
from kleene.results.nearest import Nearest
from kleene.results.reach import Reach
from kleene.results.result import Result
from kleene.results.route import Route
from kleene.viz.difference import difference
from kleene.viz.layout import Layout, component, map_layout, place
from kleene.viz.picture import Picture
from kleene.viz.scene import Scene
from kleene.viz.subject import Options, Subject, show_route, subject_of

__all__ = ["draw"]

Drawable = (
    Graph | Result | Route | KShortest | Nearest | Reach | Isochrones | IsochronesEach | Components
    | Measure | EdgeTable | Loads
)  # fmt: skip

#: More are illegible, and make files of megabytes.
_MOST_VERTICES, _MOST_ARCS = 100_000, 200_000


@overload
def draw(
    what: Drawable,
    path: None = None,
    target: Hashable | None = None,
    positions: ArrayLike | None = None,
    row: int = 0,
    *,
    minus: Drawable | None = None,
    route: Route | Sequence[Hashable] | None = None,
    labels: bool | None = None,
    arrows: bool | None = None,
    title: str | None = None,
    unit: str | None = None,
) -> Picture: ...
@overload
def draw(what: Drawable, path: str | Path, *args: Any, **options: Any) -> Path: ...
def draw(
    what: Drawable,
    path: str | Path | None = None,
    target: Hashable | None = None,
    positions: ArrayLike | None = None,
    row: int = 0,
    *,
    minus: Drawable | None = None,
    route: Route | Sequence[Hashable] | None = None,
    labels: bool | None = None,
    arrows: bool | None = None,
    title: str | None = None,
    unit: str | None = None,
) -> Picture | Path:
    """Draw a graph, with the numbers, areas or paths of an answer on it.

    Parameters
    ----------
    what : Graph, Result, Route, KShortest, Nearest, Reach, Isochrones, Components, Measure or Loads
        What to draw: a graph; the distances of ``bfs``, ``sssp``, ``apsp`` or ``within``; a route
        (``result.route(target)``) or the paths of ``k_shortest``; the areas of ``isochrones``, the
        regions of the facilities of ``nearest``; the ``components``; a measure of vertices, such as
        ``closeness``, by colour and size; that of edges, ``betweenness(..., edges=True).edges``,
        and the traffic of ``loads`` by the width of the streets, each direction on its right.
    path : str or Path, optional
        The file to write. ``.svg`` needs no other package; other formats (``.png``, ``.pdf``) need
        matplotlib, the extra ``kleene[plot]``. Without it, the picture is returned; a notebook
        shows it.
    target : vertex, optional
        A vertex of a result; the path to it from the source is highlighted.
    positions : array of shape (n, 2), optional
        Positions of the vertices in the plane, y upwards. By default those of the graph,
        ``graph.positions``, if it has any: longitudes and latitudes are drawn in proportion, and
        streets along their course. Otherwise positions are computed from the distances between
        the vertices; of a result, only the connected component of the source is drawn then.
    row : int
        Index of the source, for a result with several.
    minus : Result, Reach, Nearest, Measure or Loads, optional
        Another answer of the same kind, about the same vertices: what is drawn is the difference,
        in colours that diverge from zero. Vertices that one of the two has are rings (only the
        first) and discs (only the second). Streets of the two graphs may differ.
    route : Route or sequence of vertices, optional
        A path to highlight, such as ``result.path(target)``.
    labels : bool, optional
        Whether to write the name at every vertex, and the weight, or traffic, at every arc where
        there is room. By default at graphs of up to 60 vertices, or arcs. Source and target are
        always named.
    arrows : bool, optional
        Whether to draw the directions of arcs. By default on directed graphs of up to 400 arcs.
    title : str, optional
        A title; by default the graph's name and the source.
    unit : str, optional
        The unit of the numbers, such as ``"m"``; ``"hops"`` by default where arcs are counted.

    Returns
    -------
    Picture or Path
        The picture, which shows itself in notebooks and has a method ``save``; with ``path``, the
        file that was written.

    Examples
    --------
    >>> import kleene as kl, tempfile
    >>> g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False)
    >>> kl.draw(g)
    Picture('Graph', 4 vertices, 4 edges, 640 x ... pixels)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kl.draw(kl.bfs(g, 0), f"{folder}/square.svg", target=2).name
    'square.svg'

    How distances change where a street closes:

    >>> closed = g.update({(0, 1): float("inf")})
    >>> kl.draw(kl.bfs(closed, 0), minus=kl.bfs(g, 0)).description
    '4 vertices; 1 more, up to +2 hops; 3 the same'
    """
    for name, value in (("title", title), ("unit", unit)):
        if value is not None and not isinstance(value, str):
            raise RequestError(Code(name), f" must be a text, not {value!r}")
    for name, flag in (("labels", labels), ("arrows", arrows)):
        if flag is not None and not isinstance(flag, (bool, np.bool_)):
            raise RequestError(Code(name), f" must be True or False, not {flag!r}")
    if path is not None and not isinstance(path, (str, PathLike)):
        raise RequestError(f"path must be the name of a file, not {path!r}")
    options = Options(target, row, unit)
    options.check_target()
    subject = subject_of(what, options) if minus is None else difference(what, minus, options)
    show_route(subject, route, options)
    graph = subject.graph
    if graph.m > _MOST_ARCS or graph.n > _MOST_VERTICES:
        raise RequestError(
            f"the graph has {graph.n:,} vertices and {graph.m:,} arcs, too many to draw (the "
            f"limits are {_MOST_VERTICES:,} and {_MOST_ARCS:,})",
            advice=[Text("draw a part of it: ", Code("graph.subgraph(vertices)"))],
        )
    layout = _layout(subject, positions)
    picture = Scene(subject, layout, labels, arrows).picture(title)
    return picture if path is None else picture.save(path)


def _layout(subject: Subject, positions: ArrayLike | None) -> Layout:
    graph = subject.graph
    if positions is not None:
        return Layout(as_positions(graph, positions))
    if graph.positions is not None:
        return map_layout(graph)
    if subject.start is None:
        return Layout(place(graph))
    vertices = component(graph, subject.start)
    points = np.full((graph.n, 2), np.nan)
    whole = len(vertices) == graph.n
    points[vertices] = place(graph if whole else graph.unlabelled().subgraph(vertices))
    return Layout(points)
