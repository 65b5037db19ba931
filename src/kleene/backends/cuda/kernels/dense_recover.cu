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
#include "kleene.cuh"

constexpr int kRows = 256;    // that a block counts and lists
constexpr int kTogether = 4;  // rows that share their reading of the lists

// "No path": infinity, and for integers half of their range, as in dense_algebra.cuh.
__device__ __forceinline__ KL_TYPE farthest() { return KlLimits<KL_TYPE>::none() / 2; }

__device__ __forceinline__ bool is_tight(KL_TYPE before, KL_TYPE after) {
  return before == after && after < farthest();
}

KL_KERNEL(recover_count, const KL_TYPE* before, const KL_TYPE* after, long long stride, int n,
          int* counts) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  const int first = blockIdx.y * kRows, end = min(first + kRows, n);
  int count = 0;
  for (int k = first; k < end; ++k) {
    count += k != j && is_tight(before[k * stride + j], after[k * stride + j]);
  }
  counts[blockIdx.y * static_cast<long long>(n) + j] = count;
}

// `last` may be the memory of `before`: each thread has read an entry when it writes there.
KL_KERNEL(recover_fill, const KL_TYPE* before, const KL_TYPE* after, long long stride, int n,
          const long long* offsets, int* heads, KL_TYPE* lengths, int* last) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  const int first = blockIdx.y * kRows, end = min(first + kRows, n);
  long long at = offsets[blockIdx.y * static_cast<long long>(n) + j];
  for (int k = first; k < end; ++k) {
    const KL_TYPE length = before[k * stride + j];
    const bool tight = k != j && is_tight(length, after[k * stride + j]);
    last[k * stride + j] = tight ? k : -1;
    if (!tight) continue;
    heads[at] = k;
    lengths[at++] = length;
  }
}

KL_KERNEL(recover_last, const KL_TYPE* after, long long stride, int n, const long long* begins,
          const int* heads, const KL_TYPE* lengths, int* last) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  const int first = blockIdx.y * kTogether;
  KL_TYPE target[kTogether], best[kTogether];
  int found[kTogether];
  unsigned missing = 0;
#pragma unroll
  for (int r = 0; r < kTogether; ++r) {
    const int i = first + r;
    found[r] = -1;
    if (i >= n || i == j || last[i * stride + j] >= 0) continue;
    target[r] = after[i * stride + j];
    best[r] = farthest();
    if (target[r] < farthest()) missing |= 1u << r;
  }
  for (long long at = begins[j]; at < begins[j + 1] && missing != 0; ++at) {
    const int k = heads[at];
    const KL_TYPE length = lengths[at];
#pragma unroll
    for (int r = 0; r < kTogether; ++r) {
      if ((missing >> r & 1) == 0) continue;
      const KL_TYPE so_far = after[(first + r) * stride + k];
      const KL_TYPE sum = so_far + length;
      if (!(so_far < target[r]) || !(sum < best[r])) continue;
      best[r] = sum;
      found[r] = k;
      if (sum == target[r]) missing &= ~(1u << r);
    }
  }
#pragma unroll
  for (int r = 0; r < kTogether; ++r) {
    if (found[r] >= 0) last[(first + r) * stride + j] = found[r];
  }
}
