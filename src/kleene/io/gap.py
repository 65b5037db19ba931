"""GAP binary ``.sg`` and ``.wsg``: the serialized graphs of the GAP Benchmark Suite.

One byte says whether the graph is directed; then follow the numbers of arcs and vertices (int64),
the offsets (int64) and the neighbours (int32) of the CSR form. In a ``.wsg`` every neighbour is
followed by its weight (int32). A directed graph has the CSC form after the CSR form, in the same
encoding. All numbers are little-endian. See https://github.com/sbeamer/gapbs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, message_of
from kleene.graph import CSC, CSR, Graph
from kleene.graph.forms import adopt
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source

__all__ = ["GAP", "read_header", "separate"]

_HEADER = np.dtype([("directed", "u1"), ("arcs", "<i8"), ("vertices", "<i8")])
_WEIGHTED_ARC = np.dtype([("neighbor", "<i4"), ("weight", "<i4")])


class Header(NamedTuple):
    """The first 17 bytes."""

    directed: int
    arcs: int
    vertices: int

    def size(self, arc_bytes: int) -> int:
        """Return the size in bytes of a file with this header."""
        half = 8 * (self.vertices + 1) + arc_bytes * self.arcs
        return _HEADER.itemsize + half * (1 + self.directed)

    @property
    def offsets_at(self) -> int:
        """The byte at which the offsets begin."""
        return _HEADER.itemsize

    @property
    def arcs_at(self) -> int:
        """The byte at which the neighbours begin."""
        return _HEADER.itemsize + 8 * (self.vertices + 1)


def read_header(source: Source) -> tuple[Header, np.dtype[Any]]:
    """Return the header, which fits the size of the file, and the type of an arc."""
    if source.size < _HEADER.itemsize:
        source.fail(f"found {source.size} bytes, expected a header of {_HEADER.itemsize}")
    header = Header(*source.read(_HEADER, 1, 0)[0].tolist())
    if header.directed > 1 or header.arcs < 0 or header.vertices < 0:
        source.fail(f"found the header {tuple(header)}, expected directed (0 or 1), arcs, vertices")
    # Without arcs both sizes are equal, and the suffix decides.
    guesses = (True, False) if source.suffix == ".wsg" else (False, True)
    fits = [w for w in guesses if header.size(8 if w else 4) == source.size]
    if not fits:
        source.fail(
            f"found {source.size:,} bytes, expected {header.size(4):,} (unweighted) or "
            f"{header.size(8):,} (weighted) for {header.vertices:,} vertices and "
            f"{header.arcs:,} arcs"
        )
    return header, _WEIGHTED_ARC if fits[0] else np.dtype("<i4")


def separate(arcs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the neighbours and the weights of arcs as they are in a file."""
    if arcs.dtype != _WEIGHTED_ARC:
        return arcs.astype(np.int32, copy=False), None
    return arcs["neighbor"].astype(np.int32), arcs["weight"].astype(np.int32)


def read(source: Source) -> Graph:
    header, arc = read_header(source)
    source.require_buffer(2 * source.size)  # weights are separated from neighbours
    offsets = source.read(np.dtype("<i8"), header.vertices + 1, header.offsets_at)
    neighbors, weights = separate(source.read(arc, header.arcs, header.arcs_at))
    try:
        return Graph.from_csr(
            adopt(offsets.astype(np.int64, copy=False)),
            adopt(neighbors),
            adopt(weights),
            directed=bool(header.directed),
            name=source.stem,
        )
    except GraphError as error:
        source.fail(message_of(error))


def write(graph: Graph, sink: Sink) -> None:
    weights = graph.weights
    if graph.n >= 2**31:
        raise GraphError("GAP files hold at most 2^31 - 1 vertices", advice=["use .npz"])
    if weights is not None and (
        weights.dtype.kind == "f" or np.any(weights != weights.astype(np.int32))
    ):
        raise GraphError(
            "GAP files hold int32 weights only", advice=["reweight the graph or use .npz"]
        )
    header = np.array([(graph.directed, graph.m, graph.n)], dtype=_HEADER)
    sink.write(header.tobytes())
    _write_half(graph.csr, sink)
    if graph.directed:
        _write_half(graph.csc, sink)


def _write_half(half: CSR | CSC, sink: Sink) -> None:
    sink.write(half.offsets.astype("<i8").data)
    if half.weights is None:
        sink.write(half.neighbors.astype("<i4").data)
        return
    arcs = np.empty(len(half.neighbors), dtype=_WEIGHTED_ARC)
    arcs["neighbor"], arcs["weight"] = half.neighbors, half.weights
    sink.write(arcs.tobytes())


GAP = Format("gap", "GAP .sg/.wsg", (".sg", ".wsg"), read, write, numbered_from=0)
