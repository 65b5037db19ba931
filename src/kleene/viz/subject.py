"""What a drawing shows: the graph, colours, marked vertices, a path, and words for all of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, NamedTuple

from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.results.pairs import PairsResult
from kleene.results.result import Result
from kleene.results.route import Route, make_route
from kleene.viz.colouring import Colouring, Plain, Scale, amount

__all__ = ["Options", "Subject", "as_subject"]

Array = NDArray[Any]


@dataclass
class Subject:
    """What is drawn; vertices are positions."""

    graph: Graph
    title: str
    colouring: Colouring = field(default_factory=Plain)
    marked: list[int] = field(default_factory=list)  # sources, in ink
    target: int | None = None
    route: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    start: int | None = None  # only its component is drawn, where positions are computed
    reached: Array | None = None  # the vertices that are not grey

    def name(self, vertex: int) -> str:
        return str(self.graph.label(vertex))


class Options(NamedTuple):
    """What a caller of draw asks of the subject."""

    target: Hashable | None
    row: int
    unit: str | None


def as_subject(what: object, route: Route | Sequence[Hashable] | None, options: Options) -> Subject:
    """Return what is to be drawn, with the path to highlight."""
    subject = _subject(what, options)
    if route is not None:
        if not isinstance(route, Route):
            graph = subject.graph
            route = make_route(graph, graph.index(list(route)), None)
        _highlight(subject, route, options.unit)
    return subject


@singledispatch
def _subject(what: object, options: Options) -> Subject:
    raise RequestError(
        f"draw takes a Graph or a result, not {type(what).__name__}; make a graph with "
        "kl.Graph.from_any(...)"
    )


@_subject.register
def _(graph: Graph, options: Options) -> Subject:
    if options.target is not None:
        raise RequestError(
            "target needs a result, which has paths: draw(kl.sssp(graph, source), target=...); "
            "to highlight a path of a graph, give its vertices: route=[...]"
        )
    return Subject(graph, graph.name or "Graph")


@_subject.register
def _(route: Route, options: Options) -> Subject:
    graph = route.graph
    subject = Subject(graph, graph.name or "Route")
    _highlight(subject, route, options.unit)
    return subject


@_subject.register
def _(result: PairsResult, options: Options) -> Subject:
    raise RequestError("draw the route of one pair: draw(result.route(0))")


@_subject.register
def _(result: Result, options: Options) -> Subject:
    graph, row = result.graph, options.row
    if result.plan.semiring != "min_plus" or result._targets is not None:
        raise RequestError(
            "draw needs distances to all vertices: bfs, sssp or apsp without targets"
        )
    if not 0 <= row < len(result._sources):
        raise RequestError(f"row must be from 0 to {len(result._sources) - 1}, but is {row}")
    source = int(result._sources[row])
    unit = options.unit
    if unit is None:
        unit = "hops" if result.problem == "bfs" or graph.weight_dtype is None else ""
    distances, reached = (
        values if values.ndim == 1 else values[row] for values in (result.distances, result.reached)
    )
    subject = Subject(
        graph, "", Scale(distances, reached, unit), [source], start=source, reached=reached
    )
    what = "Hops" if unit == "hops" else "Distances"
    whose = f"{graph.name}: {what.lower()}" if graph.name else what
    subject.title = f"{whose} {'to' if result.reverse else 'from'} {subject.name(source)}"
    if options.target is not None:
        ends = [graph.label(source), options.target]
        path = result.path(*(ends[::-1] if result.reverse else ends))
        subject.target = end = graph.index(options.target)
        subject.route = graph.index(path).tolist()
        where = f"{'from' if result.reverse else 'to'} {subject.name(end)}"
        subject.notes.append(_path_note(where, subject.route, distances[end], unit))
    return subject


def _highlight(subject: Subject, route: Route, unit: str | None) -> None:
    """Highlight a path through the graph of the subject."""
    graph = subject.graph
    subject.route = vertices = graph.index(route.vertices).tolist()
    if vertices:
        subject.marked, subject.target = [vertices[0]], vertices[-1]
        where = f"from {subject.name(vertices[0])} to {subject.name(vertices[-1])}"
        length = route.weights.sum() if route.distance is None else route.distance
        hops = "hops" if graph.weight_dtype is None else ""
        subject.notes.append(_path_note(where, vertices, length, hops if unit is None else unit))


def _path_note(where: str, route: list[int], distance: Any, unit: str) -> str:
    if not route:
        return f"no path {where}"
    steps = len(route) - 1
    along = "" if unit == "hops" else f" along {steps:,} arc{'s' * (steps != 1)}"
    return f"path {where}: {amount(distance, unit)}{along}"
