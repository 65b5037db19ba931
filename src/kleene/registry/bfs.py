"""Rows for breadth-first search."""

from __future__ import annotations

from collections.abc import Callable

from kleene.registry.memory import (
    arcs_by_vertex,
    batch_workspace,
    bits_on_gpu,
    native_workspace,
    no_workspace,
    scan_on_gpu,
    search_on_gpu,
    search_workspace,
    searched_graph,
    sent_rows,
)
from kleene.registry.method import Method, Size

__all__ = ["BFS"]

_PMPP = "Hwu et al. 2022, ch. 15"
_PADAMATA = "Padamata and Raveendran 2013"


def _native_bfs(
    name: str, summary: str, origin: str, workspace: Callable[[Size], int] = native_workspace
) -> Method:
    entry = f"kleene.backends.cpu.bfs:{name}"
    return Method("bfs", name, "cpu", summary, origin, entry, workspace, order="arc by arc")


def _cuda_bfs(
    name: str,
    summary: str,
    origin: str,
    module: str,
    more: Callable[[Size], int] | None = None,
    workspace: Callable[[Size], int] = no_workspace,
) -> Method:
    """Return the row of a form on the GPU; ``more`` is what it needs there beside the usual."""

    def device_memory(size: Size) -> int:
        return search_on_gpu(size) + (0 if more is None else more(size))

    entry = f"kleene.backends.cuda.{module}:{name}"
    return Method(
        "bfs", name, "cuda", summary, origin, entry, workspace, device_memory=device_memory,
        order="arc by arc",
    )  # fmt: skip


BFS = (
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
        batch_workspace,
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
        "kleene.backends.cuda.bfs.multi:multi_source",
        sent_rows,
        device_memory=bits_on_gpu,
        streams=True,
        order="arc by arc",
    ),
    Method(
        "bfs",
        "direction_optimizing",
        "cuda",
        "small frontiers push, large ones are pulled from; all levels in one launch",
        "Beamer et al. 2012, Merrill et al. 2012",
        "kleene.backends.cuda.bfs.direction:direction_optimizing",
        no_workspace,
        device_memory=searched_graph,
        order="arc by arc",
    ),
    _cuda_bfs(
        "edge",
        "a thread for each arc at every level",
        _PADAMATA,
        "classic.sweeps",
        more=lambda size: 4 * size.m,
        workspace=lambda size: 4 * size.m,
    ),
    _cuda_bfs(
        "vertex_push", "every vertex of the level marks its neighbours", _PMPP, "classic.sweeps"
    ),
    _cuda_bfs(
        "vertex_pull",
        "every unvisited vertex looks for a parent",
        _PMPP,
        "classic.sweeps",
        workspace=arcs_by_vertex,
    ),
    _cuda_bfs(
        "spmv",
        "a sparse matrix-vector product per level, until the targets are reached",
        "Kepner and Gilbert 2011, Ross et al.",
        "classic.sweeps",
        more=lambda size: 2 * size.n,
    ),
    _cuda_bfs(
        "frontier",
        "threads append to one queue",
        _PMPP,
        "classic.frontiers",
        more=lambda size: 8 * size.n,
    ),
    _cuda_bfs(
        "privatized",
        "blocks fill queues in shared memory, then join them",
        _PMPP,
        "classic.frontiers",
        more=lambda size: 8 * size.n,
    ),
    _cuda_bfs(
        "single_block",
        "the same; one block does many small levels in a launch",
        _PMPP,
        "classic.frontiers",
        more=lambda size: 8 * size.n,
    ),
    _cuda_bfs(
        "scan_serial",
        "prefix sums place the neighbours, a thread copies those of a vertex; mask, compaction",
        _PADAMATA,
        "classic.scan",
        more=scan_on_gpu,
    ),
    _cuda_bfs(
        "scan_fine",
        "the same; the threads of a block share the neighbours",
        _PADAMATA,
        "classic.scan",
        more=scan_on_gpu,
    ),
    Method(
        "bfs",
        "queue",
        "reference",
        "a queue, one level at a time",
        "Moore 1959",
        "kleene.backends.reference.bfs:queue",
        search_workspace,
        order="arc by arc",
    ),
)
