"""Dense matrices in NumPy's ``.npy``: entry (i, j) is the weight of the arc from i to j.

Infinity (the largest integer of an integer type) means "no arc"; see ``Graph.from_dense``. A graph
in which every vertex has an arc to every other one, some of weight zero, is written with that value
on the diagonal behind its first entry, so that its zeros are read as arcs. Arrays are never
unpickled, and the size in the header is checked against the size of the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import FormatError, GraphError, message_of
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.graph.dense import ambiguous_zeros
from kleene.graph.no_path import no_path
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source
from kleene.system.npy_header import LONGEST_HEADER, MAGIC, NpyHeader, write_header

__all__ = ["NPY"]


def read(source: Source, *, null_value: Any = None, directed: bool = True) -> Graph:
    try:
        header = NpyHeader.parse(source.head(LONGEST_HEADER), source.size)
        if len(header.shape) != 2 or header.shape[0] != header.shape[1]:
            raise GraphError(f"the matrix must be square, but has shape {header.shape}")
        matrix = header.arrange(source.read(header.dtype, header.items, header.length))
        if null_value is None and _zeros_are_arcs(matrix):
            null_value = np.inf
        graph = Graph.from_dense(matrix, null_value)
    except FormatError:
        raise
    except (ValueError, TypeError) as error:
        source.fail(message_of(error))
    graph = graph if directed else graph.symmetrise()
    return graph._derived(graph.csr, name=source.stem)


def write(graph: Graph, sink: Sink) -> None:
    if graph.weights is not None and np.any(graph.coo.sources == graph.neighbors):
        raise GraphError(
            "an .npy matrix has a zero diagonal and cannot hold negative self-loops",
            advice=["use .npz"],
        )
    matrix = graph.dense
    if ambiguous_zeros(matrix):
        require_memory(matrix.nbytes, f"a copy of {graph.n:,} rows", "write .npz")
        matrix = matrix.copy()
        np.fill_diagonal(matrix[1:, 1:], no_path(matrix.dtype))
    write_header(sink.file, matrix.dtype, matrix.shape)
    sink.write(matrix.reshape(-1).view(np.uint8).data)


def _zeros_are_arcs(matrix: NDArray[Any]) -> bool:
    """Return whether the diagonal says so, as :func:`write` does."""
    if matrix.dtype.kind not in "if" or len(matrix) < 2:
        return False
    first, *others = matrix.diagonal().tolist()
    return first == 0 and set(others) == {no_path(matrix.dtype)}


NPY = Format(
    "npy",
    "NumPy .npy",
    (".npy",),
    read,
    write,
    claims=lambda head: head.startswith(MAGIC),
    numbered_from=0,
)
