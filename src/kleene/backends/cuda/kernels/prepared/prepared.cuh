// What the kernels of prepared graphs share: the elimination tree in pieces, and the order of them.
//
// A vertex is its rank in the elimination order. All its upward neighbors are ancestors in the
// elimination tree, and its descendants are the ranks just below it. The tree is cut into pieces
// that a block works on: some whole subtrees below one piece, or the upper part of one subtree
// (src/kleene/backends/cuda/prepared/layout.py). All ancestors of the vertices of a piece are in
// that piece, in its parent, in the parent of that, and so on. Within a piece, vertices are grouped
// by levels, from the top.
//
// Blocks take pieces from a counter, in an order in which what a piece waits for comes before it.
// So whatever a block waits for has been taken by a block that runs, and no launch needs a grid
// barrier.
#pragma once
#include "common/warp.cuh"
#include "prepared/prepared_algebra.cuh"
#include "tuning/prepared.cuh"

// ---- shared with the host -----------------------------------------------------------------------

struct PreparedVertex {
  long long first;  // of its pairs
  int pairs;        // its upward neighbors
  int rank;
  int depth;    // of the elimination tree, 0 for roots
  int subtree;  // vertices in its subtree: the last is itself
};

// ---- the queue of pieces; all threads of a block call these -------------------------------------

// The next number of the counter, the same for all threads. `shared` is one word of the block.
__device__ __forceinline__ unsigned take_next(unsigned* counter, unsigned* shared) {
  __syncthreads();  // the last number has been read
  if (threadIdx.x == 0) *shared = atomicAdd(counter, 1u);
  __syncthreads();
  return *shared;
}

// Waits until the counter has reached a number, and sees what was written before that. To acquire
// it empties the first-level cache, which blocks share: only once, at the end.
__device__ __forceinline__ void wait_for(const unsigned* counter, unsigned number) {
  if (threadIdx.x == 0) {
    while (kl_load(counter) < number) kl_pause();
    kl_acquire(counter);
  }
  __syncthreads();
}

// Adds 1 to a counter; blocks that wait for it see all that this block has written.
__device__ __forceinline__ void publish(unsigned* counter) {
  __syncthreads();
  if (threadIdx.x == 0) kl_release_add(counter, 1u);
}

// The warps that share one vertex of a level of so many vertices: a power of two.
__device__ __forceinline__ int warps_per_vertex(int vertices, int warps) {
  int share = warps;
  while (share > 1 && share * vertices > warps) share /= 2;
  return share;
}
