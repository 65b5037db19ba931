// Sums and searches over the lanes of a warp; all are called by whole warps.
#pragma once
#include "common/kleene.cuh"

constexpr unsigned kAllLanes = 0xffffffffu;

// Inclusive prefix sum over the warp.
__device__ __forceinline__ int kl_warp_scan(int value) {
  const int lane = static_cast<int>(kl_lane());
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int preceding = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += preceding;
  }
  return value;
}

// The number of values at most `value` among the ascending ones of lanes 0 to 30.
__device__ __forceinline__ int kl_warp_upper_bound(int rising, int value) {
  int rank = 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    if (__shfl_sync(kAllLanes, rising, rank + step - 1) <= value) rank += step;
  }
  return rank;
}

// The position of the set bit of a word with so many set bits below it.
__device__ __forceinline__ int kl_nth_set_bit(unsigned word, int rank) {
  int position = 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const int low = __popc(word >> position & ((1u << step) - 1));
    if (low <= rank) rank -= low, position += step;
  }
  return position;
}

// The set bits below this lane.
__device__ __forceinline__ int kl_rank(unsigned lanes) {
  return __popc(lanes & ((1u << kl_lane()) - 1));
}

__device__ __forceinline__ long long kl_global_warp() {
  return (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / 32;
}
__device__ __forceinline__ long long kl_total_warps() {
  return gridDim.x * static_cast<long long>(blockDim.x) / 32;
}
