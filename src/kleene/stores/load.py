"""Answers that read from finished stores: just written, or found on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer, LateRows, WholeRows
from kleene.engine.searched_rows import SearchedRows
from kleene.errors import GraphError, StoreError
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.proofs.claim import check_ids
from kleene.registry import methods
from kleene.stores.record import checked_call, digest_of_vertices
from kleene.stores.resumable import refuse_stored_by_ranks
from kleene.stores.store import Store
from kleene.stores.writer import DISTANCES, PREDECESSORS, SOURCE, TARGET, StoreWriter
from kleene.system.cached_property import cached_property

__all__ = [
    "StoredCall",
    "StoredRows",
    "answer_in_store",
    "load_stored",
    "plan_reading",
    "stored_answer",
]

Array = NDArray[Any]


def stored_answer(
    files: StoreWriter, graph: Graph, sources: Array, targets: Array | None, paths: bool
) -> Answer:
    """Return the answer that reads from a finished store."""
    call, dtype = files.spec.call, np.dtype(files.spec.dtype)
    limit, reverse = call["limit"], call["reverse"]
    if targets is None:
        horizons = None if limit is None else np.full(len(sources), limit, dtype)
        return answer_in_store(files, horizons)
    searched = SearchedRows(
        graph, call["semiring"], dtype, reverse, call["problem"] == "bfs", limit
    )
    return answer_in_store(files, rest=WholeRows(sources, targets, searched, paths))


def plan_reading(
    path: Path, problem: str, semiring: str, method: str, dtype: str, device: str = "cpu"
) -> Plan:
    """Return the plan of a result that is only read: its method, and a device that has it.

    ``device`` is the preferred one.
    """
    having = [row.device for row in methods(problem) if row.name == method]
    if device not in having:
        device = "cpu" if "cpu" in having or not having else having[0]
    return Plan(problem, method, device, semiring, dtype, 1, 0, None, (f"read from {path.name}",))


class StoredCall(NamedTuple):
    """A call whose answer is in a finished store."""

    answer: Answer
    plan: Plan
    sources: Array
    targets: Array | None
    limit: int | float | None
    reverse: bool


def load_stored(path: str | Path, graph: Graph) -> StoredCall:
    """Return what a finished store holds; ``graph`` must be the graph that it was computed on.

    Parameters
    ----------
    path : str or Path
        The store, ``.npy`` or ``.zarr``; its ledger must be beside it.
    graph : Graph
        The graph.

    Examples
    --------
    >>> import tempfile
    >>> import kleene as kl
    >>> from kleene.stores.load import load_stored
    >>> g = kl.generate.grid(3, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = kl.apsp(g, out=f"{folder}/d.zarr")
    ...     load_stored(f"{folder}/d.zarr", g).plan.problem
    'apsp'
    """
    store = Store.find(path)
    refuse_stored_by_ranks(store)
    if not store.finished:
        missing, of = len(store.missing()), len(store.spec.pieces)
        raise StoreError(
            f"{path} is not finished, {missing:,} of {of:,} blocks are missing: repeat the call "
            "that began it"
        )
    call, spec = checked_call(store), store.spec
    if spec.graph != graph._digest():
        n, m, *_ = spec.graph.split()
        raise GraphError(
            f"{path} belongs to another graph, of {n} vertices and {m} arcs; this one has "
            f"{graph.n} and {graph.m}, or other arcs"
        )
    sources, targets = _vertices(store, graph)
    width = graph.n if targets is None else len(targets)
    if spec.shape != (len(sources), width):
        raise StoreError(f"{path}: the shape {spec.shape} does not fit sources and targets")
    plan = plan_reading(Path(path), call["problem"], call["semiring"], call["method"], spec.dtype)
    paths = spec.predecessors is not None or targets is not None
    answer = stored_answer(store.writer(), graph, sources, targets, paths)
    return StoredCall(answer, plan, sources, targets, call["limit"], call["reverse"])


def _vertices(store: Store, graph: Graph) -> tuple[Array, Array | None]:
    """Return the sources and targets of a store, checked."""
    everything = np.arange(graph.n, dtype=graph.id_dtype)
    if store.spec.sources == digest_of_vertices(everything, None):
        return everything, None
    files = store.writer()
    lists = [files.vertices(name) for name in (SOURCE, TARGET)]

    def fail(what: str) -> Any:
        raise StoreError(f"{store.path}: {what}")

    for name, ids in zip((SOURCE, TARGET), lists, strict=True):
        if ids is not None:
            check_ids(ids, name, graph.n, fail)
    sources = everything if lists[0] is None else lists[0]
    if store.spec.sources != digest_of_vertices(sources, lists[1]):
        fail("the lists of sources and targets are not those of the ledger")
    return sources, lists[1]


# ---- rows, read when something asks for them, the whole only where it fits -----------------------


#: Bytes that are read at once, and kept, for one row: its neighbours are often asked for next.
_WINDOW = 2**22


class StoredRows(LateRows):
    """An array of a store, read by rows: ``stored[row]``, ``stored[first:stop]``, ``stored[rows]``.

    Parameters
    ----------
    files : StoreWriter
        The files of the store.
    name : str
        The array: ``"distances"`` or ``"predecessors"``.
    """

    def __init__(self, files: StoreWriter, name: str) -> None:
        self.files, self.name = files, name
        self._window: tuple[int, Array] = (0, np.empty(0))  # its first row, and some rows

    @cached_property
    def array(self) -> Array:
        """All rows: mapped from ``.npy``, read from Zarr if there is memory for them."""
        return self.files.whole(self.name)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.files.spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its entries."""
        return self.files.spec.arrays[self.name]

    def __getitem__(self, which: int | slice | Array) -> Array:
        count = self.shape[0]
        if isinstance(which, slice):
            first, stop, step = which.indices(count)
            if step == 1:
                return self.files.read(self.name, first, max(first, stop))
            which = np.arange(first, stop, step)
        if isinstance(which, (int, np.integer)):
            return self._row(range(count)[which])
        rows = np.arange(count)[which]
        found = np.empty((len(rows), *self.shape[1:]), self.dtype)
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1).tolist()
        for first, stop in zip(starts, [*starts[1:], len(rows)], strict=True):  # runs of rows
            found[first:stop] = self.files.read(
                self.name, int(rows[first]), int(rows[stop - 1]) + 1
            )
        return found

    def _row(self, row: int) -> Array:
        first, kept = self._window
        if not first <= row < first + len(kept):
            row_bytes = self.dtype.itemsize * self.files.spec.row_items
            count = max(1, _WINDOW // max(1, row_bytes))
            first = row - row % count
            kept = self.files.read(self.name, first, min(first + count, self.shape[0]))
            self._window = first, kept
        found: Array = kept[row - first]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredRows, (self.files, self.name)


def answer_in_store(
    files: StoreWriter, horizons: Array | None = None, rest: WholeRows | None = None
) -> Answer:
    """Return the answer in a finished store; ``rest`` is given where it holds targets alone."""
    links = None if files.spec.predecessors is None else StoredRows(files, PREDECESSORS)
    return Answer(StoredRows(files, DISTANCES), links, horizons, rest)
