"""The one table of methods. A row names a method, its device, what it supports, where it is from.

Adding a method means adding its function in a backend and its row here; the planner, the command
line, ``kleene.methods`` and the tests find it by this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import NamedTuple

from kleene.errors import RequestError
from kleene.semiring import SEMIRINGS
from kleene.task import Answer

__all__ = ["DEVICES", "PROBLEMS", "Method", "Size", "find", "methods"]

PROBLEMS = {
    "bfs": "fewest hops from a source",
    "sssp": "shortest paths from a source",
    "apsp": "shortest paths between all pairs",
    "closure": "best paths between all pairs over a semiring",
}

#: Where a method can run, the fastest kind of device first.
DEVICES = {
    "cuda": "an NVIDIA GPU",
    "cpu": "the native core, on all CPU cores",
    "emulated": "the CUDA kernels, executed on the CPU",
    "reference": "plain Python and NumPy, slow and obviously right",
}


class Size(NamedTuple):
    """How large a call is: what a method's working memory depends on."""

    n: int
    m: int
    sources: int
    item: int  # bytes of one path value
    predecessors: bool


def _search_workspace(size: Size) -> int:
    """Python lists of the arcs, and a dictionary entry or two per vertex."""
    return 100 * size.m + 400 * size.n


def _native_workspace(size: Size) -> int:
    """A queue and some marks per vertex."""
    return 16 * size.n


def _lengths_workspace(size: Size) -> int:
    """Arc lengths in the type of the values, and queues of some entries per vertex."""
    return size.item * size.m + 64 * size.n


def _pull_workspace(size: Size) -> int:
    """The same, and the arcs by target."""
    return _lengths_workspace(size) + (2 * size.item + 4) * size.m


def _matrix_workspace(size: Size) -> int:
    """The matrix, its candidate, its mask and its predecessors, all pairs whatever was asked."""
    per_pair = 2 * size.item + 1 + (4 if size.predecessors else 0)
    return per_pair * size.n * size.n


def _dense_workspace(size: Size) -> int:
    """Nothing but a block of rows, if the answer is the matrix; the matrix, if only some rows."""
    panel = 96 * size.n * (size.item + 4)
    return panel if size.sources >= size.n else panel + _matrix_bytes(size, size.item)


def _dense_pair_workspace(size: Size) -> int:
    """A second matrix, or one in another order, padded by 1/32 each way."""
    return _dense_workspace(size) + _matrix_bytes(size, size.item) * 17 // 16


def _rows_workspace(size: Size) -> int:
    """The matrix, where only some of its rows are asked for."""
    return 0 if size.sources >= size.n else _whole_matrix(size)


def _whole_matrix(size: Size) -> int:
    """All pairs, whatever was asked."""
    return _matrix_bytes(size, size.item)


def _staged_workspace(size: Size) -> int:
    """The same, and a copy of everything in memory that the device can read."""
    return _rows_workspace(size) + _whole_matrix(size)


def _quarter_more(size: Size) -> int:
    """All pairs, and a quadrant."""
    return _whole_matrix(size) * 5 // 4


def _two_matrices(size: Size) -> int:
    return 2 * _whole_matrix(size)


def _tree_and_matrix(size: Size) -> int:
    """All pairs in two orders, one padded, and a quadrant."""
    return _whole_matrix(size) * 19 // 8


def _tiled_closure_workspace(size: Size) -> int:
    """As for all pairs, but booleans are kept as bits, or as integers to tell their paths."""
    if size.item > 1:
        return _dense_workspace(size)
    if size.predecessors:
        rows = 4 * size.n * size.n if size.sources < size.n else 0
        return 96 * 8 * size.n + 4 * size.n * size.n + rows
    return size.n * size.n // 8 + 40 * size.n


def _matrix_bytes(size: Size, item: int) -> int:
    return (item + (4 if size.predecessors else 0)) * size.n * size.n


@dataclass(frozen=True)
class Method:
    """One row: a way to solve a problem on a device."""

    problem: str
    name: str
    device: str
    summary: str
    origin: str
    entry: str  # "module:function", imported at first use
    workspace: Callable[[Size], int]
    negative: bool = True  # does it take negative weights?
    semirings: tuple[str, ...] = ("min_plus",)
    device_memory: Callable[[Size], int] | None = None  # bytes on the GPU, for those that use one
    options: tuple[str, ...] = ()  # numbers that its function takes besides the task
    streams: bool = False  # does it do with less there, piece by piece?

    @property
    def needs(self) -> str:
        """What a graph must have for this method."""
        return "any weights" if self.negative else "no negative weights"

    def load(self) -> Callable[..., Answer]:
        """Import the function that runs this method: it takes a task, and the options by name."""
        return _load(self.entry)

    def __str__(self) -> str:
        return f"{self.problem} {self.name} on {self.device}: {self.summary} ({self.origin})"


@cache
def _load(entry: str) -> Callable[..., Answer]:
    module, _, name = entry.partition(":")
    function: Callable[..., Answer] = getattr(import_module(module), name)
    return function


def _native_bfs(
    name: str, summary: str, origin: str, workspace: Callable[[Size], int] = _native_workspace
) -> Method:
    return Method("bfs", name, "cpu", summary, origin, f"kleene.cpu.bfs:{name}", workspace)


def _no_workspace(size: Size) -> int:
    return 0


def _searched_graph(size: Size) -> int:
    """Both directions of the arcs, depths and parents, and a queue that does not grow with n."""
    return 2 * (4 * size.m + 8 * size.n) + 9 * size.n + 2**24


def _batch_workspace(size: Size) -> int:
    """Three sets of up to 512 searches per vertex, and two queues, for each of some threads."""
    searches = min(512, 64 * (1 + size.sources // 64))
    return 4 * (3 * searches // 8 + 16) * size.n


def _arcs_by_vertex(size: Size) -> int:
    """Offsets of 8 bytes, vertices of 4."""
    return 8 * (size.n + 1) + 4 * size.m


def _search_on_gpu(size: Size) -> int:
    """The arcs by one end, depths and parents."""
    return _arcs_by_vertex(size) + (8 if size.predecessors else 4) * size.n


def _cuda_bfs(
    name: str,
    summary: str,
    origin: str,
    module: str,
    more: Callable[[Size], int] | None = None,
    workspace: Callable[[Size], int] = _no_workspace,
) -> Method:
    """Return the row of a form on the GPU; ``more`` is what it needs there beside the usual."""

    def device_memory(size: Size) -> int:
        return _search_on_gpu(size) + (0 if more is None else more(size))

    entry = f"kleene.cuda.{module}:{name}"
    return Method(
        "bfs", name, "cuda", summary, origin, entry, workspace, device_memory=device_memory
    )


def _scan_on_gpu(size: Size) -> int:
    """A queue, sums, marks, and all neighbours of a level."""
    return 17 * size.n + 4 * size.m


def _pulled_arcs(size: Size) -> int:
    """Incoming arcs with their lengths."""
    return (4 + size.item) * size.m + 8 * size.n


def _sent_rows(size: Size) -> int:
    """On the host: incoming arcs, and memory through which rows come from the GPU."""
    return _pulled_arcs(size) + 3 * min(2**25, size.sources * size.n * size.item)


def _two_batches(size: Size, width: int) -> int:
    """Rows of the answer for two batches of sources: one is copied while one is worked on."""
    row = (size.item + (4 if size.predecessors else 0)) * size.n
    return min(2 * width, size.sources) * row


def _bits_on_gpu(size: Size) -> int:
    """Incoming arcs, three sets of up to 1024 searches per vertex, and rows of two batches."""
    width = min(1024, size.sources)
    return _pulled_arcs(size) + (3 * max(width, 32) // 8 + 1) * size.n + _two_batches(size, width)


def _lanes_on_gpu(size: Size) -> int:
    """Incoming arcs, a distance and a predecessor for each lane, and rows of two batches."""
    groups = max(1, 2**25 // (32 * size.item * max(1, size.n)))
    width = min(32 * groups, size.sources + 31)
    lane = size.item + (4 if size.predecessors else 0)
    return _pulled_arcs(size) + (lane * width + 16) * size.n + _two_batches(size, width)


_PMPP = "Hwu et al. 2022, ch. 15"
_PADAMATA = "Padamata and Raveendran 2013"

_BFS = (
    _native_bfs("queue", "a queue on one core", "Moore 1959"),
    _native_bfs(
        "direction_optimizing",
        "small frontiers push, large ones are pulled from",
        "Beamer et al. 2012",
    ),
    _native_bfs(
        "multi_source",
        "up to 512 searches at once, a bit each",
        "Then et al. 2014",
        _batch_workspace,
    ),
    _native_bfs("spmv", "a sparse matrix-vector product per level", "Kepner and Gilbert 2011"),
    _native_bfs("edge", "looks at every arc at every level", _PMPP),
    _native_bfs("vertex_push", "every vertex of the level marks its neighbours", _PMPP),
    _native_bfs("vertex_pull", "every unvisited vertex looks for a parent", _PMPP),
    _native_bfs("frontier", "threads append to one queue", _PMPP),
    _native_bfs("privatized", "threads fill queues of their own, then join them", _PMPP),
    Method(
        "bfs",
        "multi_source",
        "cuda",
        "up to 1024 searches at once, a bit each; rows leave while the next are found",
        "Then et al. 2014",
        "kleene.cuda.bfs_multi:multi_source",
        _sent_rows,
        device_memory=_bits_on_gpu,
        streams=True,
    ),
    Method(
        "bfs",
        "direction_optimizing",
        "cuda",
        "small frontiers push, large ones are pulled from; all levels in one launch",
        "Beamer et al. 2012, Merrill et al. 2012",
        "kleene.cuda.bfs_direction:direction_optimizing",
        _no_workspace,
        device_memory=_searched_graph,
    ),
    _cuda_bfs(
        "edge",
        "a thread for each arc at every level",
        _PADAMATA,
        "bfs",
        more=lambda size: 4 * size.m,
        workspace=lambda size: 4 * size.m,
    ),
    _cuda_bfs("vertex_push", "every vertex of the level marks its neighbours", _PMPP, "bfs"),
    _cuda_bfs(
        "vertex_pull",
        "every unvisited vertex looks for a parent",
        _PMPP,
        "bfs",
        workspace=_arcs_by_vertex,
    ),
    _cuda_bfs(
        "spmv",
        "a sparse matrix-vector product per level, until the targets are reached",
        "Kepner and Gilbert 2011, Ross et al.",
        "bfs",
        more=lambda size: 2 * size.n,
    ),
    _cuda_bfs(
        "frontier",
        "threads append to one queue",
        _PMPP,
        "bfs_frontiers",
        more=lambda size: 8 * size.n,
    ),
    _cuda_bfs(
        "privatized",
        "blocks fill queues in shared memory, then join them",
        _PMPP,
        "bfs_frontiers",
        more=lambda size: 8 * size.n,
    ),
    _cuda_bfs(
        "single_block",
        "the same; one block does many small levels in a launch",
        _PMPP,
        "bfs_frontiers",
        more=lambda size: 8 * size.n,
    ),
    _cuda_bfs(
        "scan_serial",
        "prefix sums place the neighbours, a thread copies those of a vertex; mask, compaction",
        _PADAMATA,
        "bfs_scan",
        more=_scan_on_gpu,
    ),
    _cuda_bfs(
        "scan_fine",
        "the same; the threads of a block share the neighbours",
        _PADAMATA,
        "bfs_scan",
        more=_scan_on_gpu,
    ),
    Method(
        "bfs",
        "queue",
        "reference",
        "a queue, one level at a time",
        "Moore 1959",
        "kleene.reference.bfs:queue",
        _search_workspace,
    ),
)


def _device_arcs(size: Size) -> int:
    """The outgoing arcs and their lengths, a distance per vertex, and a predecessor."""
    return 8 * size.n + (4 + size.item) * (size.m + size.n)


def _device_rounds(size: Size) -> int:
    """The same, two queues of parts of up to 256 arcs, stamps, notes, chains of them, and sums."""
    return _device_arcs(size) + 16 * (size.n + size.m // 256) + (16 + size.item) * size.n


def _device_sweeps(size: Size) -> int:
    """The same without stamps, and the source of every arc."""
    return _device_rounds(size) + 4 * size.m


def _device_lattice(size: Size) -> int:
    """Arcs in both directions, bounds and states, two lists and a queue."""
    arcs = _device_arcs(size) + (4 + size.item) * size.m
    return arcs + (size.item + 20) * size.n + 8 * (size.n + size.m // 256)


def _device_near_far(size: Size) -> int:
    """Arcs, also with short lengths; distances in words, a bit per vertex, and bounded lists."""
    arcs = _device_arcs(size) + 4 * size.m + (size.item + 1) * size.n
    if size.m <= 6 * size.n:  # roads and grids
        near, far = min(size.n + size.m, 2**21), min(4 * size.n, 2**23)
    else:
        near, far = min(size.n + size.m // 128, 2**22), min(4 * size.n, 2**24)
    return arcs + 32 * near + (4 + size.item) * far + 2**25


def _cuda_sssp(
    name: str,
    summary: str,
    origin: str,
    module: str,
    device_memory: Callable[[Size], int],
    workspace: Callable[[Size], int] = _lengths_workspace,
    negative: bool = True,
) -> Method:
    return Method(
        "sssp",
        name,
        "cuda",
        summary,
        origin,
        f"kleene.cuda.{module}:{name}",
        workspace,
        negative=negative,
        device_memory=device_memory,
    )


_SSSP = (
    Method(
        "sssp",
        "dijkstra",
        "cpu",
        "settles vertices in order of distance; one core a source",
        "Dijkstra 1959, Ahuja et al. 1990",
        "kleene.cpu.sssp:dijkstra",
        _lengths_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "delta_stepping",
        "cpu",
        "settles buckets of near distances on all cores",
        "Meyer and Sanders 2003, Zhang et al. 2020",
        "kleene.cpu.sssp:delta_stepping",
        _lengths_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "bellman_ford",
        "cpu",
        "relaxes what changed, round after round, on all cores; finds negative cycles",
        "Bellman 1958, Cherkassky and Goldberg 1999",
        "kleene.cpu.sssp:bellman_ford",
        _lengths_workspace,
    ),
    Method(
        "sssp",
        "llp",
        "cpu",
        "raises lower bounds until they meet the paths found, on all cores",
        "Garg 2020",
        "kleene.cpu.sssp:llp",
        _pull_workspace,
        negative=False,
    ),
    _cuda_sssp(
        "near_far",
        "settles near vertices before far ones, the whole search in one launch",
        "Davidson et al. 2014, Meyer and Sanders 2003",
        "sssp_near_far",
        _device_near_far,
        negative=False,
    ),
    _cuda_sssp(
        "bellman_ford",
        "relaxes what changed, many rounds in a launch; finds negative cycles",
        "Bellman 1958, Davidson et al. 2014",
        "bellman_ford",
        _device_rounds,
    ),
    _cuda_sssp(
        "bellman_ford_plain",
        "relaxes every arc in every round; finds negative cycles",
        "Periasubbramaniam and Denlinger 2023",
        "bellman_ford",
        _device_sweeps,
        lambda size: _lengths_workspace(size) + 4 * size.m,
    ),
    _cuda_sssp(
        "llp",
        "raises lower bounds until they meet the paths found, with minima over blocks",
        "Garg 2020",
        "llp",
        _device_lattice,
        _pull_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "dijkstra",
        "reference",
        "settles vertices in order of distance, from a binary heap",
        "Dijkstra 1959",
        "kleene.reference.sssp:dijkstra",
        _search_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "bellman_ford",
        "reference",
        "improves all distances at once until nothing improves; finds negative cycles",
        "Bellman 1958",
        "kleene.reference.sssp:bellman_ford",
        lambda size: 40 * size.m + 40 * size.n,
    ),
)

_BLOCKED_VERSIONS = "Zuccato and Lena 2022"


def _blocked(
    version: str,
    summary: str,
    origin: str = _BLOCKED_VERSIONS,
    workspace: Callable[[Size], int] = _rows_workspace,
    module: str = "apsp_blocked",
    options: tuple[str, ...] = ("block",),
) -> Method:
    name = f"blocked_{version}"
    entry = f"kleene.cuda.{module}:{name}"
    return Method(
        "apsp",
        name,
        "cuda",
        summary,
        origin,
        entry,
        workspace,
        device_memory=_whole_matrix,
        options=options,
    )


_TILED_ON_GPU = Method(
    "apsp",
    "tiled",
    "cuda",
    "elimination by blocks of vertices, a tile of the product in registers of each block",
    "Carre 1971, Venkataraman et al. 2003",
    "kleene.cuda.closure:tiled",
    _rows_workspace,
    device_memory=_whole_matrix,
    streams=True,
)

_APSP = (
    Method(
        "apsp",
        "tiled",
        "cpu",
        "elimination by blocks of rows, packed and in vector registers, on all cores",
        "Carre 1971, Venkataraman et al. 2003",
        "kleene.cpu.apsp_dense:tiled",
        _dense_workspace,
        options=("block",),
    ),
    Method(
        "apsp",
        "floyd_warshall",
        "cpu",
        "allows one more inner vertex at each step, on one core",
        "Floyd 1962",
        "kleene.cpu.apsp_dense:floyd_warshall",
        _dense_workspace,
    ),
    Method(
        "apsp",
        "blocked",
        "cpu",
        "Floyd-Warshall by blocks: the diagonal, its row and column, the rest",
        "Venkataraman et al. 2003",
        "kleene.cpu.apsp_dense:blocked",
        _dense_workspace,
        options=("block",),
    ),
    Method(
        "apsp",
        "min_plus",
        "cpu",
        "squares the matrix until nothing improves",
        "Cormen et al. 2009, section 25.1",
        "kleene.cpu.apsp_dense:min_plus",
        _dense_pair_workspace,
    ),
    Method(
        "apsp",
        "rkleene",
        "cpu",
        "closes one quadrant, then the other, with products between",
        "D'Alberto and Nicolau 2007",
        "kleene.cpu.apsp_dense:rkleene",
        _dense_workspace,
    ),
    Method(
        "apsp",
        "rkleene_quadtree",
        "cpu",
        "the same with every quadrant contiguous in memory",
        "D'Alberto and Nicolau 2007, Morton 1966",
        "kleene.cpu.apsp_dense:rkleene_quadtree",
        _dense_pair_workspace,
    ),
    Method(
        "apsp",
        "batched",
        "cpu",
        "one search per source, spread over all cores",
        "Meyer and Sanders 2003",
        "kleene.cpu.apsp:batched",
        _lengths_workspace,
        negative=False,
    ),
    Method(
        "apsp",
        "johnson",
        "cpu",
        "potentials make arcs non-negative, then a search per source, spread over all cores",
        "Johnson 1977",
        "kleene.cpu.apsp:johnson",
        lambda size: _lengths_workspace(size) + 2 * size.item * size.m,
    ),
    Method(
        "apsp",
        "naive",
        "cuda",
        "a thread for each pair, a launch for each inner vertex",
        "Floyd 1962, Harish and Narayanan 2007",
        "kleene.cuda.apsp:naive",
        _rows_workspace,
        device_memory=_whole_matrix,
    ),
    _TILED_ON_GPU,
    Method(
        "apsp",
        "batched",
        "cuda",
        "searches from many sources at once, 32 to a warp; without weights a bit each",
        "ours; Then et al. 2014, Davidson et al. 2014",
        "kleene.cuda.apsp_batched:batched",
        _sent_rows,
        negative=False,
        device_memory=_lanes_on_gpu,
        streams=True,
    ),
    Method(
        "apsp",
        "min_plus",
        "cuda",
        "squares the matrix until nothing improves, by tiles in shared memory",
        _PADAMATA,
        "kleene.cuda.apsp_products:min_plus",
        _rows_workspace,
        device_memory=_two_matrices,
    ),
    Method(
        "apsp",
        "rkleene",
        "cuda",
        "closes one quadrant, then the other, with products between",
        "D'Alberto and Nicolau 2007, Ross et al.",
        "kleene.cuda.apsp_products:rkleene",
        _rows_workspace,
        device_memory=_quarter_more,
        options=("block",),
    ),
    Method(
        "apsp",
        "rkleene_quadtree",
        "cuda",
        "the same with every quadrant contiguous in memory",
        "D'Alberto and Nicolau 2007, Morton 1966",
        "kleene.cuda.apsp_products:rkleene_quadtree",
        _rows_workspace,
        device_memory=_tree_and_matrix,
        options=("block",),
    ),
    _blocked(
        "multi",
        "Floyd-Warshall by blocks, several elements per thread",
        _PADAMATA,
        options=("block", "across", "down"),
    ),
    _blocked("1_0", "Floyd-Warshall by blocks, a launch for each block"),
    _blocked("1_1", "the same, a launch for each phase with threads for the whole matrix"),
    _blocked("1_2", "the same, with as many threads as a phase has cells"),
    _blocked("2_0", "the same, a block and its factors in shared memory"),
    _blocked("2_1", "the same, transposed or padded where banks would conflict"),
    _blocked("3_0", "the same, phases broken into pieces in streams of their own"),
    _blocked(
        "4_0",
        "the same as one CUDA graph, each phase after the one before",
        workspace=_staged_workspace,
    ),
    _blocked(
        "4_1",
        "the same as one CUDA graph, each piece after those it needs",
        workspace=_staged_workspace,
    ),
    _blocked(
        "4_2",
        "a CUDA graph of one round, launched again; rows travel while others are worked on",
        "ours, after Zuccato and Lena 2022",
        module="apsp_relaunched",
    ),
    Method(
        "apsp",
        "floyd_warshall",
        "reference",
        "allows one more inner vertex at each step",
        "Floyd 1962",
        "kleene.reference.closure:floyd_warshall",
        _matrix_workspace,
    ),
    Method(
        "apsp",
        "johnson",
        "reference",
        "potentials make arcs non-negative, then Dijkstra from every source",
        "Johnson 1977",
        "kleene.reference.apsp:johnson",
        _search_workspace,
    ),
)

_CLOSURE = (
    Method(
        "closure",
        "tiled",
        "cpu",
        "elimination by blocks of rows, packed and in vector registers, on all cores",
        "Carre 1971, Venkataraman et al. 2003",
        "kleene.cpu.closure:tiled",
        _tiled_closure_workspace,
        semirings=tuple(SEMIRINGS),
    ),
    Method(
        "closure",
        "floyd_warshall",
        "cpu",
        "allows one more inner vertex at each step, over any semiring, on one core",
        "Kleene 1956, Warshall 1962",
        "kleene.cpu.closure:floyd_warshall",
        _dense_workspace,
        semirings=tuple(SEMIRINGS),
    ),
    replace(_TILED_ON_GPU, problem="closure", semirings=tuple(SEMIRINGS)),
    Method(
        "closure",
        "floyd_warshall",
        "reference",
        "allows one more inner vertex at each step, over any semiring",
        "Kleene 1956, Warshall 1962",
        "kleene.reference.closure:floyd_warshall",
        _matrix_workspace,
        semirings=tuple(SEMIRINGS),
    ),
)


def _emulated(row: Method) -> Method:
    """Return the emulator's row for a row of CUDA's: its device memory is the host's."""
    host, on_device = row.workspace, row.device_memory

    def workspace(size: Size) -> int:
        return host(size) + (0 if on_device is None else on_device(size))

    return replace(row, device="emulated", workspace=workspace, device_memory=None, streams=False)


def _everywhere(rows: tuple[Method, ...]) -> tuple[Method, ...]:
    """Add the emulator's rows: whatever runs by CUDA runs there too."""
    return (*rows, *(_emulated(row) for row in rows if row.device == "cuda"))


_ROWS = _everywhere((*_BFS, *_SSSP, *_APSP, *_CLOSURE))
_ROW_OF = {(row.problem, row.name, row.device): row for row in _ROWS}


class Methods(tuple[Method, ...]):
    """Rows of the registry; prints as a table."""

    def __repr__(self) -> str:
        columns = ("problem", "name", "device", "needs", "origin", "summary")
        lines = [list(columns), *([str(getattr(row, c)) for c in columns] for row in self)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def methods(problem: str | None = None, device: str | None = None) -> Methods:
    """Return the methods for a problem, or all of them.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.methods("sssp", "reference")
    problem  name          device     needs                origin         summary
    sssp     dijkstra      reference  no negative weights  Dijkstra 1959  settles vertices in ...
    sssp     bellman_ford  reference  any weights          Bellman 1958   improves all distances ...
    >>> kl.methods("bfs")[0].name
    'queue'
    """
    if problem is not None and problem not in PROBLEMS:
        raise RequestError(f"no problem {problem!r}; there are {', '.join(map(repr, PROBLEMS))}")
    if device is not None and device not in DEVICES:
        raise RequestError(f"no device {device!r}; there are {', '.join(map(repr, DEVICES))}")
    return _offered(problem, device)


@cache
def _offered(problem: str | None, device: str | None) -> Methods:
    return Methods(
        row for row in _ROWS if problem in (None, row.problem) and device in (None, row.device)
    )


def find(problem: str, name: str, device: str) -> Method | None:
    """Return the row of this name on this device, or None."""
    return _ROW_OF.get((problem, name, device))
