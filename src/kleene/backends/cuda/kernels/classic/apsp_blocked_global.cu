// Blocked Floyd-Warshall in global memory: versions 1.0, 1.1 and 1.2 of Zuccato and Lena (2022): a
// launch per block, three launches of all blocks of which most are idle, three launches of exactly
// the blocks of a phase. The phases are those of apsp_blocked.cuh. A block of threads has a block
// of the matrix, one thread per cell, or per several cells if the side exceeds 32.
#include "classic/apsp_blocked.cuh"

// Relaxes the cells of block (bi, bj) through vertex k.
__device__ __forceinline__ void step(const BlockedParams& p, int bi, int bj, long long k) {
  const auto begin = [&](int block) { return static_cast<long long>(block) * p.side; };
  const auto end = [&](int block) { return min(begin(block) + p.side, p.n); };
  for (long long i = begin(bi) + threadIdx.y; i < end(bi); i += blockDim.y) {
    for (long long j = begin(bj) + threadIdx.x; j < end(bj); j += blockDim.x) {
      if (i == k || j == k) continue;  // no cell is both read and written in a step
      const KL_TYPE through = sum(p.d[i * p.n + k], p.d[k * p.n + j]);
      if (through < p.d[i * p.n + j]) {
        p.d[i * p.n + j] = through;
#if KL_PATHS
        p.predecessors[i * p.n + j] = p.predecessors[k * p.n + j];
#endif
      }
    }
  }
}

// Relaxes block (bi, bj) through the vertices of block t, with a barrier after each vertex. In
// phase 3 the cells of a block are independent, and there is no barrier.
template <int phase>
__device__ __forceinline__ void relax(const BlockedParams& p, int t, int bi, int bj) {
  if (cycle_found(p.cycle)) return;
  const long long first = static_cast<long long>(t) * p.side, end = min(first + p.side, p.n);
  for (long long k = first; k < end; ++k) {
    if (phase == 1 && p.d[k * p.n + k] < 0) {
      if (first_thread()) kl_store(p.cycle, 1);
      return;
    }
    step(p, bi, bj, k);
    if (phase < 3) __syncthreads();
  }
}

// ---- version 1.0: one kernel for one block of any phase -----------------------------------------

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_one, const BlockedParams params, int t, int bi,
                 int bj) {
  if (bi == t && bj == t) {
    relax<1>(params, t, bi, bj);
  } else if (bi == t || bj == t) {
    relax<2>(params, t, bi, bj);
  } else {
    relax<3>(params, t, bi, bj);
  }
}

// ---- version 1.1: a kernel for each phase, always over all blocks -------------------------------

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_all_1, const BlockedParams params, int t) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if (bi == t && bj == t) relax<1>(params, t, bi, bj);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_all_2, const BlockedParams params, int t) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if ((bi == t) != (bj == t)) relax<2>(params, t, bi, bj);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_all_3, const BlockedParams params, int t) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if (bi != t && bj != t) relax<3>(params, t, bi, bj);
}

// ---- version 1.2: as many blocks as a phase has -------------------------------------------------

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_1, const BlockedParams params, int t) {
  relax<1>(params, t, t, t);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_2, const BlockedParams params, int t) {
  const int other = other_than(t, blockIdx.x);
  const bool in_row = blockIdx.y == 0;
  relax<2>(params, t, in_row ? t : other, in_row ? other : t);
}

KL_KERNEL_BOUNDS(1024, 1, apsp_blocked_global_3, const BlockedParams params, int t) {
  relax<3>(params, t, other_than(t, blockIdx.y), other_than(t, blockIdx.x));
}
