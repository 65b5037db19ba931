// Prefix sums of any number of values: each becomes the sum of those before it.
//
// A block sums twice as many values as it has threads, a power of two, up and down a tree in shared
// memory (Blelloch 1990). If there are several blocks, their totals are summed in the same way, by
// as many passes as it takes, and added to what each block has; cuda/scan.py launches them.
//
//   KL_KERNEL(x_scan, const int* in, long long* out, long long* totals, long long n) {
//     KL_DYNAMIC_SHARED(long long, shared);
//     scan_blocks(in, out, totals, n, shared);
//   }
//   KL_KERNEL(x_scan_add, long long* out, const long long* before, long long n) {
//     scan_add(out, before, n);
//   }
#pragma once
#include "kleene.cuh"

// Values of one bank of shared memory lie 32 apart: a gap after each 32 puts the nodes of a level
// of the tree into different banks.
__device__ __forceinline__ unsigned scan_place(unsigned i) { return i + i / 32; }

// Replaces the 2 x blockDim.x values at scan_place(0), scan_place(1), ... by the sums of those
// before them, and returns the sum of all. All threads of the block call it, between barriers.
template <class T>
__device__ __forceinline__ T scan_in_shared(T* values) {
  const unsigned t = threadIdx.x;
  unsigned stride = 1;
  for (unsigned nodes = blockDim.x; nodes > 0; nodes /= 2, stride *= 2) {
    if (t < nodes) {
      values[scan_place(stride * (2 * t + 2) - 1)] += values[scan_place(stride * (2 * t + 1) - 1)];
    }
    __syncthreads();
  }
  T* const root = values + scan_place(2 * blockDim.x - 1);
  const T total = *root;
  __syncthreads();
  if (t == 0) *root = 0;
  for (unsigned nodes = 1; nodes <= blockDim.x; nodes *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < nodes) {
      T* const left = values + scan_place(stride * (2 * t + 1) - 1);
      T* const right = values + scan_place(stride * (2 * t + 2) - 1);
      const T before = *right;
      *right += *left;
      *left = before;
    }
  }
  return total;
}

// out[i] = the sum of in[0], ..., in[i - 1] as far as they are in the same block, and totals[block]
// the sum of all of them. out may be in. There is shared memory for scan_place(2 x threads) values.
template <class In, class T>
__device__ __forceinline__ void scan_blocks(const In* in, T* out, T* totals, long long n,
                                            T* values) {
  const unsigned width = 2 * blockDim.x;
  const long long first = blockIdx.x * static_cast<long long>(width);
  for (unsigned k = threadIdx.x; k < width; k += blockDim.x) {
    values[scan_place(k)] = first + k < n ? static_cast<T>(in[first + k]) : 0;
  }
  __syncthreads();
  const T total = scan_in_shared(values);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < width && first + k < n; k += blockDim.x) {
    out[first + k] = values[scan_place(k)];
  }
}

// Adds before[block] to what scan_blocks put there, with the same blocks.
template <class T>
__device__ __forceinline__ void scan_add(T* out, const T* before, long long n) {
  const unsigned width = 2 * blockDim.x;
  const long long first = blockIdx.x * static_cast<long long>(width);
  const T more = before[blockIdx.x];
  for (unsigned k = threadIdx.x; k < width && first + k < n; k += blockDim.x)
    out[first + k] += more;
}
