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
from kleene.results.components import Components
from kleene.results.isochrones import Isochrones
from kleene.results.k_shortest import KShortest
from kleene.results.nearest import Nearest
from kleene.results.reach import Reach
from kleene.results.result import Result
from kleene.results.route import Route
from kleene.viz.layout import Layout, component, map_layout, place
from kleene.viz.picture import Picture
from kleene.viz.scene import Scene
from kleene.viz.subject import Options, Subject, as_subject

__all__ = ["draw"]

Drawable = Graph | Result | Route | KShortest | Nearest | Reach | Isochrones | Components

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
    route: Route | Sequence[Hashable] | None = None,
    labels: bool | None = None,
    arrows: bool | None = None,
    title: str | None = None,
    unit: str | None = None,
) -> Picture | Path:
    """Draw a graph, its vertices coloured by a result.

    Parameters
    ----------
    what : Graph, Result, Route, KShortest, Nearest, Reach, Isochrones or Components
        What to draw: a graph; the distances of ``bfs``, ``sssp``, ``apsp`` or ``within``; a route
        (``result.route(target)``) or the paths of ``k_shortest``; the bands of ``isochrones``, the
        regions of the facilities of ``nearest``; the ``components``.
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
    route : Route or sequence of vertices, optional
        A path to highlight, such as ``result.path(target)``.
    labels : bool, optional
        Whether to write the name at every vertex, and the weight at every arc. By default at
        graphs of up to 60 vertices, or arcs. Source and target are always named.
    arrows : bool, optional
        Whether to draw the directions of arcs. By default on directed graphs of up to 400 arcs.
    title : str, optional
        A title; by default the graph's name and the source.
    unit : str, optional
        The unit of the distances, such as ``"m"``; ``"hops"`` by default where arcs are counted.

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
    """
    for name, value in (("title", title), ("unit", unit)):
        if value is not None and not isinstance(value, str):
            raise RequestError(Code(name), f" must be a text, not {value!r}")
    for name, flag in (("labels", labels), ("arrows", arrows)):
        if flag is not None and not isinstance(flag, (bool, np.bool_)):
            raise RequestError(Code(name), f" must be True or False, not {flag!r}")
    if path is not None and not isinstance(path, (str, PathLike)):
        raise RequestError(f"path must be the name of a file, not {path!r}")
    subject = as_subject(what, route, Options(target, row, unit))
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
