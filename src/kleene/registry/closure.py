"""Rows for closures over any semiring."""

from __future__ import annotations

from dataclasses import replace

from kleene.backends.semiring import SEMIRINGS
from kleene.registry.apsp import TILED_ON_GPU
from kleene.registry.memory import (
    dense_workspace,
    eliminated_pairs,
    elimination_on_gpu,
    elimination_workspace,
    matrix_workspace,
    tiled_closure_workspace,
)
from kleene.registry.method import Method

__all__ = ["ROWS"]

ROWS = (
    Method(
        "closure",
        "tiled",
        "cpu",
        "elimination by blocks of rows, packed and in vector registers, on all cores",
        "Carre 1971, Venkataraman et al. 2003",
        "kleene.backends.cpu.closure:tiled",
        tiled_closure_workspace,
        semirings=tuple(SEMIRINGS),
        rounds="kleene.backends.cpu.closure_rounds:open_rounds",
        tiles="kleene.backends.cpu.closure_tiles:open_tiles",
        cuts="never",
    ),
    Method(
        "closure",
        "floyd_warshall",
        "cpu",
        "allows one more inner vertex at each step, over any semiring, on one core",
        "Kleene 1956, Warshall 1962",
        "kleene.backends.cpu.closure:floyd_warshall",
        dense_workspace,
        semirings=tuple(SEMIRINGS),
        cuts="never",
    ),
    Method(
        "closure",
        "prepared",
        "cpu",
        "eliminates all vertices once, then climbs and sweeps for many rows at a time",
        "Dibbelt et al. 2016, Delling et al. 2013",
        "kleene.backends.cpu.prepared:rows",
        elimination_workspace,
        semirings=tuple(SEMIRINGS),
        makes=("rows", "block", "entries"),
    ),
    Method(
        "closure",
        "prepared",
        "cuda",
        "eliminates all vertices on the host once, then climbs and sweeps for 1024 rows at a time",
        "Dibbelt et al. 2016, Delling et al. 2013",
        "kleene.backends.cuda.prepared_rows:rows",
        eliminated_pairs,
        semirings=tuple(SEMIRINGS),
        device_memory=elimination_on_gpu,
        streams=True,
        makes=("rows", "block"),
    ),
    replace(
        TILED_ON_GPU,
        problem="closure",
        semirings=tuple(SEMIRINGS),
        tiles="kleene.backends.cuda.closure_tiles:open_tiles",
    ),
    Method(
        "closure",
        "floyd_warshall",
        "reference",
        "allows one more inner vertex at each step, over any semiring",
        "Kleene 1956, Warshall 1962",
        "kleene.backends.reference.closure:floyd_warshall",
        matrix_workspace,
        semirings=tuple(SEMIRINGS),
        cuts="never",
    ),
)
