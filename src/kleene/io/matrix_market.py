"""MatrixMarket ``.mtx``: entry (i, j) of a square matrix is the weight of the arc from i to j.

Rows and columns are numbered from 1, and vertices are labelled so. A ``pattern`` matrix has no
weights, a ``symmetric`` one is an undirected graph. The ``array`` form lists every entry of a dense
matrix, column by column; there infinity means "no arc". See https://math.nist.gov/MatrixMarket/formats.html.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from kleene.errors import FormatError, GraphError, message_of
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.io.build import build_graph, labels_from_one
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source
from kleene.io.text import ColumnLayout, TextReader, VertexNames, excerpt, write_arcs

__all__ = ["MATRIX_MARKET"]

_KNOWN = (
    ("coordinate", "array"),
    ("real", "double", "integer", "pattern"),
    ("general", "symmetric"),
)
_BANNER = "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric"
_CLAIM = re.compile(rb"(?:\xef\xbb\xbf)?%%MatrixMarket\b", re.IGNORECASE)
_REASONS = {
    "complex": "real weights: complex numbers have no order",
    "hermitian": "'general' or 'symmetric': shortest paths need real weights",
    "skew-symmetric": "'general' or 'symmetric': for arcs of opposite weight, write both "
    "triangles as 'general'",
}


class Header(NamedTuple):
    """The first line in lower case."""

    storage: str
    field: str
    symmetry: str


def read(
    source: Source,
    *,
    directed: bool | None = None,
    weighted: bool = True,
    null_value: Any = None,
) -> Graph:
    text = TextReader(source)
    header = _read_header(text)
    undirected = header.symmetry == "symmetric" or directed is False
    if header.storage == "array":
        try:
            graph = Graph.from_dense(_read_array(text, header), null_value)
        except FormatError:
            raise
        except GraphError as error:
            source.fail(message_of(error))
        graph = graph if weighted else graph.reweight(None)
        graph = graph.symmetrise() if undirected else graph
        return graph._derived(graph.csr, labels=labels_from_one(graph.n), name=source.stem)
    n, declared = _read_sizes(text, 3)
    size_line = text.line
    text.skip_line()
    weight = -1 if header.field == "pattern" else 2
    layout = ColumnLayout(0, 1, weight, comments="%", kind=header.field, low=1, high=n, base=1)
    sources, targets, weights, _ = text.arcs(layout)
    if len(sources) != declared:
        text.fail(f"{len(sources)} entries", f"{declared} as declared on this line", size_line)
    text.require_vertices(n, size_line)
    return build_graph(
        source,
        sources,
        targets,
        weights if weighted else None,
        n,
        not undirected,
        labels=labels_from_one(n),
        keep_rows=False,
    )


def _read_header(text: TextReader) -> Header:
    line = text.peek(comments="")
    words = (line or "").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        text.fail_at(line, f"'{_BANNER}'")
    header = Header(*words[2:])
    for word, known in zip(header, _KNOWN, strict=True):
        if word not in known:
            text.fail(excerpt(word.encode()), _REASONS.get(word, " or ".join(known)))
    if header.storage == "array" and header.field == "pattern":
        text.fail("'array pattern'", "'coordinate pattern'")
    text.skip_line()
    return header._replace(field="real") if header.field == "double" else header


def _read_sizes(text: TextReader, count: int) -> tuple[int, int]:
    """Return the size of the square matrix and the last number of the line."""
    line = text.peek(comments="%")
    words = [] if line is None else line.split()
    if len(words) != count or not all(re.fullmatch(r"\d{1,18}", word) for word in words):
        text.fail_at(line, f"the sizes: '<rows> <columns>{' <entries>' * (count == 3)}'")
    rows, columns, *_ = sizes = [int(word) for word in words]
    if rows != columns:
        text.fail(f"{rows} rows and {columns} columns", "a square matrix")
    return rows, sizes[-1]


def _read_array(text: TextReader, header: Header) -> Any:
    n, _ = _read_sizes(text, 2)
    size_line = text.line
    text.skip_line()
    symmetric = header.symmetry == "symmetric"
    declared = n * (n + 1) // 2 if symmetric else n * n
    layout = ColumnLayout(-1, -1, 0, comments="%", kind=header.field)
    values = text.arcs(layout).weights
    assert values is not None
    if len(values) != declared:
        text.fail(f"{len(values)} entries", f"{declared} for {n} rows", size_line)
    if not symmetric:
        return values.reshape(n, n, order="F")
    require_memory(  # the matrix, and the indices of a half
        (values.itemsize + 24) * n * n, f"a matrix of {n:,} rows", "use the coordinate form"
    )
    matrix = np.empty((n, n), dtype=values.dtype)
    columns, rows = np.triu_indices(n)  # the lower triangle, column by column
    matrix[rows, columns] = matrix[columns, rows] = values
    return matrix


def write(graph: Graph, sink: Sink) -> None:
    weights = graph.weights
    field = "pattern" if weights is None else "real" if weights.dtype.kind == "f" else "integer"
    symmetry, directions, entries = "general", "all", graph.m
    if not graph.directed:
        loops = int(np.count_nonzero(graph.coo.sources == graph.neighbors))
        symmetry, directions, entries = "symmetric", "downward", (graph.m + loops) // 2
    sink.write(
        f"%%MatrixMarket matrix coordinate {field} {symmetry}\n"
        f"{graph.n} {graph.n} {entries}\n".encode()
    )
    write_arcs(graph, sink, names=VertexNames(base=1), directions=directions)


MATRIX_MARKET = Format(
    "matrix_market",
    "MatrixMarket .mtx",
    (".mtx", ".mm"),
    read,
    write,
    claims=lambda head: _CLAIM.match(head) is not None,
    text=True,
    numbered_from=1,
)
