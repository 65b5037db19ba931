"""What a drawing shows: the graph, colours, marked vertices, a path, and words for all of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.calls.arguments import as_vertices
from kleene.errors import Code, GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.labels import is_one_vertex
from kleene.results.components import Components
from kleene.results.isochrones import Isochrones
from kleene.results.k_shortest import KShortest
from kleene.results.nearest import Nearest
from kleene.results.pairs import PairsResult
from kleene.results.reach import Reach
from kleene.results.result import Result
from kleene.results.route import Route, make_route
from kleene.system.formatting import type_name
from kleene.viz.colouring import Colouring, Groups, Plain, Scale, amount

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
    others: list[list[int]] = field(default_factory=list)  # longer paths
    notes: list[str] = field(default_factory=list)
    start: int | None = None  # only its component is drawn, where positions are computed
    reached: Array | None = None  # the vertices that are not grey
    grey: str = "unreachable"  # what the others are

    def name(self, vertex: int) -> str:
        return str(self.graph.label(vertex))


class Options(NamedTuple):
    """What a caller of draw asks of the subject."""

    target: Hashable | None
    row: int
    unit: str | None


def as_subject(what: object, route: Route | Sequence[Hashable] | None, options: Options) -> Subject:
    """Return what is to be drawn, with the path to highlight."""
    if options.target is not None and not is_one_vertex(options.target):
        raise RequestError(Code("target"), f" must be one vertex, not {options.target!r}")
    subject = _subject(what, options)
    if route is not None:
        graph = subject.graph
        if isinstance(route, Route):
            _highlight(subject, route, route.distance, options)
        else:
            walked = make_route(graph, as_vertices(graph, route, "route"), 0)
            if (walked.arcs < 0).any():
                gap = int(walked.arcs.argmin())
                tail, head = walked.vertices[gap : gap + 2]
                raise GraphError(f"route: no arc from {tail!r} to {head!r}")
            _highlight(subject, walked, walked.weights.sum(), options)
    return subject


@singledispatch
def _subject(what: object, options: Options) -> Subject:
    raise RequestError(
        f"draw takes a Graph or a result, not {type_name(what)}",
        advice=["make a graph with kl.Graph.from_any(...)"],
    )


@_subject.register
def _(graph: Graph, options: Options) -> Subject:
    _refuse_target(options, "a graph has none")
    return Subject(graph, graph.name or "Graph")


@_subject.register
def _(route: Route, options: Options) -> Subject:
    graph = route.graph
    subject = Subject(graph, graph.name or "Route")
    _highlight(subject, route, route.distance, options)
    return subject


@_subject.register
def _(found: KShortest, options: Options) -> Subject:
    graph = found.graph
    subject = Subject(graph, graph.name or "Shortest paths")
    if len(found):
        _highlight(subject, found[0], found[0].distance, options)
    else:
        subject.notes.append("no path")
    subject.others = [graph.index(route.vertices).tolist() for route in found[1:]]
    if subject.others:
        subject.notes.append(f"{len(subject.others):,} longer")
    return subject


@_subject.register
def _(components: Components, options: Options) -> Subject:
    _refuse_target(options, "components have no paths")
    large = np.flatnonzero(components.sizes > 1)  # by decreasing size; single vertices are grey
    group = np.where(components.component < len(large), components.component, -1)
    names = [f"{size:,} vertices" for size in components.sizes[large].tolist()]
    count = f"{components.count:,} {components.kind} component{'s' * (components.count != 1)}"
    subject = Subject(components.graph, _title(components.graph, count), Groups(group, names))
    single = components.count - len(large)
    if single:
        subject.notes.append(f"{single:,} of one vertex (grey)")
    return subject


@_subject.register
def _(near: Nearest, options: Options) -> Subject:
    graph, facilities = near.graph, near._task.facilities
    which, unit = near._which[:, 0], _unit(options, graph, near.hops)
    names = [str(label) for label in graph.label(facilities).tolist()]
    groups = Groups.of_regions(graph, which, names)
    title = _title(graph, f"nearest of {len(names):,} facilities")
    subject = Subject(graph, title, groups, facilities.tolist(), reached=which >= 0)
    subject.grey = "without one"
    if options.target is not None:
        subject.target = at = graph.index(options.target)
        subject.route = graph.index(near.path(options.target)).tolist()
        where = f"of {subject.name(at)} to {names[which[at]]}"
        subject.notes.append(_path_note(where, subject.route, near._distances[at, 0], unit))
    return subject


@_subject.register
def _(reach: Reach, options: Options) -> Subject:
    graph, row = reach.graph, _row(options, len(reach._sources))
    begin, end = reach._answer.offsets[row : row + 2].tolist()
    inside = reach._answer.vertices[begin:end]
    distances = np.zeros(graph.n, reach._answer.distances.dtype)
    distances[inside] = reach._answer.distances[begin:end]
    reached = np.zeros(graph.n, bool)
    reached[inside] = True
    source, unit = int(reach._sources[row]), _unit(options, graph, reach.hops)
    bound = "" if reach.limit is None else f" within {amount(reach.limit, unit)}"
    bound += "" if reach.k is None else f", the {reach.k:,} nearest"
    way = "to" if reach.reverse else "from"
    title = _title(graph, f"{_what(unit)} {way} {graph.label(source)}{bound}")
    scale = Scale(distances, reached, unit)
    subject = Subject(graph, title, scale, [source], start=source, reached=reached)
    subject.grey = "farther or unreachable"
    if options.target is not None:
        path = reach.path(graph.label(source), options.target)
        _mark_path(subject, graph.index(options.target), path, reach.reverse)
    return subject


@_subject.register
def _(zones: Isochrones, options: Options) -> Subject:
    reach, graph = zones.reach, zones.reach.graph
    subject, unit = _subject(reach, options), _unit(options, graph, reach.hops)
    assert isinstance(subject.colouring, Scale)
    distances = subject.colouring.distances.astype(np.float64)
    band = np.where(subject.colouring.known, zones._bands(distances), -1)
    subject.colouring = Groups.bands(band, [f"up to {amount(x, unit)}" for x in zones.limits])
    return subject


@_subject.register
def _(result: PairsResult, options: Options) -> Subject:
    raise RequestError("draw the route of one pair: draw(result.route(0))")


@_subject.register
def _(result: Result, options: Options) -> Subject:
    graph = result.graph
    if result.plan.semiring != "min_plus" or result._targets is not None:
        raise RequestError(
            "draw needs distances to all vertices: bfs, sssp or apsp without targets"
        )
    row = _row(options, len(result._sources))
    source, unit = int(result._sources[row]), _unit(options, graph, result.problem == "bfs")
    distances = result._answer.values[row]
    reached = distances != result.no_path
    way = "to" if result.reverse else "from"
    title = _title(graph, f"{_what(unit)} {way} {graph.label(source)}")
    scale = Scale(distances, reached, unit)
    subject = Subject(graph, title, scale, [source], start=source, reached=reached)
    if options.target is not None:
        ends = [graph.label(source), options.target]
        path = result.path(*(ends[::-1] if result.reverse else ends))
        _mark_path(subject, graph.index(options.target), path, result.reverse)
    return subject


# ---- paths --------------------------------------------------------------------------------------


def _mark_path(subject: Subject, target: int, path: list[Any], reverse: bool) -> None:
    """Highlight the path between the source and a target, coloured by distance."""
    assert isinstance(subject.colouring, Scale)
    subject.target, subject.route = target, subject.graph.index(path).tolist()
    where = f"{'from' if reverse else 'to'} {subject.name(target)}"
    distance, unit = subject.colouring.distances[target], subject.colouring.unit
    subject.notes.append(_path_note(where, subject.route, distance, unit))


def _highlight(subject: Subject, route: Route, length: Any, options: Options) -> None:
    """Highlight a path through the graph of the subject."""
    graph = subject.graph
    subject.route = vertices = graph.index(route.vertices).tolist()
    if not vertices:
        subject.notes.append("no path")
    else:
        subject.marked, subject.target = [vertices[0]], vertices[-1]
        where = f"from {subject.name(vertices[0])} to {subject.name(vertices[-1])}"
        subject.notes.append(_path_note(where, vertices, length, _unit(options, graph, False)))


def _path_note(where: str, route: list[int], distance: Any, unit: str) -> str:
    if not route:
        return f"no path {where}"
    steps = len(route) - 1
    along = "" if unit == "hops" else f" along {steps:,} arc{'s' * (steps != 1)}"
    return f"path {where}: {amount(distance, unit)}{along}"


# ---- words and options --------------------------------------------------------------------------


def _title(graph: Graph, what: str) -> str:
    return f"{graph.name}: {what}" if graph.name else what[:1].upper() + what[1:]


def _what(unit: str) -> str:
    return "hops" if unit == "hops" else "distances"


def _unit(options: Options, graph: Graph, hops: bool) -> str:
    if options.unit is not None:
        return options.unit
    return "hops" if hops or graph.weight_dtype is None else ""


def _row(options: Options, count: int) -> int:
    if not isinstance(options.row, (int, np.integer)) or not 0 <= options.row < count:
        raise RequestError(f"row must be from 0 to {count - 1}, but is {options.row!r}")
    return int(options.row)


def _refuse_target(options: Options, why: str) -> None:
    if options.target is not None:
        raise RequestError(
            f"target needs a result with paths, and {why}: draw(kl.sssp(graph, source), "
            "target=...); to highlight a path, give its vertices: route=[...]"
        )
