"""Tuning of betweenness on a GPU; what kernels need is in ``kernels/tuning/betweenness.cuh``."""

from __future__ import annotations

#: Bytes of the numbers of paths of a batch, if that is a group of 32 sources at least. Not
#: measured: what the second-level cache of an H200 holds; small graphs fill all multiprocessors.
BATCH_BYTES = 2**25

#: Arcs of a hub per warp. Not measured: as in sssp_batched, whose rows are twice as long.
SEGMENT = 128

#: Levels, or bytes of rows, per launch. Not measured: some 20 ms, so that Ctrl-C works.
LEVELS, LAUNCH_BYTES = 4096, 2**36

#: Rows and arcs, of all groups, that are worth one more block of 8 warps. Not measured: a warp has
#: some 128 arcs in each pass.
WORK_PER_BLOCK = 1024

#: Graphs with work for so many blocks only have blocks of so many threads. Not measured: it is for
#: the emulator, which runs a thread after the other.
FEW_BLOCKS, FEW_THREADS = 4, 64
