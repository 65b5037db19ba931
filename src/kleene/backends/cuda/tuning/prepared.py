"""Tuning of prepared graphs; what kernels need is in ``kernels/tuning/prepared.cuh``."""

from __future__ import annotations

#: Vertices of a piece of the elimination tree, about. On an H200, highways, 1024 sources: sweeps
#: take 3.73, 3.22, 3.01, 3.10 and 3.33 ms with 128, 256, 512, 1024 and 2048.
PIECE_VERTICES = 512

#: A subtree whose size is in the same power of this number as its parent's is in the same piece.
#: The same: sweeps take 2.99, 3.01 and 3.01 ms with 2, 4 and 8, new weights 3.00, 3.39 and 4.27.
PIECE_RATIO = 2

#: Sources of a batch of trees, at most. The kernels take 58, 9.0, 7.1 and 6.3 us a tree with 32,
#: 256, 512 and 1024; two batches of rows fit.
TREE_SOURCES = 1024

#: Sources of a batch of a matrix, at most. Not measured apart: the rows of 4096 sources on highways
#: take 9 GB, and 10,000 x 10,000 takes 15.5 ms with it.
MATRIX_SOURCES = 4096

#: Blocks per multiprocessor that write rows. Not measured: all that are resident with 256 threads.
BLOCKS_PER_MULTIPROCESSOR = 8

#: Of the memory that is free, what a workspace may take that is kept for the next call. Not
#: measured: 1024 trees on highways take 2.3 GB, and to allocate them about a millisecond.
IDLE_PART = 0.25
