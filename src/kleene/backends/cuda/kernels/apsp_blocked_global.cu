// Blocked Floyd-Warshall in global memory: versions 1.0, 1.1 and 1.2 of Zuccato and Lena (2022): a
// launch per block, three launches of all blocks of which most are idle, three launches of exactly
// the blocks of a phase. The phases are those of apsp_blocked.cuh. A block of threads has a block
// of the matrix, one thread per cell, or per several cells if the side exceeds 32.
#include "apsp.cuh"
#include "common/kleene.cuh"

// Relaxes block (bi, bj) through the vertices of block t, with a barrier after each vertex. In
// phase 3 the cells of a block are independent, and there is no barrier.
template <int phase>
__device__ __forceinline__ void work(KL_TYPE* d, int* predecessors, long long n, int side, int t,
                                     int bi, int bj, int* cycle) {
  if (cycle_found(cycle)) return;
  const auto begin = [&](int block) { return static_cast<long long>(block) * side; };
  const auto end = [&](int block) { return min(begin(block) + side, n); };
  for (long long k = begin(t); k < end(t); ++k) {
    if (phase == 1 && d[k * n + k] < 0) {
      if (first_thread()) kl_store(cycle, 1);
      return;
    }
    for (long long i = begin(bi) + threadIdx.y; i < end(bi); i += blockDim.y) {
      for (long long j = begin(bj) + threadIdx.x; j < end(bj); j += blockDim.x) {
        if (i == k || j == k) continue;  // no cell is both read and written in a step
        const KL_TYPE through = sum(d[i * n + k], d[k * n + j]);
        if (through < d[i * n + j]) {
          d[i * n + j] = through;
#if KL_PATHS
          predecessors[i * n + j] = predecessors[k * n + j];
#endif
        }
      }
    }
    if (phase < 3) __syncthreads();
  }
}

#define MATRIX KL_TYPE *d, int *predecessors, long long n, int side, int t
#define GIVEN d, predecessors, n, side, t

// ---- version 1.0: one kernel for one block of any phase -----------------------------------------

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_one, MATRIX, int bi, int bj, int* cycle) {
  if (bi == t && bj == t) {
    work<1>(GIVEN, bi, bj, cycle);
  } else if (bi == t || bj == t) {
    work<2>(GIVEN, bi, bj, cycle);
  } else {
    work<3>(GIVEN, bi, bj, cycle);
  }
}

// ---- version 1.1: a kernel for each phase, always over all blocks -------------------------------

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_all_1, MATRIX, int* cycle) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if (bi == t && bj == t) work<1>(GIVEN, bi, bj, cycle);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_all_2, MATRIX, int* cycle) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if ((bi == t) != (bj == t)) work<2>(GIVEN, bi, bj, cycle);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_all_3, MATRIX, int* cycle) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if (bi != t && bj != t) work<3>(GIVEN, bi, bj, cycle);
}

// ---- version 1.2: as many blocks as a phase has -------------------------------------------------

// The index-th block other than t.
__device__ __forceinline__ int other_than(int t, int place) {
  return place < t ? place : place + 1;
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_1, MATRIX, int* cycle) {
  work<1>(GIVEN, t, t, cycle);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_2, MATRIX, int* cycle) {
  const int other = other_than(t, blockIdx.x);
  const bool in_row = blockIdx.y == 0;
  work<2>(GIVEN, in_row ? t : other, in_row ? other : t, cycle);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_3, MATRIX, int* cycle) {
  work<3>(GIVEN, other_than(t, blockIdx.y), other_than(t, blockIdx.x), cycle);
}
