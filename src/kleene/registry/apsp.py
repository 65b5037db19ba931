"""Rows for shortest paths between all pairs."""

from __future__ import annotations

from collections.abc import Callable

from kleene.registry.memory import (
    dense_pair_workspace,
    dense_workspace,
    elimination_workspace,
    lanes_on_gpu,
    lanes_workspace,
    lengths_workspace,
    matrix_workspace,
    quarter_more,
    rows_workspace,
    search_workspace,
    sent_rows,
    staged_workspace,
    tree_and_matrix,
    two_matrices,
    whole_matrix,
)
from kleene.registry.method import Method, Size

__all__ = ["ROWS", "TILED_ON_GPU"]

_PADAMATA = "Padamata and Raveendran 2013"


_BLOCKED_VERSIONS = "Zuccato and Lena 2022"


def _blocked(
    version: str,
    summary: str,
    origin: str = _BLOCKED_VERSIONS,
    workspace: Callable[[Size], int] = rows_workspace,
    module: str = "apsp_blocked",
    options: tuple[str, ...] = ("block",),
) -> Method:
    name = f"blocked_{version}"
    entry = f"kleene.backends.cuda.{module}:{name}"
    return Method(
        "apsp",
        name,
        "cuda",
        summary,
        origin,
        entry,
        workspace,
        device_memory=whole_matrix,
        options=options,
    )


TILED_ON_GPU = Method(
    "apsp",
    "tiled",
    "cuda",
    "elimination by blocks of vertices, a tile of the product in registers of each block",
    "Carre 1971, Venkataraman et al. 2003",
    "kleene.backends.cuda.closure_tiled:tiled",
    rows_workspace,
    device_memory=whole_matrix,
    streams=True,
    in_place="kleene.backends.cuda.closure_tiled:close_in_place",
)

ROWS = (
    Method(
        "apsp",
        "tiled",
        "cpu",
        "elimination by blocks of rows, packed and in vector registers, on all cores",
        "Carre 1971, Venkataraman et al. 2003",
        "kleene.backends.cpu.closure:tiled",
        dense_workspace,
        options=("block",),
    ),
    Method(
        "apsp",
        "floyd_warshall",
        "cpu",
        "allows one more inner vertex at each step, on one core",
        "Floyd 1962",
        "kleene.backends.cpu.closure:floyd_warshall",
        dense_workspace,
    ),
    Method(
        "apsp",
        "blocked",
        "cpu",
        "Floyd-Warshall by blocks: the diagonal, its row and column, the rest",
        "Venkataraman et al. 2003",
        "kleene.backends.cpu.closure:blocked",
        dense_workspace,
        options=("block",),
    ),
    Method(
        "apsp",
        "min_plus",
        "cpu",
        "squares the matrix until nothing improves",
        "Cormen et al. 2009, section 25.1",
        "kleene.backends.cpu.closure:min_plus",
        dense_pair_workspace,
    ),
    Method(
        "apsp",
        "rkleene",
        "cpu",
        "closes one quadrant, then the other, with products between",
        "D'Alberto and Nicolau 2007",
        "kleene.backends.cpu.closure:rkleene",
        dense_workspace,
    ),
    Method(
        "apsp",
        "rkleene_quadtree",
        "cpu",
        "the same with every quadrant contiguous in memory",
        "D'Alberto and Nicolau 2007, Morton 1966",
        "kleene.backends.cpu.closure:rkleene_quadtree",
        dense_pair_workspace,
    ),
    Method(
        "apsp",
        "batched",
        "cpu",
        "near sources at once, a vector lane each, or one search per source; on all cores",
        "ours; Meyer and Sanders 2003",
        "kleene.backends.cpu.apsp:batched",
        lanes_workspace,
        negative=False,
    ),
    Method(
        "apsp",
        "johnson",
        "cpu",
        "potentials make arcs non-negative, then a search per source, spread over all cores",
        "Johnson 1977",
        "kleene.backends.cpu.apsp:johnson",
        lambda size: lengths_workspace(size) + 2 * size.item * size.m,
    ),
    Method(
        "apsp",
        "prepared",
        "cpu",
        "eliminates all vertices once, then climbs and sweeps for many rows at a time",
        "Dibbelt et al. 2016, Delling et al. 2013",
        "kleene.backends.cpu.prepared:apsp",
        elimination_workspace,
    ),
    Method(
        "apsp",
        "naive",
        "cuda",
        "a thread for each pair, a launch for each inner vertex",
        "Floyd 1962, Harish and Narayanan 2007",
        "kleene.backends.cuda.apsp_naive:naive",
        rows_workspace,
        device_memory=whole_matrix,
    ),
    TILED_ON_GPU,
    Method(
        "apsp",
        "batched",
        "cuda",
        "searches from many sources at once, 128 to a warp; without weights a bit each",
        "ours; Then et al. 2014, Davidson et al. 2014",
        "kleene.backends.cuda.sssp_batched:batched",
        sent_rows,
        negative=False,
        device_memory=lanes_on_gpu,
        streams=True,
    ),
    Method(
        "apsp",
        "min_plus",
        "cuda",
        "squares the matrix until nothing improves, by tiles in shared memory",
        _PADAMATA,
        "kleene.backends.cuda.apsp_products:min_plus",
        rows_workspace,
        device_memory=two_matrices,
    ),
    Method(
        "apsp",
        "rkleene",
        "cuda",
        "closes one quadrant, then the other, with products between",
        "D'Alberto and Nicolau 2007, Ross et al.",
        "kleene.backends.cuda.apsp_products:rkleene",
        rows_workspace,
        device_memory=quarter_more,
        options=("block",),
    ),
    Method(
        "apsp",
        "rkleene_quadtree",
        "cuda",
        "the same with every quadrant contiguous in memory",
        "D'Alberto and Nicolau 2007, Morton 1966",
        "kleene.backends.cuda.apsp_products:rkleene_quadtree",
        rows_workspace,
        device_memory=tree_and_matrix,
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
        workspace=staged_workspace,
    ),
    _blocked(
        "4_1",
        "the same as one CUDA graph, each piece after those it needs",
        workspace=staged_workspace,
    ),
    _blocked(
        "4_2",
        "a CUDA graph of one round, launched again; rows travel while others are worked on",
        "ours, after Zuccato and Lena 2022",
        module="apsp_blocked_relaunched",
    ),
    Method(
        "apsp",
        "floyd_warshall",
        "reference",
        "allows one more inner vertex at each step",
        "Floyd 1962",
        "kleene.backends.reference.closure:floyd_warshall",
        matrix_workspace,
    ),
    Method(
        "apsp",
        "johnson",
        "reference",
        "potentials make arcs non-negative, then Dijkstra from every source",
        "Johnson 1977",
        "kleene.backends.reference.apsp:johnson",
        search_workspace,
    ),
)
