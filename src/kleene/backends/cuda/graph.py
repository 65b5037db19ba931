"""The arrays of a graph on a device, copied on first use.

A call copies what it needs and frees it at the end. A graph placed with ``Graph.to`` keeps its
copies for later calls, and the buffers of searches with them, until their memory is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, TypeVar
from weakref import proxy

import numpy as np

from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, require_memory
from kleene.backends.cuda.tuning import transfers
from kleene.errors import Code, DeviceError
from kleene.graph import Graph
from kleene.graph.forms import CSR, csr_to_dense
from kleene.graph.no_path import no_path
from kleene.system.cached_property import cached_property
from kleene.system.live_set import LiveSet

__all__ = [
    "Arcs", "DeviceGraph", "Hubs", "Placed", "calls_of_a_device", "deriving", "free_idle",
    "get_device_graph", "idle_bytes", "place",
]  # fmt: skip

T = TypeVar("T")


class Arcs(NamedTuple):
    """Arcs grouped by one endpoint: int64 offsets, int32 other endpoints."""

    offsets: Array
    neighbors: Array


class Hubs(NamedTuple):
    """Vertices with more arcs of one direction than a segment; several warps process each."""

    vertices: Array  # ascending
    first: Array  # first segment of each hub, then the number of segments
    segment_hub: Array  # index of the hub of each segment
    segment: int  # arcs of a segment

    @property
    def segments(self) -> int:
        """Number of segments."""
        return self.segment_hub.size


_PLACED: LiveSet[Placed] = LiveSet()


class Placed:
    """What is on a device, with the searches that wait there for a call.

    Every step is atomic, so that threads need no lock.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.nbytes = 0  # of what is there, but not of the searches
        self._idle: dict[Hashable, list[Any]] = {}  # by their keys
        _PLACED.add(self)

    def take_idle(self, key: Hashable) -> Any | None:
        """Return a search that waits under this key, None if there is none."""
        waiting = self._idle.get(key)
        try:
            return waiting.pop() if waiting else None
        except IndexError:  # another thread was first
            return None

    def keep_idle(self, key: Hashable, search: Any) -> None:
        """Let a search wait for the next call with this key; few keys are kept, the newest."""
        waiting = self._idle.setdefault(key, [])
        if len(waiting) < transfers.IDLE_SEARCHES:
            waiting.append(search)
        if len(self._idle) > transfers.IDLE_KEYS:
            for oldest in list(self._idle)[: -transfers.IDLE_KEYS]:
                self._idle.pop(oldest, None)

    @property
    def idle_bytes(self) -> int:
        """Bytes of the searches that wait."""
        waiting = list(self._idle.values())
        return sum(search.nbytes for searches in waiting for search in list(searches))

    def free_idle(self) -> None:
        """Free the searches that wait."""
        self._idle.clear()


class DeviceGraph(Placed):
    """The forms of one graph on one device."""

    def __init__(self, graph: Graph, device: Device) -> None:
        if graph.neighbors.dtype != np.int32:
            raise DeviceError(
                f"a graph of {graph.n:,} vertices has 64-bit ids, and kernels take 32-bit "
                "ids; use ",
                Code("device='cpu'"),
            )
        super().__init__(device)
        self.n, self.m = graph.n, graph.m
        self.weighted = graph.weights is not None
        self._graph = proxy(graph)  # the graph owns its copies; no reference cycle
        self._lengths: dict[tuple[str, bool], Array] = {}
        self._padded: dict[str, Array] = {}
        self._matrices: dict[tuple[str, bool], Array] = {}
        self._hubs: dict[tuple[int, bool], Hubs] = {}
        self._prepared: dict[str, Any] = {}

    @cached_property
    def csr(self) -> Arcs:
        """Outgoing arcs by tail."""
        g, neighbors = self._graph, self._form("neighbors")
        return Arcs(self._upload(g.offsets, "offsets"), self._upload(neighbors, "neighbors"))

    @cached_property
    def csc(self) -> Arcs:
        """Incoming arcs by head; of a symmetric graph, the outgoing ones."""
        csc = self._form("csc")
        if csc.neighbors is self._graph.neighbors:
            return self.csr
        return Arcs(
            self._upload(csc.offsets, "incoming offsets"),
            self._upload(csc.neighbors, "incoming neighbors"),
        )

    @cached_property
    def tails(self) -> Array:
        """The tail of every arc, in the order of ``csr``."""
        return self._upload(self._form("coo").sources, "tails")

    def lengths(self, dtype: np.dtype[Any], incoming: bool = False) -> Array:
        """Return arc lengths in the order of ``csr`` or ``csc``; all 1 without weights."""
        g = self._graph
        incoming = incoming and self._form("csc").neighbors is not g.neighbors
        key = (str(dtype), incoming)
        if key not in self._lengths:
            weights = g.csc.weights if incoming else g.weights
            host = np.ones(g.m, dtype) if weights is None else weights.astype(dtype, copy=False)
            self._lengths[key] = self._upload(host, "lengths")
        return self._lengths[key]

    @cached_property
    def ell(self) -> Array:
        """Heads in ELL form, padded with -1: row k holds the k-th arc of every vertex."""
        neighbors = np.ascontiguousarray(self._form("ell").neighbors.T)
        return self._upload(neighbors, "padded neighbors")

    def ell_lengths(self, dtype: np.dtype[Any]) -> Array | None:
        """Return arc lengths in the order of ``ell``; None without weights."""
        weights = self._form("ell").weights
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

    def hubs(self, segment: int, outgoing: bool = False) -> Hubs:
        """Return the vertices with more incoming, or outgoing, arcs than a segment."""
        g = self._graph
        key = (segment, outgoing and g.directed)
        if key not in self._hubs:
            by_head = g.directed and not outgoing
            degrees = np.diff(self._form("csc").offsets if by_head else g.offsets)
            vertices = np.flatnonzero(degrees > segment).astype(np.int32)
            pieces = -(-degrees[vertices] // segment)
            first = np.zeros(len(vertices) + 1, np.int32)
            np.cumsum(pieces, out=first[1:])
            segment_hub = np.repeat(np.arange(len(vertices), dtype=np.int32), pieces)
            self._hubs[key] = Hubs(
                self._upload(vertices, "hubs"),
                self._upload(first, "first segments"),
                self._upload(segment_hub, "segment hubs"),
                segment,
            )
        return self._hubs[key]

    def prepared(self, name: str, make: Callable[[], T]) -> T:
        """Return what a method derives from the graph; it is made once."""
        if name not in self._prepared:
            before = self.device.allocated
            self._prepared.setdefault(name, make())  # the first value stays if threads race
            self.nbytes += self.device.allocated - before
        value: T = self._prepared[name]
        return value

    def _form(self, name: str) -> Any:
        """Return a form of the graph on the host; of the threads of a call, one makes it."""
        with deriving():
            return getattr(self._graph, name)

    def _upload(self, host: HostArray, name: str) -> Array:
        what = f"a graph of {self.n:,} vertices and {self.m:,} arcs"
        require_memory(self.device, host.nbytes, what)
        array = self.device.upload(host, name)
        self.nbytes += host.nbytes
        return array


def idle_bytes(device: Device) -> int:
    """Return the bytes that searches of what is placed hold on a device while they wait."""
    return sum(placed.idle_bytes for placed in _PLACED if placed.device is device)


def free_idle(name: str, needed: int | None = None) -> bool:
    """Free the searches that wait on a device; False if there are none, or the memory suffices."""
    waiting = [one for one in _PLACED if one.idle_bytes]
    if not waiting:  # nor need the device be opened
        return False
    device = open_device(name)
    waiting = [one for one in waiting if one.device is device]
    if not waiting or (needed is not None and needed <= device.free_memory()):
        return False
    for placed in waiting:
        placed.free_idle()
    return True


def get_device_graph(graph: Graph, device: Device) -> DeviceGraph:
    """Return the placed copy of a graph if it is on this device, else a new one."""
    placed = graph.placed
    if isinstance(placed, DeviceGraph) and placed.device is device:
        return placed
    if _THREAD.kept is None:
        return DeviceGraph(graph, device)
    if id(graph) not in _THREAD.kept:
        _THREAD.kept[id(graph)] = graph, DeviceGraph(graph, device)
    return _THREAD.kept[id(graph)][1]


class _Thread(threading.local):
    """What a thread has that runs the calls of one device, one after the other."""

    kept: dict[int, tuple[Graph, DeviceGraph]] | None = None  # by the ids of the graphs
    deriving: AbstractContextManager[Any] = nullcontext()


_THREAD = _Thread()


@contextmanager
def calls_of_a_device(lock: threading.RLock) -> Iterator[None]:
    """Keep copies of graphs from one call of this thread to the next; all are on one device.

    Threads with the same lock derive what they need of a graph one after the other.
    """
    _THREAD.kept, _THREAD.deriving = {}, lock
    try:
        yield
    finally:
        _THREAD.kept, _THREAD.deriving = None, nullcontext()


def deriving() -> AbstractContextManager[Any]:
    """Return a context for what is derived of a graph on the host, once for all devices."""
    return _THREAD.deriving


def place(graph: Graph, kind: str) -> DeviceGraph:
    """Copy the outgoing arcs and their weights to a device."""
    there = DeviceGraph(graph, open_device(kind))
    _ = there.csr
    if graph.weights is not None:
        there.lengths(graph.weights.dtype)
    there.device.synchronize()
    return there
