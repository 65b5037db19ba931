// Sparse matrix-vector products y = x A over a semiring, with A in each of five forms:
//
//   y[v] = sum over arcs u -> v of x[u] times weight(u, v)
//
//   spmv_init    y = zero
//   spmv_csr     arcs by tail, shared evenly by warps
//   spmv_csc     arcs by head, shared evenly by warps; terms of one sum are added within the warp
//   spmv_coo     a thread per arc
//   spmv_ell     a thread per tail; the k-th arcs of all tails are adjacent
//   spmv_dense   a thread per head and block of rows
//
// Terms are added to y atomically. Weights are null if every arc has weight one.
//
// W. Hwu, D. Kirk and I. El Hajj, "Programming Massively Parallel Processors", 2022, chapter 14.
#include "common/load_balance.cuh"
#include "spmv_semiring.cuh"

// ---- matrix forms -------------------------------------------------------------------------------

__device__ __forceinline__ KL_TYPE weight(const KL_TYPE* weights, long long at) {
  return weights == nullptr ? static_cast<KL_TYPE>(1) : weights[at];
}

KL_KERNEL(spmv_init, int algebra, int n, KL_TYPE* y) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) with_semiring(algebra, [&](auto a) { y[v] = a.zero(); });
}

KL_KERNEL(spmv_csr, int algebra, const long long* offsets, const int* heads, const KL_TYPE* weights,
          const KL_TYPE* x, int n, KL_TYPE* y) {
  with_semiring(algebra, [&](auto a) {
    kl_for_arcs(offsets, n, [&](bool active, int u, long long arc) {
      if (active) a.accumulate(y + heads[arc], a.times(x[u], weight(weights, arc)));
    });
  });
}

KL_KERNEL(spmv_csc, int algebra, const long long* offsets, const int* tails, const KL_TYPE* weights,
          const KL_TYPE* x, int n, KL_TYPE* y) {
  const int lane = static_cast<int>(kl_lane());
  with_semiring(algebra, [&](auto a) {
    kl_for_arcs(offsets, n, [&](bool active, int v, long long arc) {
      const int own = active ? v : -1;
      KL_TYPE sum = active ? a.times(x[tails[arc]], weight(weights, arc)) : a.zero();
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int head = __shfl_up_sync(kAllLanes, own, step);
        const KL_TYPE preceding = __shfl_up_sync(kAllLanes, sum, step);
        if (lane >= step && head == own) sum = a.add(preceding, sum);
      }
      const int next = __shfl_down_sync(kAllLanes, own, 1);
      if (active && (lane == 31 || next != own)) a.accumulate(y + v, sum);
    });
  });
}

KL_KERNEL(spmv_coo, int algebra, const int* tails, const int* heads, const KL_TYPE* weights,
          const KL_TYPE* x, long long m, KL_TYPE* y) {
  const long long stride = gridDim.x * static_cast<long long>(blockDim.x);
  const long long first = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  with_semiring(algebra, [&](auto a) {
    for (long long arc = first; arc < m; arc += stride) {
      a.accumulate(y + heads[arc], a.times(x[tails[arc]], weight(weights, arc)));
    }
  });
}

KL_KERNEL(spmv_ell, int algebra, const int* heads, const KL_TYPE* weights, const KL_TYPE* x, int n,
          int width, KL_TYPE* y) {
  const int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  with_semiring(algebra, [&](auto a) {
    for (long long at = u, end = u + static_cast<long long>(width) * n; at < end; at += n) {
      if (heads[at] < 0) break;
      a.accumulate(y + heads[at], a.times(x[u], weight(weights, at)));
    }
  });
}

// A zero on the diagonal is the empty path, not an arc; a loop has another value.
KL_KERNEL(spmv_dense, int algebra, const KL_TYPE* matrix, const KL_TYPE* x, int n, int rows,
          KL_TYPE* y) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const int first = blockIdx.y * rows, end = min(first + rows, n);
  with_semiring(algebra, [&](auto a) {
    KL_TYPE total = a.zero();
    for (int u = first; u < end; ++u) {
      const KL_TYPE w = matrix[u * static_cast<long long>(n) + v];
      const bool arc = w != KlLimits<KL_TYPE>::none() && (u != v || w != 0);
      if (arc) total = a.add(total, a.times(x[u], w));
    }
    a.accumulate(y + v, total);
  });
}
