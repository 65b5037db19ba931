// Tuning of the BFS kernels; the host's share is in tuning/bfs.py.
#pragma once

// ---- bfs_direction ------------------------------------------------------------------------------

// Threads of a block. Not measured: with two blocks of 512 per multiprocessor a thread may have 64
// registers, as many as bfs_direction_wide needs.
const int kWideThreads = 512;
const int kNarrowThreads = 256;

// Arcs of a range at most; a vertex with more is split. Not measured: as many as a warp visits in
// one round of kArcsPerLane.
const int kRangeArcs = 128;

// Arcs of a lane whose loads overlap in a push. H200, R-MAT 24: 2, 4 and 8 are alike.
const int kArcsPerLane = 4;

// Arcs that one lane scans in a pull; the warp scans the others. Not measured: one line of memory.
const int kSerialArcs = 32;

// Vertices ahead in the offsets to prefetch. Not measured: one line of memory of 8-byte offsets.
const int kPrefetchVertices = 16;

// Consecutive small levels after which bfs_direction_wide returns. Not measured: R-MAT graphs end
// with two or three, for which a launch would not pay.
const int kSmallLevels = 4;

// ---- bfs_multi ----------------------------------------------------------------------------------

// Blocks of 256 threads per multiprocessor, for the compiler. Not measured: 64 registers a thread.
const int kMultiBlocks = 4;

// A vertex with more arcs is not tested first. Not measured: the test would cost as much as the
// scan.
const int kMaxProbedArcs = 8;

// ---- bfs_scan -----------------------------------------------------------------------------------

// Gathered vertices up to which one thread makes the next frontier. Not measured: the threshold of
// Padamata and Raveendran 2013.
const int kSequential = 512;
