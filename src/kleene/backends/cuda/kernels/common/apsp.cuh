// Shared by the all-pairs kernels: d[i, j] is the length of the best path so far, predecessors[i,
// j] the vertex before j on it, and *cycle is nonzero after a negative cycle was found.
#pragma once
#include "common/kleene.cuh"

constexpr bool kInteger = static_cast<KL_TYPE>(0.5) == 0;

// Tests integers for no_path, so that sums never wrap.
__device__ __forceinline__ KL_TYPE sum(KL_TYPE a, KL_TYPE b) {
  if constexpr (kInteger) {
    const KL_TYPE none = KlLimits<KL_TYPE>::none();
    if (a == none || b == none) return none;
  }
  return a + b;
}

// Uniform over the block, all threads of which call it: another kernel may be writing *cycle.
__device__ __forceinline__ bool cycle_found(const int* cycle) {
  return __syncthreads_or(kl_load(cycle)) != 0;
}

__device__ __forceinline__ bool first_thread() { return threadIdx.x == 0 && threadIdx.y == 0; }
