// Predecessors from shortest distances, if every arc length is positive.
//
// An arc is tight if it is itself a shortest path: only tight arcs can end one. Even in a dense
// graph few arcs are tight, so it is cheaper to recover predecessors from the distances than to
// compute them along. If the arc (i, j) is tight, the predecessor of j from i is i; otherwise some
// tight arc (k, j) has d[i, k] + length = d[i, j], and k is nearer to i than j, so predecessors
// form no cycle. Rounding may change the sum a little: then the k with the smallest sum is taken.
// Where a k that is no nearer has a smaller one, rounding swallowed its arc, and the entry stays
// -1.
//
//   closure_predecessors_count    the number of tight arcs of kRows rows in each column
//   closure_predecessors_list     lists them by column; i precedes j where the arc (i, j) is tight
//   closure_predecessors_search   searches the lists for the others
//
// Matrices are n x n with rows `stride` apart.
#include "common/kleene.cuh"

constexpr int kRows = 256;         // of a block that counts or lists
constexpr int kRowsPerThread = 4;  // rows that share one pass over a list

// Infinity, and for integers half of their range, as in closure_semiring.cuh.
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

// `predecessors` may be the memory of `arcs`: each thread reads an entry before it writes it.
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
  KL_TYPE swallowed[kRowsPerThread];  // the smallest sum by way of a k that is no nearer
  int predecessor[kRowsPerThread];
  unsigned missing = 0;
#pragma unroll
  for (int r = 0; r < kRowsPerThread; ++r) {
    const int i = first + r;
    predecessor[r] = -1;
    if (i >= n || i == j || predecessors[i * stride + j] >= 0) continue;
    target[r] = distances[i * stride + j];
    best[r] = swallowed[r] = no_path();
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
      if (!(distance < target[r])) {
        if (sum < swallowed[r]) swallowed[r] = sum;
      } else if (sum < best[r]) {
        best[r] = sum;
        predecessor[r] = k;
        if (sum == target[r]) missing &= ~(1u << r);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRowsPerThread; ++r) {
    const bool found = predecessor[r] >= 0 && (best[r] == target[r] || best[r] <= swallowed[r]);
    if (found) predecessors[(first + r) * stride + j] = predecessor[r];
  }
}
