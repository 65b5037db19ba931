"""Distributed results in a store, written by all ranks at once.

The store's blocks are ranges of vertices, about one a rank. Values go from the ranks that own them
to those that write their block; each writes its blocks, and the first rank, which holds the ledger,
records them and gives the files their names when all are on the disk. A rank that dies leaves
``NAME.partial`` and the ledger; the same search again writes the blocks that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.agreement import agreed, guarded
from kleene.clusters.mpi.arc_sums import graph_digest
from kleene.clusters.mpi.collective import redistribute
from kleene.clusters.mpi.graph import DistributedGraph
from kleene.clusters.mpi.result import DistributedResult, SearchStats
from kleene.clusters.mpi.sssp import sssp_dtype
from kleene.errors import StoreError
from kleene.graph.checks import id_dtype
from kleene.stores.resumable import METHOD, find_resumable
from kleene.stores.store import Piece, Receipt, Store, StoreSpec, StoreWriter

__all__ = ["find_stored", "open_store", "write"]

Array = NDArray[Any]

#: Blocks of more vertices than a chunk of a Zarr store are a multiple of the second number: chunks
#: divide a block, and a number with few divisors would have tiny ones.
_CHUNK, _STEP = 2**18, 2**16


def write(result: DistributedResult, path: str | Path) -> None:
    """Write distances, and predecessors if there are any, to a store in parallel; collective.

    Parameters
    ----------
    result : DistributedResult
        What ``kleene.distributed.bfs`` or ``sssp`` returned.
    path : str or Path
        ``d.npy``, with the predecessors in ``d.predecessors.npy``, or ``d.zarr``; on storage that
        all ranks share. It appears under this name when all of it is there.

    Raises
    ------
    StoreError
        The name belongs to the store of another search.

    Examples
    --------
    >>> import tempfile, kleene as kl, numpy as np
    >>> from pathlib import Path
    >>> alone = kl.distributed.Communicator()
    >>> r = kl.distributed.bfs(kl.distributed.rmat(6, seed=1, comm=alone), 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kl.distributed.write(r, Path(folder, "d.npy"))
    ...     bool((np.load(Path(folder, "d.npy")) == r.distances).all())
    True
    """
    graph, links = result.graph, result.predecessors
    search = _Search(result.problem, result.source, result.distances.dtype, links is not None)
    with _opened(graph, path, search) as fill:
        fill(result)


@contextmanager
def open_store(
    graph: DistributedGraph,
    problem: str,
    source: int,
    path: str | Path,
    *,
    predecessors: bool,
    dtype: str | None = None,
) -> Iterator[Callable[[DistributedResult], None]]:
    """Begin or resume the store of a search that is to run; yield what writes its result.

    Collective. A name that cannot be used is refused before the search. If an exception ends the
    block before anything was written, a store that was begun is removed.
    """
    comm = graph.communicator
    with guarded(comm, "open_store"):
        facts = graph.facts
        values = agreed(
            comm, lambda: id_dtype(graph.n) if problem == "bfs" else sssp_dtype(facts, dtype)
        )
    with _opened(graph, path, _Search(problem, source, values, predecessors)) as fill:
        yield fill


class _Search(NamedTuple):
    """What a store holds, known before the search."""

    problem: str
    source: int
    dtype: np.dtype[Any]
    predecessors: bool


@contextmanager
def _opened(
    graph: DistributedGraph, path: str | Path, search: _Search
) -> Iterator[Callable[[DistributedResult], None]]:
    comm = graph.communicator
    with guarded(comm, "write"), ExitStack() as opened:
        spec = _spec(graph, search, graph_digest(graph))
        store = agreed(comm, lambda: _open(opened, path, spec) if comm.rank == 0 else None)
        writer, missing = comm.gather_all(store and (store.writer(), store.missing()))[0]

        def fill(result: DistributedResult) -> None:
            entries = _write_blocks(result, writer, missing)
            agreed(comm, lambda: None if store is None else _finish(store, entries))

        yield fill


def _write_blocks(
    result: DistributedResult, writer: StoreWriter, missing: list[Piece]
) -> list[tuple[Piece, Receipt]]:
    """Write the missing blocks, each rank its own; return them all, with their checksums."""
    graph, comm = result.graph, result.graph.communicator
    cuts = _cuts(writer.spec, comm.size)
    held = graph.partition.bounds.tolist()
    arrays = [
        None if array is None else redistribute(comm, array, held, cuts)
        for array in (result.distances, result.predecessors)
    ]
    first, stop = cuts[comm.rank : comm.rank + 2]
    own = [piece for piece in missing if first <= piece.first < stop]
    receipts = agreed(comm, lambda: [_write(writer, piece, first, arrays) for piece in own])
    done = zip(own, receipts, strict=True)
    return [entry for entries in comm.gather_all(list(done)) for entry in entries]


def find_stored(
    graph: DistributedGraph,
    problem: str,
    source: int,
    path: str | Path,
    *,
    predecessors: bool,
    dtype: str | None = None,
) -> DistributedResult | None:
    """Return the result of a search that an earlier job finished, None without one; collective.

    Each rank reads the values of its own vertices from the store, after the ledger's checksums of
    the blocks that they are in. The job may have had another number of ranks: a finished store
    holds one search, all of it.
    """
    comm, file = graph.communicator, Path(path).absolute()
    with guarded(comm, "find_stored"):
        digest = graph_digest(graph)

        def look() -> Store | None:
            store = Store.look(file)
            if store is None or not store.finished:
                return None
            spec = store.spec
            same = {**spec.call, "ranks": None} == _call(problem, None)
            same = same and (spec.graph, spec.sources) == (digest, str(source))
            same = same and (spec.predecessors is not None) == predecessors
            return store if same and dtype in (None, spec.dtype) else None

        store = agreed(comm, look)
        if not all(comm.gather_all(store is not None)):
            return None
        assert store is not None
        rows = agreed(comm, lambda: _checked_rows(store, graph.first, graph.stop))
    return DistributedResult(graph, problem, source, *rows, SearchStats(0, 0, 0, 0))


def _checked_rows(store: Store, first: int, stop: int) -> tuple[Array, Array | None]:
    """Return some rows of a finished store; raise StoreError if a block of theirs is damaged."""
    try:
        for piece in store.spec.pieces:
            if piece.first < stop and first < piece.stop:
                store.writer().check(piece, store.done[piece.index])
    except StoreError as error:
        raise StoreError(
            f"{error}", advice=["remove the store and its ledger to search again"]
        ) from None
    return store.writer().rows(first, stop)


def _open(opened: ExitStack, path: str | Path, spec: StoreSpec) -> Store:
    file = Path(path).absolute()  # ranks may have other working directories
    find_resumable(file)  # a job that ended before its first block may have had other ranks
    return opened.enter_context(Store.open(file, spec))


def _cuts(spec: StoreSpec, ranks: int) -> list[int]:
    """Return where the vertices that each rank writes begin: whole blocks, shared out evenly."""
    starts = [piece.first for piece in spec.pieces] + [spec.shape[0]]
    return [starts[(len(starts) - 1) * rank // ranks] for rank in range(ranks + 1)]


def _write(
    writer: StoreWriter, piece: Piece, first: int, arrays: Sequence[Array | None]
) -> Receipt:
    rows = slice(piece.first - first, piece.stop - first)
    values, links = (None if array is None else array[rows] for array in arrays)
    assert values is not None
    return writer.write(piece, values, links)


def _finish(store: Store, entries: list[tuple[Piece, Receipt]]) -> None:
    for piece, receipt in entries:
        store.record(piece, receipt)
    store.finish()


def _call(problem: str, ranks: int | None) -> dict[str, Any]:
    return {"problem": problem, "method": METHOD, "ranks": ranks, "limit": None, "reverse": False}


def _spec(graph: DistributedGraph, search: _Search, digest: str) -> StoreSpec:
    """Return what the store of a search holds.

    Distances are the same on any number of ranks. Predecessors are not, and blocks of two searches
    may not be mixed: they could make a circle over arcs of weight zero.
    """
    ranks = graph.communicator.size
    return StoreSpec(
        call=_call(search.problem, ranks if search.predecessors else None),
        graph=digest,
        sources=str(search.source),
        shape=(graph.n,),
        dtype=search.dtype.name,
        predecessors=id_dtype(graph.n).name if search.predecessors else None,
        block_rows=_block_rows(graph.n, ranks),
    )


def _block_rows(n: int, ranks: int) -> int:
    """Return the vertices of a block: about one block a rank."""
    rows = max(1, -(-n // ranks))
    return rows if rows <= _CHUNK else rows + -rows % _STEP
