// Blocked Floyd-Warshall in shared memory: the kernels of versions 2.0 to 4.1 of Zuccato and Lena
// (2022), and of 4.2. The phases are in apsp_blocked.cuh. Shared memory holds one block in phase 1
// and the two factors in phases 2 and 3. `down` and `across` are the strides of the left factor:
// (side, 1) by rows, (1, side) transposed.
#include "apsp_blocked.cuh"
#include "common/kleene.cuh"

#define MATRIX KL_TYPE *d, int *predecessors, long long n, int side, int column_major
#define LAYOUT int down, int across
#define BLOCKS Blocks{d, predecessors, n, side, column_major != 0}

// The index-th block other than t.
__device__ __forceinline__ int other_than(int t, int place) {
  return place < t ? place : place + 1;
}

// ---- whole phases: versions 2.0 and 2.1 ---------------------------------------------------------

// One block works; others exit.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_diagonal, MATRIX, int pitch, int t, int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  if (blockIdx.x != 0 || blockIdx.y != 0) return;
  BLOCKS.diagonal(shared, pitch, t, cycle);
}

// r - 1 blocks in the row and r - 1 in the column.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_cross, MATRIX, LAYOUT, int t, const int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int other = other_than(t, blockIdx.x);
  const bool in_row = blockIdx.y == 0;
  BLOCKS.cross(shared, down, across, t, in_row ? t : other, in_row ? other : t, cycle);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_rest, MATRIX, LAYOUT, int t, const int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int bi = other_than(t, blockIdx.y), bj = other_than(t, blockIdx.x);
  BLOCKS.rest(shared, down, across, t, bi, bj, cycle);
}

// ---- rectangles of blocks: versions 3.0, 4.0 and 4.1 --------------------------------------------

// The grid may be larger than the rectangle.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_shared_piece, MATRIX, LAYOUT, int t, int first_row, int rows,
                 int first_column, int columns, const int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  if (blockIdx.x >= static_cast<unsigned>(columns) || blockIdx.y >= static_cast<unsigned>(rows)) {
    return;
  }
  const int bi = first_row + blockIdx.y, bj = first_column + blockIdx.x;
  if (bi == t || bj == t) {
    BLOCKS.cross(shared, down, across, t, bi, bj, cycle);
  } else {
    BLOCKS.rest(shared, down, across, t, bi, bj, cycle);
  }
}

// ---- a round that can be launched again: version 4.2 --------------------------------------------

// *round is the number t of the round. Blocks are numbered cyclically from t, so every round has
// the same numbers of blocks, and one captured graph works for all of them. Phase 3 of round t
// begins with the row and column of block t + 1, so that phases 1 and 2 of the next round overlap
// with the rest of phase 3.

// Phase 3 for the row and the column of block t + 1: 2 r - 3 blocks.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_near, MATRIX, LAYOUT, int r, const int* round,
                 const int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int t = *round, at = blockIdx.x, next = t + 1;
  const bool in_row = at < r - 1;
  const int other = (in_row ? next + at : next + at - (r - 2)) % r;
  BLOCKS.rest(shared, down, across, t, in_row ? next : other, in_row ? other : next, cycle);
}

// Phase 3 for all others: (r - 2) x (r - 2) blocks.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_far, MATRIX, LAYOUT, int r, const int* round,
                 const int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int t = *round, bi = (t + 2 + blockIdx.y) % r, bj = (t + 2 + blockIdx.x) % r;
  BLOCKS.rest(shared, down, across, t, bi, bj, cycle);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_diagonal, MATRIX, int pitch, const int* round,
                 int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  BLOCKS.diagonal(shared, pitch, *round + 1, cycle);
}

// (r - 1) x 2 blocks.
KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_ring_cross, MATRIX, LAYOUT, int r, const int* round,
                 const int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  const int next = *round + 1, other = (next + 1 + static_cast<int>(blockIdx.x)) % r;
  const bool in_row = blockIdx.y == 0;
  BLOCKS.cross(shared, down, across, next, in_row ? next : other, in_row ? other : next, cycle);
}

KL_KERNEL(apsp_blocked_ring_advance, int* round) { ++*round; }
