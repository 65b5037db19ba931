"""Tuning of sparse matrix-vector products on a GPU."""

from __future__ import annotations

__all__ = ["COO_BLOCKS", "DENSE_ROWS", "THREADS"]

#: Threads of a block. Not measured: fits every GPU, and 8 blocks fill a multiprocessor.
THREADS = 256

#: Blocks of threads of the form ``coo``, as a multiple of those that are resident at once. Not
#: measured: some arcs wait longer for memory than others.
COO_BLOCKS = 4

#: Rows of a dense matrix per thread: each thread adds its sum to the result once. NVIDIA H200,
#: n = 8192: the matrix is read in 0.065 ms, at 4.1 TB/s.
DENSE_ROWS = 64
