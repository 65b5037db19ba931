// What the kernels of breadth-first searches share.
#pragma once
#include "kleene.cuh"

// Which arc or vertex is this thread's.
__device__ __forceinline__ long long own_index() {
  return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
}
