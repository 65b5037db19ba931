"""What a notebook shows of measures and traffic: how large numbers are, the largest, and a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.graph.sketch import Sketch, can_be_sketched
from kleene.results.display import FIRST, caption_of
from kleene.system.colours import shade
from kleene.system.formatting import counted, format_number
from kleene.system.html import Html, card, columns, tag

if TYPE_CHECKING:
    from kleene.measures.distance_histogram import DistanceHistogram
    from kleene.measures.edge_table import EdgeTable
    from kleene.measures.loads import Loads, Unassigned
    from kleene.measures.measure import Measure

__all__ = ["edges_html", "histogram_html", "loads_html", "measure_html", "unassigned_html"]

Array = NDArray[Any]

_COLOUR = shade(0.5)
_MOST_DRAWN = 3000  # vertices, or arcs, on a map
_CLASSES = 6  # of width, or size
_SIDE = 240  # pixels
_BARS = (240, 80)  # pixels: width and height


def measure_html(measure: Measure) -> str:
    """Return the largest numbers of a measure of vertices as HTML."""
    values = measure.values
    facts = {**_spread(values), **measure._facts, "time": f"{measure.stats.total:.3g} s"}
    rows = [[str(label), _text(value)] for label, value in measure.top(FIRST)]
    caption = _largest(len(values), "vertices")
    table = columns(["vertex", measure.name], rows, caption=caption, numbers=[1])
    drawn = None
    positions = measure.graph.positions
    if positions is not None and can_be_sketched(measure.graph) and len(values) <= _MOST_DRAWN:
        sketch = Sketch(measure.graph, None, _SIDE).streets()
        for which, part in _classes(measure._magnitudes - measure._magnitudes.min()):
            sketch.dots(positions[which], _COLOUR, 1 + 4 * part)
        drawn = sketch.html(f"map of {measure.name}")
    return card(type(measure).__name__, f"{measure.name} of {measure._size}", facts, table, drawn)


def edges_html(table: EdgeTable) -> str:
    """Return the largest numbers of edges as HTML."""
    kept = table._kept
    best = kept[np.argsort(-table.arcs[kept], kind="stable")[:FIRST]]
    rows = _arc_rows(table.graph, best, table.arcs[best])
    ends = ["from", "to"] if table.graph.directed else ["one end", "other end"]
    caption = _largest(len(kept), "edges")
    shown = columns([*ends, table.name], rows, caption=caption, numbers=[2])
    drawn = _flow_map(table.graph, table.arcs, table.name)
    headline = f"{table.name} of {counted(len(kept), 'edge')}"
    return card("EdgeTable", headline, _spread(table.arcs[kept]), shown, drawn)


def loads_html(loads: Loads) -> str:
    """Return traffic as HTML: how much there is, the arcs that carry most, and a map."""
    used = int(np.count_nonzero(loads.arcs))
    facts = {
        "volume": format_number(loads.volume),
        "on": f"{used:,} of {counted(len(loads), 'arc')}",
        "total cost": format_number(loads.total_cost),
    }
    if len(loads.unassigned):
        lost = loads.unassigned
        facts["without a path"] = f"{format_number(lost.total)} ({counted(len(lost), 'trip')})"
    facts["time"] = f"{loads.stats.total:.3g} s"
    rows = [[str(s), str(t), format_number(flow)] for s, t, flow in loads.top(min(FIRST, used))]
    table = columns(["from", "to", "flow"], rows, caption=_largest(used, "arcs"), numbers=[2])
    headline = f"by {loads.plan.method} on {loads.plan.where}"
    return card("Loads", headline, facts, table, _flow_map(loads.graph, loads.arcs, "traffic"))


def unassigned_html(trips: Unassigned) -> str:
    """Return the first trips without a path as HTML."""
    ends = (list(map(str, end[:FIRST].tolist())) for end in (trips.origins, trips.destinations))
    volumes = map(format_number, trips.volumes[:FIRST].tolist())
    rows = zip(*ends, volumes, strict=True)
    caption = caption_of(len(trips), "trips")
    table = columns(["from", "to", "volume"], rows, caption=caption, numbers=[2])
    headline = f"{counted(len(trips), 'trip')}, volume {format_number(trips.total)}"
    return card("Unassigned", headline, {}, table)


def histogram_html(histogram: DistanceHistogram) -> str:
    """Return the counts of a histogram as bars."""
    counts, edges = histogram.counts, histogram.edges
    facts = {
        "pairs": f"{int(counts.sum()):,}",
        "from": counted(len(histogram.sources), "source"),
        "bins": f"{len(counts):,}",
        "time": f"{histogram.stats.total:.3g} s",
    }
    if len(counts):
        ends = (format_number(edge) for edge in edges[[0, -1]].tolist())
        facts["distances"] = " to ".join(ends)
        facts["most in a bin"] = f"{int(counts.max()):,}"
    what = "hops" if histogram._measured.hops else "lengths"
    return card("DistanceHistogram", what, facts, _bars(counts))


def _bars(counts: Array) -> Html | None:
    """Return bars in the colour of the text."""
    if not len(counts) or not counts.max():
        return None
    wide, high = _BARS
    step = wide / len(counts)
    bars = "".join(
        f"M{i * step:.1f} {high}v{-high * part:.1f}h{0.9 * step:.1f}V{high}z"
        for i, part in enumerate((counts / counts.max()).tolist())
        if part
    )
    return tag(
        "svg", tag("path", d=bars, fill="currentColor", fill_opacity="0.7"), width=wide,
        height=high, viewBox=f"0 0 {wide} {high}", style="max-width:100%;height:auto", role="img",
        aria_label="histogram of distances",
    )  # fmt: skip


def _flow_map(graph: Graph, arcs: Array, what: str) -> Html | None:
    """Return a map with lines as wide as what goes along them, both directions together."""
    positions = graph.positions
    if positions is None or not can_be_sketched(graph) or not arcs.any():
        return None
    used = np.flatnonzero(arcs > 0)
    used = used[np.argsort(-arcs[used], kind="stable")[:_MOST_DRAWN]]
    sketch = Sketch(graph, None, _SIDE).streets()
    ends = np.stack([graph.coo.sources[used], graph.coo.targets[used]], axis=1)
    for which, part in _classes(arcs[used]):
        sketch.lines(positions[ends[which]], _COLOUR, 0.5 + 4.5 * part)
    return sketch.html(f"map of {what}")


def _classes(numbers: Array) -> list[tuple[Array, float]]:
    """Return numbers in classes by size, small ones first: where they are, and their share."""
    shares = np.ceil(numbers / (numbers.max() or 1.0) * _CLASSES).astype(int)
    return [(np.flatnonzero(shares == i), i / _CLASSES) for i in np.unique(shares).tolist()]


def _arc_rows(graph: Graph, arcs: Array, numbers: Array) -> Sequence[Sequence[str]]:
    ends = (map(str, graph.label(end[arcs]).tolist()) for end in graph.coo[:2])
    return list(zip(*ends, map(format_number, numbers.tolist()), strict=True))


def _spread(values: Array) -> Mapping[str, str]:
    """Return the smallest, the mean and the largest number."""
    if not len(values):
        return {}
    means = {} if values.dtype == object else {"mean": values.mean()}  # integers of any size
    numbers = {"least": values.min(), **means, "most": values.max()}
    return {name: _text(number) for name, number in numbers.items()}


def _text(number: Any) -> str:
    """Return a number as text; integers of any size are shortened."""
    large = isinstance(number, int) and abs(number) >= 10**15
    return f"{Decimal(number):.6g}" if large else format_number(number)


def _largest(count: int, what: str) -> str:
    return f"largest {FIRST} of {count:,} {what}" if count > FIRST else what
