"""A graph as text, and in notebooks: size, weights, the first arcs; a sketch if it has positions.

What a notebook shows takes milliseconds, however large the graph is: no form is derived, and the
largest degree is shown if it was computed before or the graph is small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph.labels import range_of_labels
from kleene.graph.no_path import no_path
from kleene.graph.sketch import Sketch, can_be_sketched
from kleene.system.formatting import format_number
from kleene.system.html import Html, card, columns

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["graph_html", "graph_text"]

Array = NDArray[Any]

_FIRST = 6  # arcs in the preview
_SKETCHED = 5000  # arcs up to which there is a sketch


def _size(graph: Graph) -> tuple[str, str, str]:
    """Return how many vertices and arcs, or edges, and of which kind."""
    vertices = f"{graph.n:,} {'vertex' if graph.n == 1 else 'vertices'}"
    if graph.directed:
        return vertices, f"{graph.m:,} arc{'s' * (graph.m != 1)}", "directed"
    return vertices, f"{graph.m // 2:,} edge{'s' * (graph.m // 2 != 1)}", "undirected"


def graph_text(graph: Graph) -> str:
    """Return a graph as one line."""
    if graph.weight_dtype is None:
        weights = "unweighted"
    elif graph.m == 0:
        weights = f"{graph.weight_dtype} weights"
    else:
        low, high = graph.stats.min_weight, graph.stats.max_weight
        weights = f"{graph.weight_dtype} weights {low:.6g} to {high:.6g}"
    vertices, arcs, kind = _size(graph)
    name = f"{graph.name!r}, " if graph.name else ""
    labelled = "" if graph.labels is None else f", {range_of_labels(graph.labels)}"
    where = "" if graph.device == "cpu" else f", on {graph.device}"
    return f"Graph({name}{vertices}, {arcs}, {weights}, {kind}{labelled}{where})"


def graph_html(graph: Graph) -> str:
    """Return a graph as HTML."""
    vertices, arcs, kind = _size(graph)
    name = f"{graph.name}: " if graph.name else ""
    facts = {
        "weights": _weights(graph),
        "vertices": _vertices(graph),
        "degree": f"mean {graph.stats.mean_degree:,.1f}",
    }
    if graph.stats.is_shown("max_degree"):
        facts["degree"] += f", max {graph.stats.max_degree:,}"
    if graph.positions is not None:
        facts["positions"] = _extent(graph.positions)
    if graph.device != "cpu":
        facts["device"] = graph.device
    return card(
        "Graph", f"{name}{vertices}, {arcs}, {kind}", facts, _first_arcs(graph), _sketch(graph)
    )


def _weights(graph: Graph) -> str:
    if graph.weight_dtype is None:
        return "none: every arc counts 1"
    if graph.m == 0:
        return str(graph.weight_dtype)
    low, high = map(format_number, (graph.stats.min_weight, graph.stats.max_weight))
    return f"{graph.weight_dtype}, {low} to {high}"


def _vertices(graph: Graph) -> str:
    if graph.labels is not None:
        return range_of_labels(graph.labels)
    return f"0 to {graph.n - 1}, without labels" if graph.n else "none"


def _extent(positions: Array) -> str:
    if not len(positions):
        return "none"
    (left, low), (right, high) = positions.min(axis=0), positions.max(axis=0)
    return f"x {left:.6g} to {right:.6g}, y {low:.6g} to {high:.6g}"


def _first_arcs(graph: Graph) -> Html | None:
    """Return a table of the first arcs; of an undirected graph, of the first edges."""
    count = min(graph.m, _FIRST if graph.directed else 4 * _FIRST)
    if not count:
        return None
    tails = np.searchsorted(graph.offsets, np.arange(count), side="right") - 1
    heads, weights = _first_heads(graph, tails, count)
    rows = [
        [str(graph.label(u)), str(graph.label(v)), *([] if w is None else [format_number(w)])]
        for u, v, w in zip(tails.tolist(), heads, weights, strict=True)
        if graph.directed or u <= v
    ]
    what = "arcs" if graph.directed else "edges"
    every = graph.m if graph.directed else graph.m // 2
    heading = ["from", "to"] if graph.directed else ["one end", "other end"]
    if graph.weight_dtype is not None:
        heading.append("weight")
    caption = f"first {_FIRST} of {every:,} {what}" if every > _FIRST else what
    return columns(heading, rows[:_FIRST], caption=caption, numbers=[2])


def _first_heads(graph: Graph, tails: Array, count: int) -> tuple[list[int], list[Any]]:
    """Return heads and weights of the first arcs, without making rows of arcs from a matrix."""
    if "neighbors" in graph.__dict__:
        heads, weights = graph.neighbors[:count], graph.weights
        weights = None if weights is None else weights[:count]
    else:
        rows = np.unique(tails)
        matrix = graph.dense[rows]
        is_arc = matrix != no_path(matrix.dtype)
        is_arc[np.arange(len(rows)), rows] = matrix[np.arange(len(rows)), rows] < 0
        heads = np.nonzero(is_arc)[1][:count]
        weights = None if graph.weight_dtype is None else matrix[is_arc][:count]
    return heads.tolist(), [None] * count if weights is None else weights.tolist()


def _sketch(graph: Graph) -> Html | None:
    """Return a small drawing in the colour of the text, if the graph has positions and is small."""
    if not can_be_sketched(graph) or graph.m > _SKETCHED:
        return None
    return Sketch(graph).streets().html("sketch of the graph")
