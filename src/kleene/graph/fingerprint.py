"""What a file keeps to recognize the graph that it belongs to."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from kleene.graph.no_path import no_path

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["fingerprint"]

_BLOCK = 2**22  # entries of a matrix that are looked at together


def fingerprint(graph: Graph) -> list[int]:
    """Return the numbers of vertices and arcs, and a checksum of arcs and weights.

    A graph that is a matrix gets the same numbers, without its arcs being made: these may take
    twice the memory of the matrix.
    """
    check = 0
    for array in graph.csr if "neighbors" in graph.__dict__ else _matrix_arrays(graph):
        if array is not None:
            check = zlib.crc32(np.ascontiguousarray(array).data, check)
    return [graph.n, graph.m, check]


def _matrix_arrays(graph: Graph) -> Iterator[NDArray[Any]]:
    """Yield the arrays of the CSR form of a matrix, in parts."""
    matrix, n = graph.dense, graph.n
    step = max(1, _BLOCK // max(1, n))

    def blocks() -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
        for first in range(0, n, step):
            block = matrix[first : first + step]
            arcs = block != no_path(matrix.dtype)
            rows = np.arange(len(block))
            arcs[rows, first + rows] = block[rows, first + rows] < 0
            yield block, arcs

    yield graph.offsets
    columns = np.arange(n, dtype=np.int32)
    if n > 1 and graph.m == n * (n - 1) and not (matrix.diagonal() < 0).any():
        # All arcs are there: those between two entries of the diagonal are n in a row.
        arrays = [sliding_window_view(np.concatenate((columns, columns)), n)[1:n]]
        if graph.weight_dtype is not None:
            arrays.append(matrix.reshape(-1)[1:].reshape(n - 1, n + 1)[:, :-1])
        for array in arrays:
            yield from (array[first : first + step] for first in range(0, n - 1, step))
        return
    for _, arcs in blocks():
        yield np.broadcast_to(columns, arcs.shape)[arcs]
    if graph.weight_dtype is not None:
        for block, arcs in blocks():
            yield block[arcs]
