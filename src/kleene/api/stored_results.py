"""Results that read from finished stores: just written, or found on the disk."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import WholeRows
from kleene.backends.semiring import SEMIRINGS
from kleene.distributed.mpi.stored import refuse_stored_by_ranks
from kleene.distributed.store import Store, StoreWriter, ledger_of
from kleene.distributed.store_writer import SOURCE, TARGET
from kleene.distributed.stored_answer import answer_in_store
from kleene.errors import GraphError, StoreError
from kleene.graph import Graph
from kleene.graph.fingerprint import fingerprint
from kleene.planning.plan import Plan
from kleene.registry import PATH_PROBLEMS, methods
from kleene.results.claim import check_ids
from kleene.results.result import Result, Timings
from kleene.results.searched_rows import SearchedRows

__all__ = [
    "digest_of_graph", "digest_of_vertices", "load_stored", "plan_reading", "stored_result",
]  # fmt: skip

Array = NDArray[Any]


def digest_of_graph(graph: Graph) -> str:
    """Return what a store keeps to recognize its graph: vertices, arcs, and a checksum."""
    return " ".join(map(str, fingerprint(graph)))


def digest_of_vertices(*positions: Array | None) -> str:
    """Return what a store keeps to recognize its sources and targets."""
    digest = hashlib.sha256()
    for ids in positions:
        digest.update(b"all" if ids is None else np.ascontiguousarray(ids, "<i8").data)
        digest.update(b";")
    return digest.hexdigest()[:32]


def stored_result(
    files: StoreWriter,
    graph: Graph,
    plan: Plan,
    stats: Timings,
    sources: Array,
    targets: Array | None,
    paths: bool,
    single: bool = False,
) -> Result:
    """Return the result that reads from a finished store."""
    call, dtype = files.spec.call, np.dtype(files.spec.dtype)
    limit, reverse = call["limit"], call["reverse"]
    if targets is None:
        horizons = None if limit is None else np.full(len(sources), limit, dtype)
        answer = answer_in_store(files, horizons)
    else:
        searched = SearchedRows(
            graph, call["semiring"], dtype, reverse, call["problem"] == "bfs", limit
        )
        answer = answer_in_store(files, rest=WholeRows(sources, targets, searched, paths))
    return Result(graph, plan, stats, answer, sources, targets, limit, single, reverse)


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


def load_stored(path: str | Path, graph: Graph) -> Result:
    """Return the result in a finished store; ``graph`` must be the graph that it was computed on.

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
    >>> from kleene.api.stored_results import load_stored
    >>> g = kl.generate.grid(3, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = kl.apsp(g, out=f"{folder}/d.zarr")
    ...     load_stored(f"{folder}/d.zarr", g).path(0, 8)[-1]
    8
    """
    store = Store.find(path)
    refuse_stored_by_ranks(store)
    if not store.finished:
        missing, of = len(store.missing()), len(store.spec.pieces)
        raise StoreError(
            f"{path} is not finished, {missing:,} of {of:,} blocks are missing: make the call "
            "again that began it"
        )
    call, spec = _checked_call(store), store.spec
    if spec.graph != digest_of_graph(graph):
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
    return stored_result(store.writer(), graph, plan, Timings(0.0, 0.0), sources, targets, paths)


def _checked_call(store: Store) -> dict[str, Any]:
    """Return the arguments in a ledger, which may have been edited."""
    call = store.spec.call
    limit = call.get("limit")
    right = (
        call.get("problem") in PATH_PROBLEMS
        and call.get("semiring") in SEMIRINGS
        and isinstance(call.get("reverse"), bool)
        and isinstance(call.get("method"), str)
        and (limit is None or (type(limit) in (int, float) and limit >= 0))
    )
    if not right:
        raise StoreError(f"{ledger_of(store.path)} holds arguments that no call has")
    return call


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
