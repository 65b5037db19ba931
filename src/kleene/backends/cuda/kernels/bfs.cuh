// Shared by the BFS kernels.
#pragma once
#include "common/kleene.cuh"

// Index of the thread in the grid: its arc or vertex.
__device__ __forceinline__ long long global_thread() {
  return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
}
