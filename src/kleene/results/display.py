"""What a notebook shows of an answer: what ran, what was reached, and the first distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.graph.sketch import MARK, Sketch, band_colour, can_be_sketched, swatch
from kleene.system.formatting import counted, format_number
from kleene.system.html import Html, card, columns, join

if TYPE_CHECKING:
    from kleene.graph import Graph
    from kleene.results.components import Components
    from kleene.results.distance_reduction import DistanceReduction
    from kleene.results.isochrones import Isochrones, IsochronesEach
    from kleene.results.k_shortest import KShortest, KShortestPairs
    from kleene.results.nearest import Nearest
    from kleene.results.reach import Reach
    from kleene.results.result import Result
    from kleene.results.route import Route, Routes

__all__ = [
    "FIRST", "caption_of", "components_html", "count_reached", "each_html", "isochrones_html",
    "k_shortest_html", "k_shortest_pairs_html", "nearest_html", "pairs_table", "reach_html",
    "result_html", "route_html", "routes_html",
]  # fmt: skip

Array = NDArray[Any]

FIRST = 6  # rows and columns that are shown
_MOST_RANKS = 24  # rows of the nearest facilities; of one vertex all are shown
_MOST_ROUTES = 100  # on a map
_MOST_OUTLINED = 10_000  # vertices whose areas are on a map
_MAP_SIDE = 240  # pixels

#: More values are not counted for a display: they may be in a file larger than memory.
_MOST_COUNTED = 2**26


def count_reached(result: Result) -> str:
    """Return how many of the pairs have a path, in words; of huge results, how many there are."""
    if result._count > _MOST_COUNTED:
        return f"{result._count:,} distances"
    reached = sum(np.count_nonzero(row != result.no_path) for row in result._value_rows())
    return f"{reached:,} of {result._count:,} reached"


def result_html(result: Result, table: Html | None = None) -> str:
    """Return a result as HTML."""
    way = "to" if result.reverse else "from"
    sources = result.graph.label(result._sources[:4]).tolist()
    named = ", ".join(map(str, sources[:3])) + (", …" if len(sources) > 3 else "")
    facts = {
        way: named if len(result._sources) <= 3 else f"{len(result._sources):,} vertices: {named}",
        "reached": count_reached(result).removesuffix(" reached"),
        "values": result.plan.dtype,
        "time": f"{result.stats.total:.3g} s",
    }
    if table is None:
        table = _row_table(result) if len(result._sources) == 1 else _corner_table(result)
    headline = f"{result.problem} by {result.plan.method} on {result.plan.where}"
    return card(type(result).__name__, headline, facts, table)


def _row_table(result: Result) -> Html:
    """Return the first vertices of a search from one source."""
    far = result._far_ends[:FIRST]
    heads, rows = (
        ["vertex", result._value_name],
        [_labels(result.graph, far), _texts(result, 0, far)],
    )
    links = result._answer.links(slice(0, 1))
    if links is not None:
        heads.append("next hop" if result.reverse else "predecessor")
        rows.append([_link(result, int(link)) for link in links[0, far]])
    count = len(result._far_ends)
    return columns(heads, zip(*rows, strict=True), caption=caption_of(count), numbers=[1])


def _corner_table(result: Result) -> Html:
    """Return the upper left corner of a matrix of distances."""
    far = result._far_ends[:FIRST]
    count = len(result._sources)
    names = result.graph.label(result._sources[:FIRST]).tolist()
    more = ["…"] if len(result._far_ends) > FIRST else []
    rows = [[str(n), *_texts(result, i, far), *more] for i, n in enumerate(names)]
    corner = "to \\ from" if result.reverse else "from \\ to"
    heads = [corner, *_labels(result.graph, far), *more]
    caption = caption_of(count, "rows")
    return columns(heads, rows, caption=caption, numbers=range(1, len(heads)))


def pairs_table(result: Result) -> Html:
    """Return the first of a list of pairs."""
    assert result._targets is not None
    ends = (_labels(result.graph, at[:FIRST]) for at in (result._sources, result._targets))
    texts = _values(result, result.distances[:FIRST])
    rows = zip(*ends, texts, strict=True)
    caption = caption_of(len(result._sources), "pairs")
    return columns(["from", "to", result._value_name], rows, caption=caption, numbers=[2])


# ---- other answers ------------------------------------------------------------------------------


def nearest_html(near: Nearest) -> str:
    """Return the nearest facilities of the first vertices as HTML: all k of each."""
    graph, facilities, several = near.graph, near._task.facilities, near.k > 1
    named = _labels(graph, facilities[:FIRST])
    facts = {"facilities": ", ".join(named) + (", …" if len(facilities) > FIRST else "")}
    first = max(1, min(FIRST, _MOST_RANKS // near.k))
    which, distances = near._which[:first], near._distances[:first]
    rows = []
    for row, name in enumerate(_labels(graph, near._places[:first])):
        for rank, (at, value) in enumerate(zip(which[row], distances[row].tolist(), strict=True)):
            facility = "" if at < 0 else str(graph.label(int(facilities[at])))
            rank_of = [f"{rank + 1}"] if several else []
            rows.append([name if rank == 0 else "", *rank_of, facility, _value(value, at >= 0)])
    length = "hops" if near.hops else "distance"
    heads = ["vertex", *(["rank"] if several else []), "nearest", length]
    caption = caption_of(len(near._which), first=first)
    table = columns(heads, rows, caption=caption, numbers=[len(heads) - 1])
    return card("Nearest", _inside(near), facts, table)


def reach_html(reach: Reach) -> str:
    """Return what the first sources reach as HTML."""
    answer, count = reach._answer, len(reach._sources)
    rows = []
    for row, name in enumerate(_labels(reach.graph, reach._sources[:FIRST])):
        values = answer.distances[answer.offsets[row] : answer.offsets[row + 1]]
        rows.append([name, f"{len(values):,}", format_number(values.max()) if len(values) else ""])
    heads = ["source", "reached", "farthest"]
    table = columns(heads, rows, caption=caption_of(count, "sources"), numbers=[1, 2])
    return card("Reach", _inside(reach), {}, table)


def reduction_html(reduced: DistanceReduction) -> str:
    """Return what the first sources reach, and how far, as HTML."""
    first = slice(FIRST)
    numbers = (reduced.reached, reduced.sums, reduced.maxima)
    texts = [list(map(format_number, column[first].tolist())) for column in numbers]
    rows = zip(_labels(reduced.graph, reduced._sources[first]), *texts, strict=True)
    heads = ["target" if reduced.reverse else "source", "reached", "sum", "farthest"]
    caption = caption_of(len(reduced._sources), f"{heads[0]}s")
    table = columns(heads, rows, caption=caption, numbers=[1, 2, 3])
    return card("DistanceReduction", _inside(reduced), {}, table)


def isochrones_html(zones: Isochrones) -> str:
    """Return areas and how much lies within each limit as HTML."""
    count = len(zones.limits)
    colours = [band_colour(i, count) for i in range(count)]
    rows = [
        [join([swatch(colour), f"{limit:g}"]), f"{inside:,}"]
        for colour, limit, inside in zip(colours, zones.limits, zones._counts, strict=True)
    ]
    table = columns(["limit", "vertices"], rows, numbers=[1])
    drawn = None
    if _can_be_mapped(zones):
        areas = [(zones.area(x), c) for x, c in zip(zones.limits, colours, strict=True)]
        drawn = _area_map(zones, [zones.streets(zones.limits[-1])], areas[::-1])
    return card("Isochrones", _ends(zones), {}, drawn, table)


def each_html(each: IsochronesEach) -> str:
    """Return the areas of the first sources, and how much lies within each limit, as HTML."""
    shown, last = each[:FIRST], each.limits[-1]
    colours = [band_colour(i, len(shown)) for i in range(len(shown))]
    rows = [
        [join([swatch(colour), f"{zones.source}"]), *(f"{count:,}" for count in zones._counts)]
        for colour, zones in zip(colours, shown, strict=True)
    ]
    heads = ["source", *(f"within {limit:g}" for limit in each.limits)]
    numbers = range(1, len(heads))
    table = columns(heads, rows, caption=caption_of(len(each), "sources"), numbers=numbers)
    drawn = None
    if _can_be_mapped(each._whole):
        areas = [(zones.area(last), colour) for zones, colour in zip(shown, colours, strict=True)]
        drawn = _area_map(each._whole, [zones.streets(last) for zones in shown], areas)
    return card("IsochronesEach", _ends(each._whole), {}, drawn, table)


def _can_be_mapped(zones: Isochrones) -> bool:
    """Return whether areas are outlined in milliseconds."""
    reached = zones.reach._answer.vertices
    return can_be_sketched(zones.reach.graph) and len(reached) <= _MOST_OUTLINED


def _ends(zones: Isochrones) -> str:
    """Say which sources areas are around."""
    sources, way = zones.reach._sources, "to" if zones.reach.reverse else "from"
    named = ", ".join(_labels(zones.reach.graph, sources[:FIRST]))
    return f"{way} {named}" + (
        f" and {len(sources) - FIRST:,} more" if len(sources) > FIRST else ""
    )


def _area_map(zones: Isochrones, streets: list[list[Array]], areas: list[tuple[Any, str]]) -> Html:
    """Return a map of areas, with the sources; the last area is on top."""
    graph = zones.reach.graph
    assert graph.positions is not None
    places = graph.positions[zones.reach._sources]
    lines = [line for some in streets for line in some]
    sketch = Sketch(graph, np.vstack([places, *lines]), _MAP_SIDE).streets()
    for polygons, colour in areas:
        sketch.area(polygons, colour)
    sketch.dots(places, MARK, 4)
    return sketch.html("map of the areas")


def k_shortest_pairs_html(found: KShortestPairs) -> str:
    """Return the shortest paths of the first pairs as HTML."""
    rows = []
    for one in found[:FIRST]:
        lengths = one.distances[[0, -1]].tolist() if len(one) else []
        texts = [format_number(length) for length in lengths] or ["no path", ""]
        rows.append([str(one.source), str(one.target), f"{len(one):,}", *texts])
    heads, caption = ["from", "to", "paths", "shortest", "longest"], caption_of(len(found), "pairs")
    table = columns(heads, rows, caption=caption, numbers=[2, 3, 4])
    return card("KShortestPairs", _inside(found), {}, table)


def k_shortest_html(found: KShortest) -> str:
    """Return the first of the shortest paths as HTML."""
    rows = []
    for distance, path in zip(found.distances[:FIRST].tolist(), found.paths, strict=False):
        via = ", ".join(map(str, path[1:-1][:4])) + (", …" if len(path) > 6 else "")
        rows.append([format_number(distance), f"{len(path) - 1:,}", via])
    heads, caption = ["length", "arcs", "via"], caption_of(len(found), "paths")
    table = columns(heads, rows, caption=caption, numbers=[0, 1]) if rows else None
    return card("KShortest", _inside(found), {}, table)


def components_html(components: Components) -> str:
    """Return the sizes of the first components as HTML."""
    sizes = components.sizes[:FIRST].tolist()
    firsts = [str(components.members(number)[0]) for number in range(len(sizes))]
    rows = [[str(i), f"{size:,}", firsts[i]] for i, size in enumerate(sizes)]
    heads = ["component", "vertices", "first vertex"]
    caption = caption_of(components.count, "components")
    return card(
        "Components", _inside(components), {}, columns(heads, rows, caption=caption, numbers=[1])
    )


def route_html(route: Route) -> str:
    """Return the vertices and table rows along a route as HTML."""
    rows = route.rows
    arcs, vertices = len(route.arcs), [str(vertex) for vertex in route.vertices[: FIRST + 1]]
    heads, cells = ["from", "to", "weight"], [vertices[:-1], vertices[1:]]
    cells.append([format_number(w) for w in route.weights[: len(vertices) - 1].tolist()])
    if rows is not None:
        heads.append("table row")
        cells.append([str(row) for row in rows[: len(vertices) - 1].tolist()])
    caption = caption_of(arcs, "arcs")
    table = columns(heads, zip(*cells, strict=True), caption=caption, numbers=[2, 3])
    headline = "no path"
    if len(route):
        first, last = (route.vertices[end] for end in (0, -1))
        way = f"{first!r} to {last!r}, {counted(arcs, 'arc')}"
        headline = f"{way}, distance {format_number(route.distance)}"
    drawn = _route_map(route.graph, [route])
    return card("Route", headline, {}, table if arcs else None, drawn)


def routes_html(routes: Routes) -> str:
    """Return the ends and lengths of the first routes as HTML."""
    rows = []
    for route in routes[:FIRST]:
        ends = [str(route.vertices[end]) for end in (0, -1)] if len(route) else ["", ""]
        rows.append([*ends, f"{len(route.arcs):,}", _value(route.distance, bool(len(route)))])
    caption = caption_of(len(routes), "routes")
    table = columns(["from", "to", "arcs", "distance"], rows, caption=caption, numbers=[2, 3])
    drawn = _route_map(routes._graph, routes[:_MOST_ROUTES])
    return card("Routes", counted(len(routes), "route"), {}, table, drawn)


def _route_map(graph: Graph, routes: list[Route]) -> Html | None:
    """Return a map of routes, if the graph has positions and some has a path."""
    found = [route for route in routes if len(route)]
    if not found or not can_be_sketched(graph):
        return None
    lines = [route.coordinates for route in found]
    sketch = Sketch(graph, np.vstack(lines), _MAP_SIDE).streets()
    sketch.lines(lines, MARK, 2.5)
    sketch.dots(np.vstack([line[[0, -1]] for line in lines]), MARK, 4)
    return sketch.html("map of the way")


def _inside(thing: object) -> str:
    """Return what a text display has between its brackets."""
    return repr(thing).partition("(")[2].removesuffix(")")


def _labels(graph: Graph, positions: Array) -> list[str]:
    return [str(label) for label in graph.label(positions).tolist()]


def _texts(result: Result, row: int, far: Array) -> list[str]:
    return _values(result, result._answer.at(row, far))


def _values(result: Result, values: Array) -> list[str]:
    """Return values as text; those that stand for something are named."""
    texts = [_value(v, v != result.no_path) for v in values.tolist()]
    if result.plan.semiring == "max_min":  # the empty path has no narrowest arc
        widest = SEMIRINGS["max_min"].one(values.dtype)
        texts = ["no limit" if v == widest else t for v, t in zip(values, texts, strict=True)]
    return texts


def _value(value: Any, reached: bool) -> str:
    if isinstance(value, bool):
        return str(value)
    return format_number(value) if reached else "no path"


def _link(result: Result, position: int) -> str:
    return "" if position < 0 else str(result.graph.label(position))


def caption_of(count: int, what: str = "vertices", first: int = FIRST) -> str:
    """Return what is written over a table of the first rows of many."""
    return f"first {first} of {count:,} {what}" if count > first else what
