"""A graph on the workers of a Dask cluster, which it reaches once each.

The client writes it to a file, and a plugin maps the file on every worker: on those that are there,
and on those that join or restart later. The name of the file is random, so where there is a file of
this name, it is this one.

A worker that does not see the file gets a copy through tasks, in parts, into its own folder. The
client sends each part to one worker, and workers pass it on. (A scattered copy would be lost with
the worker that holds it; the parts of these tasks are with the scheduler until all have them.)
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kleene.clusters.dask.client import POLL, asking, import_dask, worker_threads
from kleene.engine.call import Call
from kleene.engine.prepared import prepared_form
from kleene.errors import ClusterError
from kleene.graph import Graph
from kleene.graph.dense import DenseArcs
from kleene.io.npz import graph_entries, read_mapped, write_aligned
from kleene.io.source import Source
from kleene.planning.plan import Plan
from kleene.system.atomic_file import temporary_path
from kleene.system.npy_header import map_array, read_array, write_array

__all__ = [
    "SharedGraph",
    "drop_graph",
    "find_graph",
    "graph_bytes",
    "send_graph",
    "share_call_graph",
    "share_graph",
    "share_plain_graph",
    "share_tiled_graph",
]

#: Bytes of a part: Dask warns of arguments above 10 MB.
_PART = 2**23

#: Seconds between two looks whether a worker that receives a graph is still there.
_LOOK = 2.0

#: How often a plugin is registered where workers end at that moment.
_ATTEMPTS = 5


class SharedGraph(NamedTuple):
    """The file of a graph, and the function that opens it: it is sent by name."""

    path: str
    load: Callable[[str], Any]

    @property
    def name(self) -> str:
        """The name of the file, which no other has."""
        return Path(self.path).name


# ---- on the client ------------------------------------------------------------------------------


@contextmanager
def share_graph(
    client: Any, write: Callable[[Path], None], load: Callable[[str], Any], folder: Path | None
) -> Iterator[SharedGraph]:
    """Yield a graph that workers can open, as long as the block runs.

    Parameters
    ----------
    client : dask.distributed.Client
    write : function
        Writes the graph to a file.
    load : function
        Opens the file on a worker.
    folder : Path, optional
        A folder that workers see; by default the setting ``kleene.folder`` of Dask, or the folder
        for temporary files.
    """
    from kleene.clusters.dask.plugin import GraphPlugin

    with temporary_path(folder or _default_folder(), ".kp") as path:
        write(path)
        shared = SharedGraph(str(path.resolve()), load)
        _register(client, GraphPlugin(shared, find_graph, drop_graph), shared.name)
        try:
            yield shared
        finally:
            with suppress(Exception):  # the cluster may be gone
                client.unregister_worker_plugin(shared.name)


def _register(client: Any, plugin: Any, name: str) -> None:
    """Register a plugin on all workers; one that ends meanwhile ends the attempt for all."""
    for left in reversed(range(_ATTEMPTS)):
        try:
            with asking("the workers cannot open the graph"):
                client.register_plugin(plugin, name=name)
            return
        except ClusterError:
            if not left:
                raise
        time.sleep(POLL)  # the scheduler notices that the worker is gone


def _default_folder() -> Path:
    from dask import config

    return Path(config.get("kleene.folder", None) or tempfile.gettempdir())


def send_graph(client: Any, shared: SharedGraph, workers: Sequence[str]) -> None:
    """Send a graph to workers that do not see its file; those that end meanwhile are skipped."""
    size = os.path.getsize(shared.path)
    with open(shared.path, "rb") as file, asking("the graph cannot be sent"):
        for offset in range(0, size, _PART):
            part = file.read(_PART)
            last = offset + len(part) == size
            name = f"graph part-{offset // _PART}-{shared.name}"
            sent = client.submit(_hold, part, key=f"{name}-sent", pure=False)
            received = {
                client.submit(
                    _receive, shared, offset, sent, last, key=f"{name}-{worker}",
                    workers=[worker], pure=False,
                ): worker
                for worker in workers
            }  # fmt: skip
            for future, worker in received.items():
                _await(client, future, worker)


def _await(client: Any, future: Any, worker: str) -> None:
    """Wait until a worker has received a part, or is gone."""
    while True:
        try:
            future.result(timeout=_LOOK)
            return
        except TimeoutError:
            if worker not in worker_threads(client):  # the task would wait for it
                future.cancel(force=True)
                return
        except Exception as error:
            raise ClusterError(f"worker {worker} cannot store the graph: {error}") from error


# ---- on a worker --------------------------------------------------------------------------------

#: The graphs of the workers in this process, by folder of the worker and name of the file.
_HELD: dict[tuple[str, str], Any] = {}
_LOADING = threading.Lock()


def find_graph(shared: SharedGraph, worker: Any) -> Any:
    """Return the graph, opened once; None on a worker that neither sees it nor received it."""
    key = (worker.local_directory, shared.name)
    with _LOADING:
        if key not in _HELD:
            paths = (shared.path, _received(shared, worker))
            path = next((path for path in paths if os.path.exists(path)), None)
            if path is None:
                return None
            _keep_freed_memory()
            _HELD[key] = shared.load(path)
        return _HELD[key]


def drop_graph(shared: SharedGraph, worker: Any) -> None:
    """Let go of a graph, and of the copy that a worker received."""
    with _LOADING:
        _HELD.pop((worker.local_directory, shared.name), None)
    with suppress(OSError):
        os.unlink(_received(shared, worker))


def _received(shared: SharedGraph, worker: Any) -> str:
    return os.path.join(worker.local_directory, shared.name)


def _hold(part: bytes) -> bytes:
    return part


def _receive(shared: SharedGraph, offset: int, part: bytes, last: bool) -> None:
    """Write a part of the file; the last one gives the file its name."""
    path = _received(shared, import_dask().get_worker())
    with open(f"{path}.unfinished", "r+b" if offset else "wb") as file:
        file.seek(offset)
        file.write(part)
    if last:
        os.replace(f"{path}.unfinished", path)


# ---- What workers of a cluster get of a call's graph --------------------------------------------
# Arcs, its matrix, or the prepared graph.


@contextmanager
def share_call_graph(
    client: Any, call: Call, plan: Plan, folder: Path | None
) -> Iterator[SharedGraph]:
    """Yield the graph of a call on the workers: prepared here, once, where the plan says so."""
    form, hops = call.form, call.hops
    rows = call.computes is None or call.computes.by_rows
    if form is None and rows and plan.method == "prepared":  # None still: a cycle may be negative
        form = prepared_form(call.graph, plan.semiring, plan.dtype, call.ask.where.threads)
    if form is None or hops:
        with share_plain_graph(client, call.graph, hops, folder) as shared:
            yield shared
        return
    entries, load = form._packed()
    with share_graph(client, lambda path: _write(path, entries), load, folder) as shared:
        yield shared


@contextmanager
def share_plain_graph(
    client: Any, graph: Graph, hops: bool, folder: Path | None
) -> Iterator[SharedGraph]:
    """Yield the arcs of a graph on the workers, without weights where hops are counted."""
    entries = graph_entries(_bare(graph, hops), rows=False)
    with share_graph(client, lambda path: _write(path, entries), _open_graph, folder) as shared:
        yield shared


@contextmanager
def share_tiled_graph(client: Any, graph: Graph, folder: Path) -> Iterator[SharedGraph]:
    """Yield a graph on the workers that make tiles of it: its matrix, where it is one."""
    arcs = graph.__dict__.get("_dense_arcs")
    if arcs is None:
        with share_plain_graph(client, graph, False, folder) as shared:
            yield shared
        return
    with share_graph(client, lambda p: _write_matrix(p, arcs), _open_matrix, folder) as shared:
        yield shared


def graph_bytes(graph: Graph, hops: bool) -> int:
    """Return the bytes of a graph's arcs."""
    return sum(array.nbytes for array in _bare(graph, hops).csr if array is not None)


def _bare(graph: Graph, hops: bool = False) -> Graph:
    """Return the arcs, without labels and all else that searches do not need."""
    csr = graph.csr._replace(weights=None) if hops else graph.csr
    return Graph(csr, graph.directed)


def _write(path: Path, entries: dict[str, Any]) -> None:
    with path.open("r+b") as file:
        write_aligned(file, entries)


def _open_graph(path: str) -> Graph:
    """Return the graph in a file, mapped."""
    with Source(path) as source:
        return read_mapped(source)


def _write_matrix(path: Path, arcs: DenseArcs) -> None:
    """Write a matrix, at a place from which it can be mapped, and what is known of it."""
    known = np.array([arcs.min_weight, arcs.max_weight], dtype=arcs.matrix.dtype)
    with path.open("r+b") as file:
        for array in (arcs.matrix, arcs.offsets, arcs.heaviest, known, np.array(arcs.weighted)):
            write_array(file, array)


def _open_matrix(path: str) -> Graph:
    """Return the graph of a matrix in a file, mapped."""
    with open(path, "rb") as file:
        matrix = map_array(file)
        offsets, heaviest, known, weighted = (read_array(file) for _ in range(4))
    low, high = known.tolist()
    return Graph._from_matrix(DenseArcs(matrix, offsets, low, high, heaviest, bool(weighted)))


# ---- how the C library of a worker keeps memory that was freed -----------------------------------

#: Parameters of mallopt in glibc.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3

#: Bytes of an allocation that gets pages of its own (the most that glibc takes), and bytes that are
#: kept free.
_LARGE, _FREE = 2**25, 2**26


def _keep_freed_memory() -> None:
    """Let this process use memory again that it freed, where the C library is glibc.

    Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, which also ends glibc's habit of
    raising the size from which an allocation gets new pages. Then every workspace of a search costs
    page faults: a third of the time of a worker that reduced rows of 37,000 vertices (3.7 s of CPU
    instead of 2.4 s for 12,000 of them).
    """
    with suppress(OSError, AttributeError, TypeError):  # no such function; no such library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_TRIM_THRESHOLD, _FREE)
