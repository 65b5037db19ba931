// Tuning of the SSSP kernels; the host's share is in tuning/sssp.py.
#pragma once

// ---- sssp_batched -------------------------------------------------------------------------------

// Rows of distances that a warp loads at once. H200, R-MAT 16, 512 sources: 8.2 ms with 2, 7.6 with
// 4, 8.0 with 6.
const int kRowsAtOnce = 4;

// Blocks of 256 threads per multiprocessor, for the compiler; with predecessors fewer, which need
// more registers. H200, R-MAT 16, 512 sources: 7.6 ms with 3, 7.2 with 4.
const int kBatchedBlocks = 4;
const int kBatchedPathBlocks = 3;

// ---- sssp_near_far ------------------------------------------------------------------------------

// Arcs of an entry at most, unless that would take more entries than a list has. Not measured: four
// for each lane of a warp.
const int kRangeArcs = 128;

// Threads of a block and blocks per multiprocessor, for wide frontiers. Not measured: all threads
// that 64 registers each allow, in few blocks, which makes grid barriers cheap.
const int kWideThreads = 512;
const int kWideBlocks = 2;

// Far entries that a thread loads at once. Not measured: their latencies overlap.
const int kScan = 4;

// ---- sssp_near_far_narrow -----------------------------------------------------------------------

// Threads of a block. Chosen on an H200, grid of 4096 x 4096 and highways.
const int kNarrowThreads = 256;

// Entries of a block for its next hop alone. Not measured: four for each group of four lanes.
const int kLocalEntries = 256;

// Vertices ahead in the offsets to prefetch. Not measured: the next line of 128 bytes.
const int kPrefetchVertices = 16;

// ---- sssp_llp -----------------------------------------------------------------------------------

// Warps of a block at most. Not measured: what 256 threads are.
const int kMostWarps = 8;

// Incoming arcs that keep a block busy. Not measured: four for each thread.
const long long kBlockArcs = 1024;
