"""What readers share: how a column is recognised, and the graph of what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, RequestError, message_of
from kleene.graph import Graph
from kleene.graph.checks import id_dtype
from kleene.graph.construct import from_directions
from kleene.graph.derive import as_directions
from kleene.graph.missing import CompleteRows
from kleene.graph.positions import oriented
from kleene.graph.rows import Lines
from kleene.graph.weight_names import NumbersLeft, keeping_numbers_left
from kleene.io.source import Source

__all__ = [
    "X_NAMES",
    "Y_NAMES",
    "build_graph",
    "directions_of",
    "labels_from_one",
    "weight_options",
]

Array = NDArray[Any]

#: Names of columns and attributes, in lower case; x and y of a pair agree.
X_NAMES = ("x", "lon", "longitude", "lng", "xcoord")
Y_NAMES = ("y", "lat", "latitude", "lat", "ycoord")


def labels_from_one(n: int) -> Array:
    """Return the labels 1 .. n, of a file that numbers its vertices from 1."""
    return np.arange(1, n + 1, dtype=id_dtype(n))


def weight_options(
    weight: str | None, weighted: bool | None, columns: Sequence[str | int] | None = None
) -> tuple[str | None, bool | None]:
    """Return the name of the weight, if one is given, and whether there must be weights.

    ``weight`` is "auto", a name, or None for no weights; it is checked against ``weighted`` and
    ``columns``, which may say the same.
    """
    if weight == "auto":
        return None, weighted
    named = columns is not None and len(columns) > 2
    if weighted is (weight is None) or (weight is not None and named):
        raise RequestError(
            Code(f"weight={weight!r}"),
            " contradicts ",
            Code("weighted="),
            " or ",
            Code("columns="),
            advice=["give one of them"],
        )
    return weight, weight is not None


def directions_of(source: Source, codes: Array, words: Sequence[Any], name: str) -> Array:
    """Return the direction of each row from the code of its word in a column such as "oneway"."""
    try:
        meanings = as_directions(np.array(words, dtype=object), name)
    except GraphError as error:
        source.fail(message_of(error))
    return meanings[codes]


def build_graph(
    source: Source,
    sources: Array,
    targets: Array,
    weights: Array | None,
    n: int | None,
    directed: bool | Array,
    *,
    labels: Any = None,
    positions: Array | None = None,
    lines: Lines | None = None,
    keep_rows: bool = True,
    left: NumbersLeft | None = None,
    complete: CompleteRows | None = None,
) -> Graph:
    """Return the graph of edges that were read.

    ``directed`` is one for all edges, or an array with the direction of each: 1 from source to
    target, -1 from target to source, 0 for both. ``left`` are columns that may be weights,
    ``complete`` the rows that these edges are, if others were left out.
    """
    try:
        if isinstance(directed, np.ndarray):
            graph = from_directions(
                Graph, sources, targets, weights, n, directed, labels, source.stem, keep_rows,
                source.threads,
            )  # fmt: skip
        else:
            graph = Graph.from_edges(
                sources, targets, weights, n, directed, labels=labels, name=source.stem,
                keep_rows=keep_rows, threads=source.threads,
            )  # fmt: skip
        if positions is not None:
            graph = graph.with_positions(positions)
    except GraphError as error:
        source.fail(message_of(error))
    if lines is not None and graph.rows is not None:
        if graph.positions is not None:
            lines = oriented(lines, graph.positions, sources, targets)
        graph = graph._derived(graph.csr, rows=graph.rows.with_lines(lines))
    graph = graph if complete is None else complete.numbering(graph)
    return keeping_numbers_left(graph, left)
