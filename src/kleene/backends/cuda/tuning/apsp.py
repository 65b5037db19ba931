"""Tuning of all pairs on a GPU; the constants of the kernels are in ``kernels/tuning``."""

from __future__ import annotations

__all__ = [
    "BLOCKED_ROUNDS",
    "BLOCKED_SIDE",
    "MULTI_ACROSS",
    "MULTI_DOWN",
    "NAIVE_STEPS",
    "NAIVE_THREADS",
    "RELAUNCHED_STRIPES",
    "RKLEENE_SIDE",
]

# ---- dense methods ------------------------------------------------------------------------------

#: Side of a block of blocked Floyd-Warshall: 1024 threads, one per cell. Not measured here: the
#: largest block of Zuccato and Lena (2022).
BLOCKED_SIDE = 32

#: Cells per thread of ``blocked_multi``: the best of Padamata and Raveendran (2013).
MULTI_ACROSS = 4
MULTI_DOWN = 2

#: Rounds of blocked Floyd-Warshall that are queued between progress reports and checks for Ctrl-C.
#: Not measured: at n = 4096 on an NVIDIA H200, 16 of 128 rounds take 5 ms.
BLOCKED_ROUNDS = 16

#: Stripes of rows in which ``blocked_4_2`` copies the matrix. Not measured: the first and the last
#: of eight are the only copies that nothing overlaps with.
RELAUNCHED_STRIPES = 8

#: Threads of a block of ``naive``. Not measured: a warp reads 32 adjacent cells of a row.
NAIVE_THREADS = (32, 8)

#: Steps of ``naive`` between progress reports and checks for Ctrl-C. Not measured: at n = 4096 on
#: an NVIDIA H200, 256 of 4096 steps take 15 ms.
NAIVE_STEPS = 256

#: Side of the tiles at the end of the recursion of R-Kleene. Not measured: the tile of a product,
#: and as many cells as the shared memory of every GPU holds in any type.
RKLEENE_SIDE = 64
