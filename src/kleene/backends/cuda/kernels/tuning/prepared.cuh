// Tuning of the kernels of prepared graphs; the host's share is in tuning/prepared.py.
#pragma once

// ---- prepared_trees -----------------------------------------------------------------------------

// Bytes of a row of values that a lane holds: 128 sources of 4 bytes to a warp. Not measured:
// the widest load, as in sssp_batched.
const int kRowBytes = 16;

// Threads of a block that sweeps a piece, and blocks per multiprocessor, for the compiler. Not
// measured yet: levels of a piece have some 15 vertices (highways), a warp each; 64 registers.
const int kSweepThreads = 256;
const int kSweepBlocks = 4;

// Rows of upward neighbors that a warp loads at once. Not measured: most vertices have at most
// four upward neighbors.
const int kRowsAtOnce = 4;

// Threads of a block that climbs, a warp to a source, and of one that writes rows, selects or
// marks. Not measured.
const int kRowThreads = 256;

// ---- prepared_customize -------------------------------------------------------------------------

// Threads of a block that relaxes the triangles of a piece, and blocks per multiprocessor. Not
// measured yet: near the root a piece is a chain of vertices with thousands of triangles each, and
// the number of threads decides; with 1024 highways take 3.0 ms, others were not measured.
const int kCustomizeThreads = 1024;
const int kCustomizeBlocks = 1;
