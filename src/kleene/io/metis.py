"""METIS ``.graph``: line i lists the neighbours of vertex i, numbered from 1; undirected.

The header is ``<vertices> <edges> [<fmt> [<ncon>]]``. The digits of fmt say whether lines carry
the vertex's size, its ncon weights, and the weight of each edge; sizes and weights of vertices are
skipped. ``%`` starts a comment. See the METIS manual, section 4.1.1.
"""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, Text
from kleene.graph import Graph
from kleene.io.build import labels_from_one
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source
from kleene.io.text import TextReader, write_rows

__all__ = ["METIS"]

_HEADER = re.compile(r"\s*(\d{1,18})\s+(\d{1,18})(?:\s+([01]{1,3})(?:\s+(\d{1,3}))?)?\s*")


def read(source: Source, *, weighted: bool = True) -> Graph:
    text = TextReader(source)
    line = text.peek(comments="%")
    header = _HEADER.fullmatch(line or "")
    if header is None:
        text.fail_at(line, "the header '<vertices> <edges> [<fmt> [<ncon>]]'")
    n, declared = int(header[1]), int(header[2])
    sizes, vertex_weights, edge_weights = (digit == "1" for digit in (header[3] or "").zfill(3))
    skipped = sizes + vertex_weights * int(header[4] or 1)
    header_line = text.line
    text.skip_line()
    offsets, neighbors, weights = text.rows(n, skipped, edge_weights, "%")
    if len(neighbors) != 2 * declared:
        found = f"{len(neighbors)} neighbours"
        text.fail(found, f"{2 * declared}, two for each of the {declared} edges", header_line)
    graph = Graph.from_csr(offsets, neighbors, weights if weighted else None)
    if not graph.stats.symmetric:
        _fail_asymmetric(text, graph)
    return Graph(graph.csr, directed=False, labels=labels_from_one(n), name=source.stem)


def _fail_asymmetric(text: TextReader, graph: Graph) -> NoReturn:
    """Raise the error for an edge that is missing, or has another weight, at its other end."""
    sources, targets, weights = graph.coo
    forth = sources.astype(np.int64) * graph.n + targets  # in increasing order
    back = targets.astype(np.int64) * graph.n + sources
    lone = ~np.isin(forth, back)
    if lone.any():
        v, u = _edge(graph, lone)
        text.fail(f"edge {v} - {u}", f"it on the line of vertex {u} too", _line_of_vertex(text, v))
    assert weights is not None
    differs = weights != weights[np.argsort(back)]
    v, u = _edge(graph, differs)
    text.fail(
        f"weight {weights[differs][0]} for edge {v} - {u}",
        f"the same weight as on the line of vertex {u}",
        _line_of_vertex(text, v),
    )


def _edge(graph: Graph, which: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the ends, numbered from 1, of the first of these arcs."""
    at = int(np.argmax(which))
    return int(graph.coo.sources[at]) + 1, int(graph.coo.targets[at]) + 1


def _line_of_vertex(text: TextReader, v: int) -> int:
    """Return the line number of vertex v; the text is positioned after the header."""
    lines = text.data[text.offset :].tobytes().split(b"\n")
    rows = [i for i, line in enumerate(lines) if not line.lstrip().startswith(b"%")]
    return text.line + rows[v - 1]


def write(graph: Graph, sink: Sink) -> None:
    weights = graph.weights
    if graph.directed:
        raise GraphError(
            "METIS files hold undirected graphs only",
            advice=[Text("use ", Code("graph.symmetrise()")), "another format"],
        )
    if weights is not None and (weights.dtype.kind == "f" or weights.min(initial=1) < 1):
        raise GraphError(
            "METIS files hold positive integer weights only",
            advice=["reweight the graph or use another format"],
        )
    fmt = "" if weights is None else " 001"
    sink.write(f"{graph.n} {graph.m // 2}{fmt}\n".encode())
    write_rows(graph, sink)


METIS = Format(
    "metis", "METIS .graph", (".graph", ".metis"), read, write, text=True, numbered_from=1
)
