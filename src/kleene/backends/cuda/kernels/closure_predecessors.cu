// Predecessors from shortest distances, where every arc is longer than zero.
//
// An arc is tight if it is itself a shortest path: only tight arcs can be the last on one. Even of
// a dense graph few arcs are tight, so it is cheaper to look for predecessors when all distances
// are known than to carry them along. Where a tight arc joins i to j, i comes before j; else some
// tight arc (k, j) has d[i, k] + its length = d[i, j], and its k is nearer to i than j, so that no
// chain can be a circle. Rounding may spoil the sum by a little: then the smallest one is taken.
//
//   recover_count   how many tight arcs of kRows rows each column has
//   recover_fill    lists them by column, from above; puts i where one joins i to j, -1 elsewhere
//   recover_last    looks for the others
//
// Matrices are n x n with rows `stride` apart: `before` holds the arcs, `after` the distances.
#include "common/kleene.cuh"

constexpr int kRows = 256;         // that a block counts and lists
constexpr int kRowsPerThread = 4;  // rows that share their reading of the lists

// "No path": infinity, and for integers half of their range, as in dense_algebra.cuh.
__device__ __forceinline__ KL_TYPE no_path() { return KlLimits<KL_TYPE>::none() / 2; }

__device__ __forceinline__ bool is_tight(KL_TYPE arc, KL_TYPE distance) {
  return arc == distance && distance < no_path();
}

KL_KERNEL(closure_predecessors_count, const KL_TYPE* arcs, const KL_TYPE* distances,
          long long stride, int n, int* counts) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  const int first = blockIdx.y * kRows, end = min(first + kRows, n);
  int count = 0;
  for (int k = first; k < end; ++k) {
    count += k != j && is_tight(arcs[k * stride + j], distances[k * stride + j]);
  }
  counts[blockIdx.y * static_cast<long long>(n) + j] = count;
}

// `last` may be the memory of `before`: each thread has read an entry when it writes there.
KL_KERNEL(closure_predecessors_list, const KL_TYPE* arcs, const KL_TYPE* distances,
          long long stride, int n, const long long* offsets, int* tails, KL_TYPE* lengths,
          int* predecessors) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  const int first = blockIdx.y * kRows, end = min(first + kRows, n);
  long long position = offsets[blockIdx.y * static_cast<long long>(n) + j];
  for (int k = first; k < end; ++k) {
    const KL_TYPE length = arcs[k * stride + j];
    const bool tight = k != j && is_tight(length, distances[k * stride + j]);
    predecessors[k * stride + j] = tight ? k : -1;
    if (!tight) continue;
    tails[position] = k;
    lengths[position++] = length;
  }
}

KL_KERNEL(closure_predecessors_search, const KL_TYPE* distances, long long stride, int n,
          const long long* begins, const int* tails, const KL_TYPE* lengths, int* predecessors) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  const int first = blockIdx.y * kRowsPerThread;
  KL_TYPE target[kRowsPerThread], best[kRowsPerThread];
  int predecessor[kRowsPerThread];
  unsigned missing = 0;
#pragma unroll
  for (int r = 0; r < kRowsPerThread; ++r) {
    const int i = first + r;
    predecessor[r] = -1;
    if (i >= n || i == j || predecessors[i * stride + j] >= 0) continue;
    target[r] = distances[i * stride + j];
    best[r] = no_path();
    if (target[r] < no_path()) missing |= 1u << r;
  }
  for (long long position = begins[j]; position < begins[j + 1] && missing != 0; ++position) {
    const int k = tails[position];
    const KL_TYPE length = lengths[position];
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      if ((missing >> r & 1) == 0) continue;
      const KL_TYPE distance = distances[(first + r) * stride + k];
      const KL_TYPE sum = distance + length;
      if (!(distance < target[r]) || !(sum < best[r])) continue;
      best[r] = sum;
      predecessor[r] = k;
      if (sum == target[r]) missing &= ~(1u << r);
    }
  }
#pragma unroll
  for (int r = 0; r < kRowsPerThread; ++r) {
    if (predecessor[r] >= 0) predecessors[(first + r) * stride + j] = predecessor[r];
  }
}
