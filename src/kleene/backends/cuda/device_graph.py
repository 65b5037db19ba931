"""A graph's arrays on a device: copied there when first asked for, and kept as long as they serve.

A call copies what it needs and drops it at the end. A graph that was placed with ``Graph.to`` keeps
its copies, so that later calls find everything there.
"""

from __future__ import annotations

from functools import cached_property
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

__all__ = ["Arcs", "DeviceGraph", "Hubs", "on_device", "place"]


class Arcs(NamedTuple):
    """Arcs by the vertex at one end: int64 offsets, int32 vertices at the other end."""

    offsets: Array
    neighbors: Array


class Hubs(NamedTuple):
    """Vertices with more incoming arcs than a segment has, which several warps look through."""

    vertices: Array  # rising
    first: Array  # number of the first segment of each, and of all
    owner: Array  # whose a segment is: a place among the vertices
    segment: int  # arcs

    @property
    def segments(self) -> int:
        """How many there are."""
        return self.owner.size


class DeviceGraph:
    """The forms of one graph on one device."""

    def __init__(self, graph: Graph, device: Device) -> None:
        if graph.neighbors.dtype != np.int32:
            raise DeviceError(
                f"a graph of {graph.n:,} vertices has ids of 8 bytes, and kernels take 4; "
                "use device='cpu'"
            )
        self.device, self.n, self.m = device, graph.n, graph.m
        self.weighted = graph.weights is not None
        self._graph = proxy(graph)  # a graph keeps its copies, not they the graph
        self._lengths: dict[tuple[str, bool], Array] = {}
        self._padded: dict[str, Array] = {}
        self._matrices: dict[tuple[str, bool], Array] = {}
        self._hubs: dict[int, Hubs] = {}

    @cached_property
    def csr(self) -> Arcs:
        """Outgoing arcs by source."""
        g = self._graph
        return Arcs(self._upload(g.offsets, "offsets"), self._upload(g.neighbors, "neighbors"))

    @cached_property
    def csc(self) -> Arcs:
        """Incoming arcs by target: the outgoing ones, if the graph is undirected."""
        g = self._graph
        if not g.directed:
            return self.csr
        return Arcs(
            self._upload(g.csc.offsets, "incoming offsets"),
            self._upload(g.csc.neighbors, "incoming neighbors"),
        )

    @cached_property
    def tails(self) -> Array:
        """The source of every arc, in the order of the outgoing arcs."""
        return self._upload(self._graph.coo.sources, "tails")

    def lengths(self, dtype: np.dtype[Any], incoming: bool = False) -> Array:
        """Return the arcs' lengths in this type, in the order of ``csr`` or of ``csc``.

        Without weights, each is 1.
        """
        g = self._graph
        incoming = incoming and g.directed
        key = (str(dtype), incoming)
        if key not in self._lengths:
            weights = g.csc.weights if incoming else g.weights
            host = np.ones(g.m, dtype) if weights is None else weights.astype(dtype, copy=False)
            self._lengths[key] = self._upload(host, "lengths")
        return self._lengths[key]

    @cached_property
    def ell(self) -> Array:
        """The heads of arcs, padded with -1: row k has the k-th of every vertex, side by side."""
        return self._upload(np.ascontiguousarray(self._graph.ell.neighbors.T), "padded neighbors")

    def ell_lengths(self, dtype: np.dtype[Any]) -> Array | None:
        """Return the arcs' lengths in the order of ``ell``; None without weights."""
        weights = self._graph.ell.weights
        if weights is None:
            return None
        if str(dtype) not in self._padded:
            host = np.ascontiguousarray(weights.T.astype(dtype, copy=False))
            self._padded[str(dtype)] = self._upload(host, "padded lengths")
        return self._padded[str(dtype)]

    def matrix(self, dtype: np.dtype[Any], weighted: bool = True) -> Array:
        """Return the dense form in this type, "no path" for no arc; arcs are 1 if not weighted."""
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
        """Return the vertices with more incoming arcs than this."""
        if segment not in self._hubs:
            g = self._graph
            degrees = np.diff(g.csc.offsets if g.directed else g.offsets)
            vertices = np.flatnonzero(degrees > segment).astype(np.int32)
            pieces = -(-degrees[vertices] // segment)
            first = np.zeros(len(vertices) + 1, np.int32)
            np.cumsum(pieces, out=first[1:])
            owner = np.repeat(np.arange(len(vertices), dtype=np.int32), pieces)
            self._hubs[segment] = Hubs(
                self._upload(vertices, "hubs"),
                self._upload(first, "first segments"),
                self._upload(owner, "owners"),
                segment,
            )
        return self._hubs[segment]

    def _upload(self, host: HostArray, name: str) -> Array:
        what = f"a graph of {self.n:,} vertices and {self.m:,} arcs"
        require_memory(self.device, host.nbytes, what)
        return self.device.upload(host, name)


def on_device(graph: Graph, device: Device) -> DeviceGraph:
    """Return the graph's arrays on a device: those that are there already, or new ones."""
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
