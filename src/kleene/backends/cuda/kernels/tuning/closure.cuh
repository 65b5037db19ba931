// Tuning of the dense closure: constants of its kernels, and where each was measured.
#pragma once

#include "closure/closure_semiring.cuh"

// ---- closure_tiled ------------------------------------------------------------------------------

// Vertices of a block, and rows of a tile. Not measured: one block of threads closes a diagonal
// block, on the critical path of a round, and the registers of 256 threads hold 128 x 128 words.
const int kBlock = 128;

// Threads of a block that closes a diagonal block or a strip: 8 x 8 words each.
const int kThreads = 256;

// Threads of a block of the product: 16 x 8 words each with 128, 8 x 8 with 256. NVIDIA H200,
// n = 8192, with 256 and 128: 37.8 and 37.8 ms for float32 >= 0, 43.9 and 54.9 for any float32, 108
// and 124 for float64, 37.3 and 36.9 for int32.
const int kProductThreads = 256;

// Bytes of a row of a tile: 128 words of 4 bytes. Not measured: tiles of such words are square.
const int kTileBytes = 512;

// Bytes of a column of a panel: 32 vertices of 4 bytes in shared memory at a time. The best of 16
// and 32 vertices on an NVIDIA H200 (dense float32); with 64, one block of threads fits, not two.
const int kPanelBytes = 128;

// Vertices that the notes of a product with predecessors can tell apart: 256 pairs, 8 bits each.
const int kNotedDepth = 512;

// Pairs of vertices unrolled in the product: the best of 1, 2, 4 and 8 on an NVIDIA H200 for each
// number format (dense matrices). With paths, more do not fit the registers.
#if !KL_PATHS && (KL_ALGEBRA == KL_MIN_PLUS_FLOAT || KL_ALGEBRA == KL_MIN_PLUS_INT || \
                  KL_ALGEBRA == KL_BOOLEAN || KL_ALGEBRA == KL_MIN_PLUS_DOUBLE ||     \
                  KL_ALGEBRA == KL_MIN_PLUS_LONG)
const int kUnroll = 8;
#else
const int kUnroll = 1;
#endif
