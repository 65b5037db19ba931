"""Files of graphs in parallel: each rank reads its part, and no rank holds the whole graph.

Files with rows (``.npz``, GAP binary) have offsets: a rank reads the rows of its own vertices, and
nothing is sent. Of a text each rank parses a range of lines, and the arcs go to the owners of their
tails. The ranks need the same file under the same name; if a rank sees another file, or none, all
ranks raise an error.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.agreement import agreed, guarded
from kleene.clusters.mpi.arc_sums import reversed_sums_differ
from kleene.clusters.mpi.arcs import OwnArcs, PartArcs, check_offsets, tails_of_rows
from kleene.clusters.mpi.collective import require_part_memory
from kleene.clusters.mpi.communicator import Communicator, MpiCommunicator
from kleene.clusters.mpi.graph import DistributedGraph
from kleene.clusters.mpi.partition import Partition
from kleene.clusters.mpi.reading_npz import read_npz
from kleene.clusters.mpi.reading_text import read_edge_list
from kleene.errors import Code, FormatError, GraphError, RequestError, message_of
from kleene.io.files import detect_format
from kleene.io.gap import read_header, separate
from kleene.io.source import Source

__all__ = [
    "read",
    "read_gap",
]

# ---- GAP binary in parts: each rank reads the rows of its vertices, by their offsets ------------

Array = NDArray[Any]


def read_gap(comm: Communicator, source: Source) -> PartArcs:
    """Return the arcs of this rank's vertices."""
    header, arc = agreed(comm, lambda: read_header(source))
    n = header.vertices
    first, stop = Partition.even(n, comm.size).range(comm.rank)

    def read_offsets() -> Array:
        found = source.read(np.dtype("<i8"), stop - first + 1, header.offsets_at + 8 * first)
        check_offsets(source, found, first, n, header.arcs)
        return found

    offsets = agreed(comm, read_offsets)
    begin, end = offsets[0].item(), offsets[-1].item()
    require_part_memory(comm, n, end - begin, f"a part of {source.name}", "use more machines")
    at = header.arcs_at + arc.itemsize * begin
    arcs = agreed(comm, lambda: source.read(arc, end - begin, at))
    return PartArcs(
        n,
        tails_of_rows(offsets),
        *separate(arcs),
        directed=bool(header.directed),
        in_rows=True,
        name=source.stem,
    )


# ---- reading ------------------------------------------------------------------------------------

_READERS: dict[str, Callable[..., PartArcs]] = {
    "npz": read_npz,
    "gap": read_gap,
    "edge_list": read_edge_list,
}
_GZIP_MAGIC = b"\x1f\x8b"


def read(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    comm: Communicator | None = None,
    **options: Any,
) -> DistributedGraph:
    r"""Read a graph in parallel, each rank its part; collective.

    Parameters
    ----------
    path : str or path
        The same file for all ranks: ``.npz`` (a Kleene graph or a SciPy CSR matrix), GAP binary
        ``.sg`` or ``.wsg``, or an edge list. gzip is not read in parts.
    format : str, optional
        ``"npz"``, ``"gap"`` or ``"edge_list"``; detected by default.
    comm : Communicator, optional
        The ranks; by default all of the MPI job.
    **options
        Options of edge lists, as in :func:`kleene.read`: ``directed``, ``weight``, ``weighted``,
        ``relabel``, ``columns``, ``header``, ``separator``, ``comments``.

    Returns
    -------
    DistributedGraph
        Its vertices, arcs and labels are those of the graph that :func:`kleene.read` returns.

    Raises
    ------
    FormatError
        The file does not follow its format: the same error on all ranks.

    Examples
    --------
    >>> import tempfile, kleene as kl
    >>> from pathlib import Path
    >>> alone = kl.distributed.Communicator()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "g.txt")
    ...     _ = file.write_text("# a triangle\n0 1 5\n1 2 3\n2 0 4\n")
    ...     g = kl.distributed.read(file, comm=alone)
    >>> g.n, g.m
    (3, 3)
    """
    ranks = MpiCommunicator() if comm is None else comm
    with guarded(ranks, "read"), ExitStack() as opened:
        source, reader = agreed(ranks, lambda: _open(opened, path, format, options))
        sizes = ranks.gather_all(source.size)
        agreed(ranks, lambda: _require_same(source, sizes))
        try:
            return _graph(ranks, reader(ranks, source, **options))
        except FormatError:
            raise
        except GraphError as error:  # on all ranks
            message = message_of(error)
            agreed(ranks, lambda: source.fail(message))


def _open(
    opened: ExitStack, path: Any, format: str | None, options: dict[str, Any]
) -> tuple[Source, Callable[..., PartArcs]]:
    """Return the file, and what reads it in parts."""
    if not isinstance(path, (str, PathLike)) or os.fspath(path) == "-":
        raise RequestError(
            "each rank reads its own part of the file: pass its name, not - or a stream"
        )
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise RequestError(
            f"{path} is not a regular file, and each rank must read its own part of it"
        )
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            if file.read(2) == _GZIP_MAGIC:
                raise FormatError(
                    f"{path}: found gzip data, which cannot be read in parts",
                    advice=["decompress it with gunzip"],
                )
    source = opened.enter_context(Source(path))
    if source.size == 0:
        source.fail("found an empty file, expected a graph")
    chosen = detect_format(source, format)
    if chosen.name not in _READERS:
        raise RequestError(
            f"{path}: {chosen.title} files cannot be read in parts",
            advice=[f"convert it: `kleene convert {path} g.npz`"],
        )
    chosen.check_options(chosen.read, options)
    for name in options:
        if name in ("names", "keep_rows", "drop_missing") or chosen.name != "edge_list":
            raise RequestError(f"reading {chosen.title} in parts does not take ", Code(name))
    if isinstance(options.get("directed"), str):
        raise RequestError(
            Code("directed="), " must be True or False for a graph in parts, not a column"
        )
    return source, _READERS[chosen.name]


def _require_same(source: Source, sizes: list[int]) -> None:
    if len(set(sizes)) > 1:
        sees = ", ".join(f"{size:,} on rank {rank}" for rank, size in enumerate(sizes[:4]))
        source.fail(f"found files of different sizes ({sees}), expected the same file")


def _graph(comm: Communicator, read: PartArcs) -> DistributedGraph:
    """Return the graph of the arcs that all ranks read."""
    if read.in_rows:
        partition = Partition.even(read.n, comm.size)
        agreed(comm, lambda: _check_heads(read))
        own = OwnArcs(read.tails, read.heads, read.weights)
        graph = DistributedGraph(comm, partition, own, read.directed)
        if not read.directed and reversed_sums_differ(graph):
            raise GraphError("the graph is declared undirected, but some arcs lead one way only")
    else:
        graph = DistributedGraph.from_arcs(
            comm, read.n, read.tails, read.heads, read.weights, read.directed
        )
    graph.labels, graph.name = read.labels, read.name
    graph._numbers_left = read.left  # there are no weights
    return graph


def _check_heads(read: PartArcs) -> None:
    if len(read.heads) and (read.heads.min() < 0 or read.heads.max() >= read.n):
        wrong = read.heads[(read.heads < 0) | (read.heads >= read.n)][0]
        raise GraphError(f"a neighbour is vertex {wrong}, but there are {read.n:,} vertices")
