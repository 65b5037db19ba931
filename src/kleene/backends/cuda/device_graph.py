"""The arrays of a graph on a device, copied on first use.

A call copies what it needs and frees it at the end. A graph placed with ``Graph.to`` keeps its
copies for later calls.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import proxy

import numpy as np

from kleene.backends.cuda.runtime.device import (
    Array,
    Device,
    HostArray,
    open_device,
    require_memory,
)
from kleene.errors import DeviceError
from kleene.graph import Graph
from kleene.graph.forms import CSR, csr_to_dense
from kleene.graph.no_path import no_path
from kleene.system.cached_property import cached_property

__all__ = ["Arcs", "DeviceGraph", "Hubs", "get_device_graph", "place"]


class Arcs(NamedTuple):
    """Arcs grouped by one endpoint: int64 offsets, int32 other endpoints."""

    offsets: Array
    neighbors: Array


class Hubs(NamedTuple):
    """Vertices with more incoming arcs than one segment; several warps process each."""

    vertices: Array  # ascending
    first: Array  # first segment of each hub, then the number of segments
    segment_hub: Array  # index of the hub of each segment
    segment: int  # arcs of a segment

    @property
    def segments(self) -> int:
        """Number of segments."""
        return self.segment_hub.size


class DeviceGraph:
    """The forms of one graph on one device."""

    def __init__(self, graph: Graph, device: Device) -> None:
        if graph.neighbors.dtype != np.int32:
            raise DeviceError(
                f"a graph of {graph.n:,} vertices has 64-bit ids, and kernels take 32-bit ids; "
                "use device='cpu'"
            )
        self.device, self.n, self.m = device, graph.n, graph.m
        self.weighted = graph.weights is not None
        self._graph = proxy(graph)  # the graph owns its copies; no reference cycle
        self._lengths: dict[tuple[str, bool], Array] = {}
        self._padded: dict[str, Array] = {}
        self._matrices: dict[tuple[str, bool], Array] = {}
        self._hubs: dict[int, Hubs] = {}

    @cached_property
    def csr(self) -> Arcs:
        """Outgoing arcs by tail."""
        g = self._graph
        return Arcs(self._upload(g.offsets, "offsets"), self._upload(g.neighbors, "neighbors"))

    @cached_property
    def csc(self) -> Arcs:
        """Incoming arcs by head; of a symmetric graph, the outgoing ones."""
        g = self._graph
        if g.csc.neighbors is g.neighbors:
            return self.csr
        return Arcs(
            self._upload(g.csc.offsets, "incoming offsets"),
            self._upload(g.csc.neighbors, "incoming neighbors"),
        )

    @cached_property
    def tails(self) -> Array:
        """The tail of every arc, in the order of ``csr``."""
        return self._upload(self._graph.coo.sources, "tails")

    def lengths(self, dtype: np.dtype[Any], incoming: bool = False) -> Array:
        """Return arc lengths in the order of ``csr`` or ``csc``; all 1 without weights."""
        g = self._graph
        incoming = incoming and g.csc.neighbors is not g.neighbors
        key = (str(dtype), incoming)
        if key not in self._lengths:
            weights = g.csc.weights if incoming else g.weights
            host = np.ones(g.m, dtype) if weights is None else weights.astype(dtype, copy=False)
            self._lengths[key] = self._upload(host, "lengths")
        return self._lengths[key]

    @cached_property
    def ell(self) -> Array:
        """Heads in ELL form, padded with -1: row k holds the k-th arc of every vertex."""
        return self._upload(np.ascontiguousarray(self._graph.ell.neighbors.T), "padded neighbors")

    def ell_lengths(self, dtype: np.dtype[Any]) -> Array | None:
        """Return arc lengths in the order of ``ell``; None without weights."""
        weights = self._graph.ell.weights
        if weights is None:
            return None
        if str(dtype) not in self._padded:
            host = np.ascontiguousarray(weights.T.astype(dtype, copy=False))
            self._padded[str(dtype)] = self._upload(host, "padded lengths")
        return self._padded[str(dtype)]

    def matrix(self, dtype: np.dtype[Any], weighted: bool = True) -> Array:
        """Return the dense matrix of this type; no_path for no arc, 1 for unweighted arcs."""
        g = self._graph
        weighted = weighted and self.weighted
        key = (str(dtype), weighted)
        if key not in self._matrices:
            g.require_dense(dtype)
            lengths = g.weights.astype(dtype, copy=False) if weighted else None
            csr = CSR(g.offsets, g.neighbors, lengths)
            self._matrices[key] = self._upload(
                csr_to_dense(csr, dtype, no_path(dtype), 0), "matrix"
            )
        return self._matrices[key]

    def hubs(self, segment: int) -> Hubs:
        """Return the vertices with more incoming arcs than a segment."""
        if segment not in self._hubs:
            g = self._graph
            degrees = np.diff(g.csc.offsets if g.directed else g.offsets)
            vertices = np.flatnonzero(degrees > segment).astype(np.int32)
            pieces = -(-degrees[vertices] // segment)
            first = np.zeros(len(vertices) + 1, np.int32)
            np.cumsum(pieces, out=first[1:])
            segment_hub = np.repeat(np.arange(len(vertices), dtype=np.int32), pieces)
            self._hubs[segment] = Hubs(
                self._upload(vertices, "hubs"),
                self._upload(first, "first segments"),
                self._upload(segment_hub, "segment hubs"),
                segment,
            )
        return self._hubs[segment]

    def _upload(self, host: HostArray, name: str) -> Array:
        what = f"a graph of {self.n:,} vertices and {self.m:,} arcs"
        require_memory(self.device, host.nbytes, what)
        return self.device.upload(host, name)


def get_device_graph(graph: Graph, device: Device) -> DeviceGraph:
    """Return the placed copy of a graph if it is on this device, else a new one."""
    placed = graph.placed
    if isinstance(placed, DeviceGraph) and placed.device is device:
        return placed
    return DeviceGraph(graph, device)


def place(graph: Graph, kind: str) -> DeviceGraph:
    """Copy the outgoing arcs and their weights to a device."""
    there = DeviceGraph(graph, open_device(kind))
    _ = there.csr
    if graph.weights is not None:
        there.lengths(graph.weights.dtype)
    there.device.synchronize()
    return there
