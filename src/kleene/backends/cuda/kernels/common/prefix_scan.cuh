// Exclusive prefix sums of any number of values.
//
// A block scans twice as many values as it has threads, a power of two, up and down a tree in
// shared memory (Blelloch 1990). The totals of several blocks are scanned in the same way, in as
// many passes as needed, and added to the values of each block; prefix_scan.py launches the passes.
//
//   KL_KERNEL(x_scan, const int* in, long long* out, long long* totals, long long n) {
//     KL_DYNAMIC_SHARED(long long, shared);
//     scan_blocks(in, out, totals, n, shared);
//   }
//   KL_KERNEL(x_scan_add, long long* out, const long long* offsets, long long n) {
//     scan_add(out, offsets, n);
//   }
#pragma once
#include "common/kleene.cuh"

// Values of one bank lie 32 apart: a gap after each 32 puts the nodes of a level of the tree into
// different banks.
__device__ __forceinline__ unsigned scan_index(unsigned i) { return i + i / 32; }

// Replaces the 2 x blockDim.x values at scan_index(0), scan_index(1), ... by their exclusive prefix
// sums; returns the total. All threads of the block call it, between barriers.
template <class T>
__device__ __forceinline__ T scan_in_shared(T* values) {
  const unsigned t = threadIdx.x;
  unsigned stride = 1;
  for (unsigned nodes = blockDim.x; nodes > 0; nodes /= 2, stride *= 2) {
    if (t < nodes) {
      values[scan_index(stride * (2 * t + 2) - 1)] += values[scan_index(stride * (2 * t + 1) - 1)];
    }
    __syncthreads();
  }
  T* const root = values + scan_index(2 * blockDim.x - 1);
  const T total = *root;
  __syncthreads();
  if (t == 0) *root = 0;
  for (unsigned nodes = 1; nodes <= blockDim.x; nodes *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < nodes) {
      T* const left = values + scan_index(stride * (2 * t + 1) - 1);
      T* const right = values + scan_index(stride * (2 * t + 2) - 1);
      const T offsets = *right;
      *right += *left;
      *left = offsets;
    }
  }
  return total;
}

// out[i] = the sum of the values before i in the same block; totals[block] = the sum of the block.
// out may be in. Needs shared memory for scan_index(2 x threads) values.
template <class In, class T>
__device__ __forceinline__ void scan_blocks(const In* in, T* out, T* totals, long long n,
                                            T* values) {
  const unsigned width = 2 * blockDim.x;
  const long long first = blockIdx.x * static_cast<long long>(width);
  for (unsigned k = threadIdx.x; k < width; k += blockDim.x) {
    values[scan_index(k)] = first + k < n ? static_cast<T>(in[first + k]) : 0;
  }
  __syncthreads();
  const T total = scan_in_shared(values);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < width && first + k < n; k += blockDim.x) {
    out[first + k] = values[scan_index(k)];
  }
}

// Adds offsets[block] to the results of scan_blocks, with the same blocks.
template <class T>
__device__ __forceinline__ void scan_add(T* out, const T* offsets, long long n) {
  const unsigned width = 2 * blockDim.x;
  const long long first = blockIdx.x * static_cast<long long>(width);
  const T offset = offsets[blockIdx.x];
  for (unsigned k = threadIdx.x; k < width && first + k < n; k += blockDim.x)
    out[first + k] += offset;
}
