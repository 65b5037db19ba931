// Floyd-Warshall, one thread per cell and one launch per inner vertex k.
//
// After step k, d[i, j] is the length of the best path from i to j with inner vertices <= k, and
// predecessors[i, j] the vertex before j on it. Row and column k do not change in step k, because
// d[k, k] is not negative, so all cells can be updated in parallel. A negative d[k, k] is a
// negative cycle; it sets *cycle, and later steps do nothing.
#include "common/apsp.cuh"
#include "common/kleene.cuh"

// One thread: tests for a negative cycle through k before the step.
KL_KERNEL(apsp_naive_pivot, const KL_TYPE* d, long long n, int k, int* cycle) {
  if (d[k * n + k] < 0) *cycle = 1;
}

KL_KERNEL(apsp_naive_step, KL_TYPE* d, int* predecessors, long long n, int k, const int* cycle) {
  const long long j = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long i = blockIdx.y * static_cast<long long>(blockDim.y) + threadIdx.y;
  if (i >= n || j >= n || i == k || *cycle != 0) return;
  const KL_TYPE through = sum(d[i * n + k], d[k * n + j]);
  if (through < d[i * n + j]) {
    d[i * n + j] = through;
#if KL_PATHS
    predecessors[i * n + j] = predecessors[k * n + j];
#endif
  }
}
