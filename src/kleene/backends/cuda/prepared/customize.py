"""New weights for a prepared graph on a GPU; kernels in ``kernels/prepared/prepared_customize.cu``.

Cost on highways (2.4 M pairs, 14.3 M triangles): the longest chain of pieces, from a leaf to the
root of the elimination tree, has 318 vertices with some thousand triangles each, relaxed by one
block; all else overlaps with it. Weights go to the device and values come back at the rate of the
bus, 7 MB and 19 MB.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from kleene.backends.cuda.answer import to_host
from kleene.backends.cuda.prepared.layout import (
    DeviceElimination,
    PairArrays,
    place_elimination,
    variant,
)
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, Kernel, ceil_div
from kleene.backends.cuda.runtime.structs import Struct, constant, struct_type
from kleene.backends.task import Progress
from kleene.graph import Graph
from kleene.prepared import customization as on_host
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination

__all__ = ["Work", "customize"]

_FILE = "prepared_customize"
_REACH_FILE = "prepared_reach"
_TRIANGLE_THREADS = constant(_FILE, "kCustomizeThreads")
_REACH_THREADS = constant(_REACH_FILE, "kReachThreads")
_THREADS = constant(_FILE, "kRowThreads")
_LOOP, _UNKNOWN = constant(_FILE, "kLoop"), constant(_FILE, "kUnknown")


def customize(
    elimination: Elimination,
    graph: Graph,
    semiring: str = "min_plus",
    *,
    dtype: DTypeLike,
    device: str = "cuda",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Customization:
    """Return the values of all pairs for the weights of a graph; they stay on the device too.

    The parameters are those of :func:`kleene.prepared.customization.customize`, which takes over
    where a cycle seems negative or the graph has other arcs: it looks whether that is rounding, and
    reports what is wrong.
    """
    answer, there = np.dtype(dtype), open_device(device)
    work = Work(elimination, graph, semiring, there)
    found: PairArrays | None = None
    if work.possible:
        found = _values(work, graph, answer)
    if found is None or work.negative_cycle:
        return on_host.customize(
            elimination, graph, semiring, dtype=dtype, threads=threads, progress=progress
        )
    up = to_host(there, found.up)
    down = up if found.down is found.up else to_host(there, found.down)
    negative = graph.weights is not None and answer.kind != "b" and bool(graph.stats.negative)
    made = Customization(semiring, answer, negative, up, down, graph)
    work.placed.keep_values(made, found)
    return made


def _values(work: Work, graph: Graph, answer: np.dtype[Any]) -> PairArrays:
    """Return values in the type that answers need: lengths in 32 bits where these suffice."""
    if answer.kind == "b":
        return work.values(np.uint8)
    if work.semiring != "min_plus" or answer.kind != "i":
        return work.values(answer)
    found = on_host.narrow_values(graph, work.values, work.reach)
    return work.values(np.int64) if found is None else found


class Arcs(NamedTuple):
    """The pairs of the arcs of a graph, on the device."""

    offsets: HostArray  # of the graph
    neighbors: HostArray
    places: Array
    odd: int  # kLoop, kUnknown

    def are_of(self, graph: Graph) -> bool:
        """Return whether the graph has the same arrays, whatever its weights."""
        return self.offsets is graph.offsets and self.neighbors is graph.neighbors


def _find_arcs(placed: DeviceElimination, graph: Graph) -> Arcs:
    """Return the pairs of a graph's arcs; those of the last graph are kept."""
    kept: Arcs | None = placed.arcs
    if kept is not None and kept.are_of(graph):
        return kept
    device, macros = placed.device, variant("min_plus", np.dtype(np.int32))
    places = device.empty(graph.m, np.int64, "pairs of arcs")
    odd = device.zeros(1, np.int32, "odd arcs")
    params = struct_type(_FILE, "PlaceParams").pack(
        tails=device.upload(graph.coo.sources, "tails"),
        graph_heads=device.upload(graph.neighbors, "neighbors"),
        arcs=graph.m,
        ranks=placed.ranks,
        offsets=placed.offsets,
        heads=placed.heads,
        places=places,
        odd=odd,
    )
    _launch_over(device.kernels(_FILE, **macros)["prepared_places"], graph.m, params)
    found = Arcs(graph.offsets, graph.neighbors, places, int(device.download(odd)[0]))
    placed.arcs = found
    return found


class Pending(NamedTuple):
    """Arrays on the device that the kernels read and fill."""

    weights: Array | None
    values: PairArrays
    negative: Array  # is there a negative cycle?


class Work:
    """The kernels for one graph."""

    def __init__(
        self, elimination: Elimination, graph: Graph, semiring: str, device: Device
    ) -> None:
        self.placed, self.semiring = place_elimination(elimination, device), semiring
        self._weights, self._symmetric = graph.weights, not graph.directed
        self.negative_cycle = False
        refused = _UNKNOWN | (_LOOP if semiring == "min_plus" else 0)  # loops are negative
        self.possible = False
        if elimination.n == graph.n and graph.neighbors.dtype == np.int32:
            self._arcs = _find_arcs(self.placed, graph)
            self.possible = self._arcs.odd & refused == 0

    def values(self, dtype: DTypeLike) -> PairArrays:
        """Return the values of all pairs in this type."""
        pending = self.prepare(np.dtype(dtype))
        device = self.placed.device
        with device.timer.span("compute", device.main):
            self.launch(pending)
        self.negative_cycle |= bool(device.download(pending.negative)[0])
        return pending.values

    def prepare(self, dtype: np.dtype[Any]) -> Pending:
        """Send the weights to the device, and allocate what the kernels fill."""
        device, pairs, weights = self.placed.device, self.placed.pairs, None
        if self._weights is not None and dtype != np.uint8:
            weights = device.upload(self._weights.astype(dtype, copy=False), "weights")
        up = device.empty(pairs, dtype, "values, up")
        down = up if self._symmetric else device.empty(pairs, dtype, "values, down")
        negative = device.zeros(1, np.int32, "negative cycle")
        return Pending(weights, PairArrays(up, down), negative)

    def launch(self, pending: Pending) -> None:
        """Launch the kernels; does not wait."""
        placed, (up, down) = self.placed, pending.values
        macros = variant(self.semiring, up.dtype)
        kernels = placed.device.kernels(_FILE, **macros)
        places = self._arcs.places
        _launch_over(kernels["prepared_clear"], placed.pairs, up, down, placed.pairs)
        arcs = (places, pending.weights, places.size, up, down)
        _launch_over(kernels["prepared_arcs"], places.size, *arcs)
        params = self._triangle_params(macros, up, down, pending.negative)
        _launch_pieces(kernels["prepared_triangles"], placed, _TRIANGLE_THREADS, params)

    def _triangle_params(
        self, macros: dict[str, str | int], up: Array, down: Array, negative: Array
    ) -> Struct:
        placed, device = self.placed, self.placed.device
        return struct_type(_FILE, "TriangleParams", **macros).pack(
            vertices=placed.vertices,
            levels=placed.levels,
            piece_levels=placed.piece_levels,
            piece_parents=placed.piece_parents,
            piece_children=placed.piece_children,
            offsets=placed.offsets,
            heads=placed.heads,
            up=up,
            down=down,
            taken=device.zeros(1, np.uint32, "taken pieces"),
            finished=device.zeros(placed.pieces, np.uint32, "finished children"),
            negative=negative,
            pieces=placed.pieces,
        )

    def reach(self, values: PairArrays) -> tuple[int, int]:
        """Return how long paths over the roots are at most, and the vertices apart from them."""
        placed, device = self.placed, self.placed.device
        macros = variant(self.semiring, values.up.dtype)
        found = device.zeros(1, struct_type(_REACH_FILE, "Reach").dtype, "reach")
        params = struct_type(_REACH_FILE, "ReachParams", **macros).pack(
            vertices=placed.vertices,
            levels=placed.levels,
            piece_levels=placed.piece_levels,
            piece_parents=placed.piece_parents,
            heads=placed.heads,
            up=values.up,
            down=values.down,
            ways_to=device.empty(placed.n, np.int64, "ways to roots"),
            ways_from=device.empty(placed.n, np.int64, "ways from roots"),
            taken=device.zeros(1, np.uint32, "taken pieces"),
            finished=device.zeros(placed.pieces, np.uint32, "finished pieces"),
            reach=found,
            pieces=placed.pieces,
        )
        kernel = device.kernels(_REACH_FILE, **macros)["prepared_reach"]
        _launch_pieces(kernel, placed, _REACH_THREADS, params)
        reach = device.download(found)[0]
        return int(reach["farthest_to"] + reach["farthest_from"]), int(reach["apart"])


def _launch_over(kernel: Kernel, threads: int, *args: Any) -> None:
    if threads > 0:
        kernel.launch((ceil_div(threads, _THREADS),), (_THREADS,), args)


def _launch_pieces(kernel: Kernel, placed: DeviceElimination, threads: int, params: Struct) -> None:
    """Launch blocks that take pieces and wait for each other; all are resident."""
    if placed.pieces > 0:
        blocks = min(placed.pieces, kernel.resident_blocks(threads))
        kernel.launch((blocks,), (threads,), (params,), cooperative=True)
