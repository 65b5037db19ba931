"""Tuning of breadth-first search on a GPU; the kernels' share is in ``kernels/tuning/bfs.cuh``."""

from __future__ import annotations

# ---- direction_optimizing -----------------------------------------------------------------------

#: Blocks of the narrow kernel. Not measured: one on each multiprocessor of an H200.
NARROW_BLOCKS = 132

#: Vertices and arcs that are worth one more block. Not measured: two per thread of a wide block.
WORK_PER_BLOCK = 1024

#: Graphs with work for so many blocks only have blocks of so many threads. Not measured: it is for
#: the emulator, which runs a thread after the other.
FEW_BLOCKS, FEW_THREADS = 4, 64

#: Queue entries per block; longer frontiers are pulled, or found by a sweep. Not measured: a
#: million entries, 50 MB, on an H200, where a larger frontier is worth a pull.
LONGEST_LIST = 4096

#: Frontier arcs above which the narrow kernel returns, and below which the wide one does. Not
#: measured: a grid of 4096 x 4096 has up to 2**15, which 132 blocks of 64 entries still hold.
MAX_NARROW_ARCS, NARROW_ARCS = 2**16, 2**15

#: Cost of an arc that a pull looks at, in sixteenths of that of a pushed arc. H200, R-MAT 24: 5.4
#: against 16 ps at a frontier of m / 1000 arcs, 2.8 against 16 ps at m / 14.
PULL_COST = 4

#: Mean degree from which searches begin with the wide kernel. Not measured: roads
#: and grids have 3 to 4 arcs a vertex, social networks and random graphs of benchmarks 16 and more.
DENSE = 8

#: Levels per launch, so that Ctrl-C works. Not measured: a third of a second at 2.5 us a level.
LEVELS = 2**17

#: Sources from which the incoming arcs of a directed graph are built. Not measured on a GPU: the
#: host takes as long as some 64 searches that only push.
SOURCES_WORTH_CSC = 64

# ---- multi_source -------------------------------------------------------------------------------

#: Searches of a batch. Not measured: one word of 32 searches per lane of a warp.
MOST_SEARCHES = 1024

#: Arcs of a hub per warp. Not measured: sixteen rounds of 32 arcs.
HUB_SEGMENT = 512

#: Levels, or bytes, per launch, so that Ctrl-C works. Not measured: some 20 ms at 5 us a level, or
#: at 4 TB/s.
MULTI_LEVELS, MULTI_BYTES = 4096, 2**36

# ---- level by level -----------------------------------------------------------------------------

#: Threads of a block with a thread per item. Not measured: these methods are read and compared with
#: each other; the fast one has its own.
THREADS = 256

#: Threads of a block of a prefix sum, for twice as many values. Not measured: 8 KB of shared memory
#: a block.
SCAN_THREADS = 512

#: Vertices that a block collects in shared memory: of a level, and of the levels that a single
#: block runs by itself, with so many threads. Not measured: 8 KB of shared memory each.
PRIVATE_CAPACITY = 2048
SINGLE_BLOCK_CAPACITY, SINGLE_BLOCK_THREADS = 1024, 512

#: Levels of a launch of a single block, so that Ctrl-C works. Not measured.
SINGLE_BLOCK_LEVELS = 256

#: Neighbours per thread in fine-grained gathering. Not measured: with 256 threads and 12 bytes a
#: neighbour, half of the shared memory that a block has by default.
GATHER_TILE = 8
