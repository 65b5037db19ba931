// Blocked Floyd-Warshall in shared memory: the kernels of versions 2.0 to 4.1 of Zuccato and Lena
// (2022), and of 4.2. The phases are in apsp_blocked.cuh. Shared memory holds one block in phase 1
// and the two factors in phases 2 and 3.
#include "classic/apsp_blocked.cuh"

// ---- whole phases: versions 2.0 and 2.1 ---------------------------------------------------------

// One block works; others exit.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_diagonal, const BlockedParams params, int t) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  if (blockIdx.x != 0 || blockIdx.y != 0) return;
  close_diagonal(params, shared, t);
}

// r - 1 blocks in the row and r - 1 in the column.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_cross, const BlockedParams params, int t) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int other = other_than(t, blockIdx.x);
  const bool in_row = blockIdx.y == 0;
  relax_cross(params, shared, t, in_row ? t : other, in_row ? other : t);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_rest, const BlockedParams params, int t) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  relax_rest(params, shared, t, other_than(t, blockIdx.y), other_than(t, blockIdx.x));
}

// ---- rectangles of blocks: versions 3.0, 4.0 and 4.1 --------------------------------------------

// The grid may be larger than the rectangle.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_piece, const BlockedParams params, int t,
                 int first_row, int rows, int first_column, int columns) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  if (blockIdx.x >= static_cast<unsigned>(columns) || blockIdx.y >= static_cast<unsigned>(rows)) {
    return;
  }
  const int bi = first_row + blockIdx.y, bj = first_column + blockIdx.x;
  if (bi == t || bj == t) {
    relax_cross(params, shared, t, bi, bj);
  } else {
    relax_rest(params, shared, t, bi, bj);
  }
}

// ---- a round that can be launched again: version 4.2 --------------------------------------------

// *round is the number t of the round, of r. Blocks are numbered cyclically from t, so every round
// has the same numbers of blocks, and one captured graph works for all of them. Phase 3 of round t
// begins with the row and column of block t + 1, so that phases 1 and 2 of the next round overlap
// with the rest of phase 3.

// Phase 3 for the row and the column of block t + 1: 2 r - 3 blocks.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_near, const BlockedParams params, int r,
                 const int* round) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int t = *round, index = blockIdx.x, next = t + 1;
  const bool in_row = index < r - 1;
  const int other = (in_row ? next + index : next + index - (r - 2)) % r;
  relax_rest(params, shared, t, in_row ? next : other, in_row ? other : next);
}

// Phase 3 for all others: (r - 2) x (r - 2) blocks.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_far, const BlockedParams params, int r,
                 const int* round) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int t = *round, bi = (t + 2 + blockIdx.y) % r, bj = (t + 2 + blockIdx.x) % r;
  relax_rest(params, shared, t, bi, bj);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_diagonal, const BlockedParams params,
                 const int* round) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  close_diagonal(params, shared, *round + 1);
}

// (r - 1) x 2 blocks.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_cross, const BlockedParams params, int r,
                 const int* round) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int next = *round + 1, other = (next + 1 + static_cast<int>(blockIdx.x)) % r;
  const bool in_row = blockIdx.y == 0;
  relax_cross(params, shared, next, in_row ? next : other, in_row ? other : next);
}

KL_KERNEL(apsp_blocked_ring_advance, int* round) { ++*round; }
