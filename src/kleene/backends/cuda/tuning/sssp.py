"""Tuning of the shortest-path searches; what kernels need is in ``kernels/tuning/sssp.cuh``."""

from __future__ import annotations

#: Arcs sampled for the mean length. Not measured: enough for an error of a few per cent, and quick.
SAMPLED_ARCS = 4096

# ---- sssp_near_far, both engines ----------------------------------------------------------------

#: Mean degree up to which paths are long and frontiers small. Not measured: it is between road
#: networks and grids, of 2 to 5, and R-MAT and uniform graphs, of 16 and more.
NARROW_DEGREE = 6

#: Vertices and arcs that are worth one more block, and blocks up to which those are small.
#: H200, 2^15 vertices of degree 2: 0.18 ms; with blocks of 64 threads for all 1.01.
WORK_PER_BLOCK = 1024
FEW_BLOCKS = 4

#: Entries of the list of a block, if there are so many. Not measured: small graphs spill less.
SHORTEST_LIST = 2048

# ---- sssp_near_far: wide frontiers --------------------------------------------------------------

#: Threads of small blocks.
WIDE_FEW_THREADS = 32

#: The first delta, in mean lengths over the square of the mean degree. H200, R-MAT 22 and a uniform
#: graph of that size, weights 1 to 255: 4.68 and 4.48 ms with 64, 4.49 and 4.39 with 96, 4.80 and
#: 5.11 with 128; R-MAT 22 from another source 4.54 with 64, 3.92 with 128.
WIDE_DELTA = 96.0

#: Arcs of a bucket below which delta is doubled, above which it is halved. H200, the same graph:
#: half the lower bound takes 6 % longer, twice and four times save 1 and 3 %.
WIDE_LOW_ARCS = 2**20
WIDE_HIGH_ARCS = 2**24

#: Entries of all near and of all far lists. Not measured: 128 and 192 MB; what does not fit spills.
WIDE_NEAR_ENTRIES = 2**22
WIDE_FAR_ENTRIES = 2**24

#: Rounds and arcs per launch. Not measured: some tenths of a second, so that Ctrl-C works.
WIDE_ROUNDS = 2**12
WIDE_ARCS = 2**33

# ---- sssp_near_far_narrow: small frontiers ------------------------------------------------------

#: Blocks per multiprocessor, threads of small blocks. H200, grid of 4096 x 4096 and highways.
NARROW_BLOCKS = 2
NARROW_FEW_THREADS = 64

#: The least delta, in mean lengths; hops of a block alone between two grid barriers; near vertices
#: per hop below which delta is doubled, above which it is halved. H200, a grid of 4096 x 4096 and
#: highways: 20.5 and 6.15 ms with 8, 3, 512, 4096; 16.9 and 5.57 with 16, 8, 512, 4096; 17.6 and
#: 5.29 with 16, 5, 1024, 8192.
NARROW_DELTA = 16.0
NARROW_LOCAL_HOPS = 8
NARROW_FEW = 1024
NARROW_MANY = 8192

#: Entries of all near and of all far lists. Not measured: 64 and 96 MB; what does not fit spills.
NARROW_NEAR_ENTRIES = 2**21
NARROW_FAR_ENTRIES = 2**23

#: Hops per launch, of some 3 us on an H200: a fifth of a second, so that Ctrl-C works.
NARROW_HOPS = 2**16

# ---- sssp_bellman_ford --------------------------------------------------------------------------

#: Blocks per multiprocessor, for all arcs. Not measured: all that are resident with 256 threads.
BELLMAN_FORD_BLOCKS = 8

#: Rounds, queue entries and arcs per launch, about. Not measured: some milliseconds, so that Ctrl-C
#: works and negative cycles are looked for in time.
BELLMAN_FORD_ROUNDS = 1024
BELLMAN_FORD_ENTRIES = 2**20
BELLMAN_FORD_ARCS = 2**28

# ---- sssp_llp, sssp_predecessors ----------------------------------------------------------------

#: Rounds per launch. Not measured: each may visit all arcs; Ctrl-C works between launches.
LLP_ROUNDS = 64

#: Layers per launch. Not measured: some milliseconds.
PREDECESSOR_LAYERS = 1024

# ---- sssp_batched -------------------------------------------------------------------------------

#: Bytes of distances of a batch, if that is a group at least. H200, R-MAT 16, 512 sources: 7.6 ms
#: of computation in four batches of 2^25 bytes, 6.5 in two of 2^26, 5.8 in one; but the rows of all
#: but the last batch are copied while the next one is computed.
BATCHED_BYTES = 2**26

#: Arcs of a hub per warp. H200, R-MAT 16, 512 sources: 7.7 ms with 64, 7.6 with 128, 9.4 with 256.
BATCHED_SEGMENT = 128

#: Increment of the threshold, in mean arc lengths. H200: on a grid of 256 x 256 with weights 1 to
#: 255, 16 takes a quarter more rounds than no thresholds and a third of the work; Rome is similar.
BATCHED_INCREMENT = 16

#: Arcs of a warp at a time, on average, if there are enough vertices. H200, R-MAT 16: 32 and 512
#: are as fast.
BATCHED_WARP_ARCS = 128

#: Rounds and bytes of rows per launch. Not measured: some 20 ms at the rate of the second-level
#: cache of an H200, so that Ctrl-C works.
BATCHED_ROUNDS = 4096
BATCHED_LAUNCH_BYTES = 2**36
