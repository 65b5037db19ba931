// What the kernels of all-pairs shortest paths have in common. In all of them d[i, j] is the length
// of the best path found so far, last[i, j] the vertex before j on it, and *cycle tells that there
// is a negative cycle and nothing more to do.
#pragma once
#include "common/kleene.cuh"

constexpr bool kInteger = static_cast<KL_TYPE>(0.5) == 0;

// Looks at "no path" where it is an integer, so that sums never wrap.
__device__ __forceinline__ KL_TYPE sum(KL_TYPE a, KL_TYPE b) {
  if constexpr (kInteger) {
    const KL_TYPE none = KlLimits<KL_TYPE>::none();
    if (a == none || b == none) return none;
  }
  return a + b;
}

// The same for all threads of a block, all of which ask: another kernel may be writing *cycle.
__device__ __forceinline__ bool cycle_found(const int* cycle) {
  return __syncthreads_or(kl_load(cycle)) != 0;
}

__device__ __forceinline__ bool first_thread() { return threadIdx.x == 0 && threadIdx.y == 0; }
