"""What a notebook shows of an answer: what ran, what was reached, and the first distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.system.formatting import format_number
from kleene.system.html import Html, card, columns

if TYPE_CHECKING:
    from kleene.graph import Graph
    from kleene.results.components import Components
    from kleene.results.isochrones import Isochrones, IsochronesEach
    from kleene.results.k_shortest import KShortest
    from kleene.results.nearest import Nearest
    from kleene.results.reach import Reach
    from kleene.results.result import Result
    from kleene.results.route import Route

__all__ = [
    "components_html", "count_reached", "each_html", "isochrones_html", "k_shortest_html",
    "nearest_html", "pairs_table", "reach_html", "result_html", "route_html",
]  # fmt: skip

Array = NDArray[Any]

_FIRST = 6  # rows and columns that are shown

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
        "values": f"{result.plan.dtype}; no path: {result.no_path}",
        "time": f"{result.stats.total:.3g} s",
    }
    if table is None:
        table = _row_table(result) if len(result._sources) == 1 else _corner_table(result)
    headline = f"{result.problem} by {result.plan.method} on {result.plan.where}"
    return card(type(result).__name__, headline, facts, table)


def _row_table(result: Result) -> Html:
    """Return the first vertices of a search from one source."""
    far = result._far_ends[:_FIRST]
    heads, rows = (
        ["vertex", result._value_name],
        [_labels(result.graph, far), _texts(result, 0, far)],
    )
    links = result._answer.links(slice(0, 1))
    if links is not None:
        heads.append("next hop" if result.reverse else "predecessor")
        rows.append([_link(result, int(link)) for link in links[0, far]])
    count = len(result._far_ends)
    return columns(heads, zip(*rows, strict=True), caption=_caption(count), numbers=[1])


def _corner_table(result: Result) -> Html:
    """Return the upper left corner of a matrix of distances."""
    far = result._far_ends[:_FIRST]
    count = len(result._sources)
    names = result.graph.label(result._sources[:_FIRST]).tolist()
    more = ["…"] if len(result._far_ends) > _FIRST else []
    rows = [[str(n), *_texts(result, i, far), *more] for i, n in enumerate(names)]
    corner = "to \\ from" if result.reverse else "from \\ to"
    heads = [corner, *_labels(result.graph, far), *more]
    caption = _caption(count, "rows")
    return columns(heads, rows, caption=caption, numbers=range(1, len(heads)))


def pairs_table(result: Result) -> Html:
    """Return the first of a list of pairs."""
    assert result._targets is not None
    ends = (_labels(result.graph, at[:_FIRST]) for at in (result._sources, result._targets))
    values, reached = result.distances[:_FIRST].tolist(), result.reached[:_FIRST].tolist()
    texts = [_value(v, r) for v, r in zip(values, reached, strict=True)]
    rows = zip(*ends, texts, strict=True)
    caption = _caption(len(result._sources), "pairs")
    return columns(["from", "to", result._value_name], rows, caption=caption, numbers=[2])


# ---- other answers ------------------------------------------------------------------------------


def nearest_html(near: Nearest) -> str:
    """Return the nearest facilities of the first vertices as HTML."""
    graph, facilities = near.graph, near._task.facilities
    named = _labels(graph, facilities[:_FIRST])
    facts = {"facilities": ", ".join(named) + (", …" if len(facilities) > _FIRST else "")}
    which, distances = near._which[:_FIRST, 0], near._distances[:_FIRST, 0]
    names = ["" if at < 0 else str(graph.label(int(facilities[at]))) for at in which]
    texts = [_value(v, at >= 0) for v, at in zip(distances.tolist(), which, strict=True)]
    rows = zip(_labels(graph, near._places[:_FIRST]), names, texts, strict=True)
    heads = ["vertex", "nearest", "hops" if near.hops else "distance"]
    table = columns(heads, rows, caption=_caption(len(near._which)), numbers=[2])
    return card("Nearest", _inside(near), facts, table)


def reach_html(reach: Reach) -> str:
    """Return what the first sources reach as HTML."""
    answer, count = reach._answer, len(reach._sources)
    rows = []
    for row, name in enumerate(_labels(reach.graph, reach._sources[:_FIRST])):
        values = answer.distances[answer.offsets[row] : answer.offsets[row + 1]]
        rows.append([name, f"{len(values):,}", format_number(values.max()) if len(values) else ""])
    heads = ["source", "reached", "farthest"]
    table = columns(heads, rows, caption=_caption(count, "sources"), numbers=[1, 2])
    return card("Reach", _inside(reach), {}, table)


def isochrones_html(zones: Isochrones) -> str:
    """Return how much lies within each limit as HTML."""
    counts = zip(zones.limits, zones._counts, strict=True)
    rows = [[f"{limit:g}", f"{count:,}"] for limit, count in counts]
    table = columns(["limit", "vertices"], rows, numbers=[0, 1])
    way = "to" if zones.reach.reverse else "from"
    return card("Isochrones", f"{way} {zones.source}", {}, table)


def each_html(each: IsochronesEach) -> str:
    return ""


def k_shortest_html(found: KShortest) -> str:
    """Return the first of the shortest paths as HTML."""
    rows = []
    for distance, path in zip(found.distances[:_FIRST].tolist(), found.paths, strict=False):
        via = ", ".join(map(str, path[1:-1][:4])) + (", …" if len(path) > 6 else "")
        rows.append([format_number(distance), f"{len(path) - 1:,}", via])
    heads, caption = ["length", "arcs", "via"], _caption(len(found), "paths")
    table = columns(heads, rows, caption=caption, numbers=[0, 1]) if rows else None
    return card("KShortest", _inside(found), {}, table)


def components_html(components: Components) -> str:
    """Return the sizes of the first components as HTML."""
    sizes = components.sizes[:_FIRST].tolist()
    firsts = [str(components.members(number)[0]) for number in range(len(sizes))]
    rows = [[str(i), f"{size:,}", firsts[i]] for i, size in enumerate(sizes)]
    heads = ["component", "vertices", "first vertex"]
    caption = _caption(components.count, "components")
    return card(
        "Components", _inside(components), {}, columns(heads, rows, caption=caption, numbers=[1])
    )


def route_html(route: Route) -> str:
    """Return the vertices and table rows along a route as HTML."""
    rows = route.rows
    arcs, vertices = len(route.arcs), [str(vertex) for vertex in route.vertices[: _FIRST + 1]]
    heads, cells = ["from", "to", "weight"], [vertices[:-1], vertices[1:]]
    cells.append([format_number(w) for w in route.weights[: len(vertices) - 1].tolist()])
    if rows is not None:
        heads.append("table row")
        cells.append([str(row) for row in rows[: len(vertices) - 1].tolist()])
    table = columns(heads, zip(*cells, strict=True), caption=_caption(arcs, "arcs"), numbers=[2, 3])
    return card("Route", _inside(route), {}, table if arcs else None)


def _inside(thing: object) -> str:
    """Return what a text display has between its brackets."""
    return repr(thing).partition("(")[2].removesuffix(")")


def _labels(graph: Graph, positions: Array) -> list[str]:
    return [str(label) for label in graph.label(positions).tolist()]


def _texts(result: Result, row: int, far: Array) -> list[str]:
    values = result._answer.at(row, far)
    reached = values != result.no_path
    return [_value(v, r) for v, r in zip(values.tolist(), reached.tolist(), strict=True)]


def _value(value: Any, reached: bool) -> str:
    if isinstance(value, bool):
        return str(value)
    return format_number(value) if reached else "no path"


def _link(result: Result, position: int) -> str:
    return "" if position < 0 else str(result.graph.label(position))


def _caption(count: int, what: str = "vertices") -> str:
    return f"first {_FIRST} of {count:,} {what}" if count > _FIRST else what
