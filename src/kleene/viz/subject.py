"""What a drawing shows: the graph, colours, marked vertices, a path, and words for all of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.calls.arguments import as_vertices
from kleene.errors import Code, GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.labels import is_one_vertex
from kleene.measures.edge_table import EdgeTable
from kleene.measures.loads import Loads
from kleene.measures.measure import Measure
from kleene.measures.path_counts import PathCounts
from kleene.results.components import Components
from kleene.results.isochrones import Isochrones, IsochronesEach
from kleene.results.k_shortest import KShortest
from kleene.results.nearest import Nearest
from kleene.results.pairs import PairsResult
from kleene.results.reach import Reach
from kleene.results.result import Result
from kleene.results.route import Route, make_route
from kleene.system.formatting import counted, format_number, type_name
from kleene.viz.colouring import Colouring, Groups, Magnitudes, Plain, Scale, amount
from kleene.viz.flow import Flow

__all__ = ["Options", "Subject", "Zone", "show_route", "subject_of", "title_of", "unit_of"]

Array = NDArray[Any]


class Zone(NamedTuple):
    """An area on the map: polygons in the coordinates of the graph, rings each."""

    polygons: list[list[Array]]
    colour: str


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
    zones: list[Zone] = field(default_factory=list)  # the last one on top
    sizes: Array | None = None  # of vertices, from 0 to 1
    only: tuple[Array, Array] | None = None  # vertices that one of two answers has
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

    def check_target(self) -> None:
        """Refuse a target that is not one vertex."""
        if self.target is not None and not is_one_vertex(self.target):
            raise RequestError(Code("target"), f" must be one vertex, not {self.target!r}")


def show_route(
    subject: Subject, route: Route | Sequence[Hashable] | None, options: Options
) -> None:
    """Highlight a path that a caller of draw gave."""
    graph = subject.graph
    if isinstance(route, Route):
        _highlight(subject, route, route.distance, options)
    elif route is not None:
        walked = make_route(graph, as_vertices(graph, route, "route"), 0)
        if (walked.arcs < 0).any():
            gap = int(walked.arcs.argmin())
            tail, head = walked.vertices[gap : gap + 2]
            raise GraphError(f"route: no arc from {tail!r} to {head!r}")
        _highlight(subject, walked, walked.weights.sum(), options)


@singledispatch
def subject_of(what: object, options: Options) -> Subject:
    """Return what is to be drawn."""
    raise RequestError(
        f"draw takes a Graph or a result, not {type_name(what)}",
        advice=["make a graph with kl.Graph.from_any(...)"],
    )


@subject_of.register
def _(graph: Graph, options: Options) -> Subject:
    _refuse_target(options, "a graph has none")
    return Subject(graph, graph.name or "Graph")


@subject_of.register
def _(route: Route, options: Options) -> Subject:
    graph = route.graph
    subject = Subject(graph, graph.name or "Route")
    _highlight(subject, route, route.distance, options)
    return subject


@subject_of.register
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


@subject_of.register
def _(components: Components, options: Options) -> Subject:
    _refuse_target(options, "components have no paths")
    large = np.flatnonzero(components.sizes > 1)  # by decreasing size; single vertices are grey
    group = np.where(components.component < len(large), components.component, -1)
    names = [f"{size:,} vertices" for size in components.sizes[large].tolist()]
    count = f"{components.count:,} {components.kind} component{'s' * (components.count != 1)}"
    subject = Subject(components.graph, title_of(components.graph, count), Groups(group, names))
    single = components.count - len(large)
    if single:
        subject.notes.append(f"{single:,} of one vertex (grey)")
    return subject


@subject_of.register
def _(near: Nearest, options: Options) -> Subject:
    graph, facilities = near.graph, near._task.facilities
    which, unit = np.full(graph.n, -1), unit_of(options, graph, near.hops)
    which[near._places] = near._which[:, 0]
    names = [str(label) for label in graph.label(facilities).tolist()]
    groups = Groups.of_regions(graph, which, names)
    title = title_of(graph, f"nearest of {counted(len(names), 'facility', 'facilities')}")
    subject = Subject(graph, title, groups, facilities.tolist(), reached=which >= 0)
    subject.grey = "without one"
    if options.target is not None:
        subject.target = at = graph.index(options.target)
        route = near.route(options.target)
        subject.route = graph.index(route.vertices).tolist()
        to = f" to {names[which[at]]}" if which[at] >= 0 else ""
        where = f"of {subject.name(at)}{to}"
        subject.notes.append(_path_note(where, subject.route, route.distance, unit))
    return subject


@subject_of.register
def _(reach: Reach, options: Options) -> Subject:
    graph, row = reach.graph, _row(options, len(reach._sources))
    begin, end = reach._answer.offsets[row : row + 2].tolist()
    inside = reach._answer.vertices[begin:end]
    distances = np.zeros(graph.n, reach._answer.distances.dtype)
    distances[inside] = reach._answer.distances[begin:end]
    reached = np.zeros(graph.n, bool)
    reached[inside] = True
    source, unit = int(reach._sources[row]), unit_of(options, graph, reach.hops)
    bound = "" if reach.limit is None else f" within {amount(reach.limit, unit)}"
    bound += "" if reach.k is None else f", the {reach.k:,} nearest"
    way = "to" if reach.reverse else "from"
    title = title_of(graph, f"{_what(unit)} {way} {graph.label(source)}{bound}")
    scale = Scale(distances, reached, unit)
    subject = Subject(graph, title, scale, [source], start=source, reached=reached)
    subject.grey = "farther or unreachable"
    if options.target is not None:
        ends = [graph.label(source), options.target]
        path = reach.path(*(ends[::-1] if reach.reverse else ends))
        target = graph.index(options.target)
        _mark_path(subject, target, path, distances[target], unit, reach.reverse)
    return subject


def _area_subject(zones: Isochrones, colours: Groups, unit: str) -> Subject:
    """Return the subject of areas around some sources, coloured by these groups."""
    reach, graph, sources = zones.reach, zones.reach.graph, zones.reach._sources
    named = ", ".join(str(label) for label in graph.label(sources[:4]).tolist())
    named = named if len(sources) < 4 else f"the nearest of {len(sources):,} sources"
    way = "to" if reach.reverse else "from"
    title = title_of(graph, f"{_what(unit)} {way} {named} within {amount(reach.limit, unit)}")
    start = int(sources[0]) if len(sources) == 1 else None
    subject = Subject(
        graph, title, colours, sources.tolist(), start=start, reached=colours.group >= 0
    )
    subject.grey = "farther or unreachable"
    return subject


@subject_of.register
def _(zones: Isochrones, options: Options) -> Subject:
    reach, graph = zones.reach, zones.reach.graph
    unit, reached = unit_of(options, graph, reach.hops), zones._reached
    band = np.full(graph.n, -1)
    band[reached.vertices] = zones._bands(reached.distances)
    names = [f"up to {amount(limit, unit)}" for limit in zones.limits]
    colours = Groups.bands(band, names)
    subject = _area_subject(zones, colours, unit)
    subject.zones = [
        Zone(zones.area(limit), colours.colour(i)) for i, limit in enumerate(zones.limits)
    ][::-1]
    if options.target is not None:
        target = graph.index(options.target)
        [found] = np.nonzero(reached.vertices == target)
        source = reach._sources[int(reached.rows[found[0]]) if len(found) else 0]
        ends = [graph.label(int(source)), options.target]
        path = reach.path(*(ends[::-1] if reach.reverse else ends))
        _mark_path(subject, target, path, zones._distances[target], unit, reach.reverse)
    return subject


@subject_of.register
def _(each: IsochronesEach, options: Options) -> Subject:
    _refuse_target(options, "areas of several sources have none")
    whole = each._whole
    reached, graph = whole._reached, whole.reach.graph
    nearest = np.full(graph.n, -1)
    nearest[reached.vertices] = reached.rows
    colours = Groups(nearest, [str(zones.source) for zones in each])
    subject = _area_subject(whole, colours, unit_of(options, graph, whole.reach.hops))
    subject.zones = [
        Zone(zones.area(limit), colours.colour(i))
        for limit in each.limits[::-1]
        for i, zones in enumerate(each)
    ]
    return subject


@subject_of.register
def _(measure: Measure, options: Options) -> Subject:
    known = np.isfinite(measure.values)
    colours = Magnitudes(measure.values, known, _texts_of_ends(measure.values[known], options))
    return _measure_subject(measure, measure.name, colours, options)


@subject_of.register
def _(counts: PathCounts, options: Options) -> Subject:
    values, known = counts.values, counts.values > 0
    texts = _texts_of_ends(values[known], options)
    colours = Magnitudes(values, known, texts, counts._magnitudes)
    way = "to" if counts.reverse else "from"
    return _measure_subject(counts, f"shortest paths {way} {counts.source}", colours, options)


def _measure_subject(measure: Measure, what: str, colours: Magnitudes, options: Options) -> Subject:
    _refuse_target(options, "a measure has none")
    graph, known = measure.graph, colours.known
    subject = Subject(graph, title_of(graph, what), colours, reached=known, sizes=colours.parts)
    subject.grey = "without one"
    if known.any():
        best = np.flatnonzero(known)[measure.values[known].argmax()]
        subject.notes.append(f"most {colours.texts[1]} at {subject.name(int(best))}")
    return subject


def _texts_of_ends(values: Array, options: Options) -> list[str]:
    """Return the smallest and the largest number as text; integers of any size are shortened."""
    ends = (values.min(), values.max()) if len(values) else ()
    short = [f"{Decimal(x):.6g}" if isinstance(x, int) else format_number(x) for x in ends]
    return [f"{text} {options.unit or ''}".rstrip() for text in short]


@subject_of.register
def _(loads: Loads, options: Options) -> Subject:
    _refuse_target(options, "traffic goes everywhere")
    graph, unit = loads.graph, options.unit or ""
    subject = Subject(graph, title_of(graph, "traffic"), Flow([(graph, loads.arcs)], unit))
    used = int(np.count_nonzero(loads.arcs))
    subject.notes.append("each direction on its right")
    subject.notes.append(f"{amount(loads.volume, unit)} on {counted(used, 'arc')}")
    for source, target, most in loads.top(1 if used else 0):
        subject.notes.append(f"most {amount(most, unit)} from {source} to {target}")
    if len(loads.unassigned):
        subject.notes.append(f"{amount(loads.unassigned.total, unit)} without a path")
    return subject


@subject_of.register
def _(table: EdgeTable, options: Options) -> Subject:
    _refuse_target(options, "a measure has none")
    graph, unit = table.graph, options.unit or ""
    numbers = np.full(graph.m, np.nan)
    numbers[table._kept] = table.arcs[table._kept]
    colours = Flow([(graph, numbers)], unit, beside=graph.directed)
    subject = Subject(graph, title_of(graph, f"{table.name} of edges"), colours)
    if len(table):
        at = int(np.nanargmax(numbers))
        ends = [graph.label(int(end[at])) for end in graph.coo[:2]]
        subject.notes.append(f"most {amount(numbers[at], unit)} from {ends[0]} to {ends[1]}")
    return subject


@subject_of.register
def _(result: PairsResult, options: Options) -> Subject:
    raise RequestError("draw the route of one pair: draw(result.route(0))")


@subject_of.register
def _(result: Result, options: Options) -> Subject:
    graph = result.graph
    if result.plan.semiring != "min_plus" or result._targets is not None:
        raise RequestError(
            "draw needs distances to all vertices: bfs, sssp or apsp without targets"
        )
    row = _row(options, len(result._sources))
    source, unit = int(result._sources[row]), unit_of(options, graph, result.problem == "bfs")
    distances = result._answer.values[row]
    reached = distances != result.no_path
    way = "to" if result.reverse else "from"
    title = title_of(graph, f"{_what(unit)} {way} {graph.label(source)}")
    scale = Scale(distances, reached, unit)
    subject = Subject(graph, title, scale, [source], start=source, reached=reached)
    if options.target is not None:
        ends = [graph.label(source), options.target]
        path = result.path(*(ends[::-1] if result.reverse else ends))
        target = graph.index(options.target)
        _mark_path(subject, target, path, distances[target], unit, result.reverse)
    return subject


# ---- paths --------------------------------------------------------------------------------------


def _mark_path(
    subject: Subject, target: int, path: list[Any], distance: Any, unit: str, reverse: bool
) -> None:
    """Highlight the path between a source and a target."""
    subject.target, subject.route = target, subject.graph.index(path).tolist()
    where = f"{'from' if reverse else 'to'} {subject.name(target)}"
    note = _path_note(where, subject.route, distance, unit)
    beyond = not path and subject.grey != Subject.grey
    subject.notes.append(f"{subject.name(target)} is {subject.grey}" if beyond else note)


def _highlight(subject: Subject, route: Route, length: Any, options: Options) -> None:
    """Highlight a path through the graph of the subject."""
    graph = subject.graph
    subject.route = vertices = graph.index(route.vertices).tolist()
    if not vertices:
        subject.notes.append("no path")
    else:
        subject.marked, subject.target = [vertices[0]], vertices[-1]
        where = f"from {subject.name(vertices[0])} to {subject.name(vertices[-1])}"
        subject.notes.append(_path_note(where, vertices, length, unit_of(options, graph, False)))


def _path_note(where: str, route: list[int], distance: Any, unit: str) -> str:
    if not route:
        return f"no path {where}"
    steps = len(route) - 1
    along = "" if unit == "hops" else f" along {steps:,} arc{'s' * (steps != 1)}"
    return f"path {where}: {amount(distance, unit)}{along}"


# ---- words and options --------------------------------------------------------------------------


def title_of(graph: Graph, what: str) -> str:
    """Return the title of a drawing: the name of the graph, and what is shown of it."""
    return f"{graph.name}: {what}" if graph.name else what[:1].upper() + what[1:]


def _what(unit: str) -> str:
    return "hops" if unit == "hops" else "distances"


def unit_of(options: Options, graph: Graph, hops: bool) -> str:
    """Return the unit of distances: what the caller says, or hops."""
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
