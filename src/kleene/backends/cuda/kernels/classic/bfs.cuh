// Shared by the BFS kernels.
#pragma once
#include "common/kleene.cuh"

// Index of the thread in the grid: its arc or vertex.
__device__ __forceinline__ long long global_thread() {
  return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
}

// What the kernels of a search read and write at every level.
struct LevelParams {
  const long long* offsets;  // arcs, outgoing unless a kernel says otherwise
  const int* neighbors;
  int* distances;     // -1 for unvisited
  int* predecessors;  // or null
};
