"""Dense matrices in NumPy's ``.npy``: entry (i, j) is the weight of the arc from i to j.

Infinity (the largest integer of an integer type) means "no arc"; see ``Graph.from_dense``. Arrays
are never unpickled, and the size in the header is checked against the size of the file.
"""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import FormatError, GraphError
from kleene.graph import Graph
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source

__all__ = ["NPY", "array_from_npy"]

_MAGIC = b"\x93NUMPY"


def array_from_npy(data: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the array that the bytes of an ``.npy`` file hold, without copying it.

    Raises ValueError, saying what was found and what was expected.
    """
    file = io.BytesIO(data[: 1 << 16].tobytes())
    try:
        version = np.lib.format.read_magic(file)
        reader = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        shape, fortran_order, dtype = reader[version[0]](file)
    except Exception as error:  # a damaged header makes NumPy raise many types
        raise ValueError("found a damaged header, expected the header of an .npy file") from error
    if dtype.hasobject:
        raise ValueError("found Python objects, expected numbers (Kleene never unpickles objects)")
    count = math.prod(shape)
    size = len(data) - file.tell()
    if any(length < 0 for length in shape) or count * dtype.itemsize != size:
        raise ValueError(f"found {size:,} bytes of data, expected {shape} of {dtype}")
    if count == 0:
        return np.empty(shape, dtype)
    array = np.frombuffer(data, dtype, count, file.tell())
    return array.reshape(shape, order="F" if fortran_order else "C")


def read(source: Source, *, null_value: Any = None, directed: bool = True) -> Graph:
    try:
        graph = Graph.from_dense(array_from_npy(source.data), null_value)
    except FormatError:
        raise
    except ValueError as error:
        source.fail(str(error))
    graph = graph if directed else graph.symmetrise()
    return Graph(graph.csr, graph.directed, name=source.stem)


def write(graph: Graph, sink: Sink) -> None:
    if graph.weights is not None and np.any(graph.coo.sources == graph.neighbors):
        raise GraphError(
            "an .npy matrix has a zero diagonal and cannot hold negative self-loops; use .npz"
        )
    np.lib.format.write_array(sink.file, graph.dense, allow_pickle=False)


NPY = Format(
    "npy", "NumPy .npy", (".npy",), read, write, claims=lambda head: head.startswith(_MAGIC)
)
