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
// Terms are added to y atomically. Weights are null if every arc has weight one. The semiring is a
// number in the interface and a template parameter in the loops.
//
// W. Hwu, D. Kirk and I. El Hajj, "Programming Massively Parallel Processors", 2022, chapter 14.
#include "common/distances.cuh"
#include "common/load_balance.cuh"

// ---- semirings: zero, times, add, and accumulate(y, term), an atomic add ------------------------

enum Algebra : int { kPlusTimes, kMinPlus, kBoolean, kMaxMin, kMaxTimes };

template <class T>
__device__ __forceinline__ T lowest() {
  return -KlLimits<T>::none() - (kl_is_integer<T> ? 1 : 0);
}

// Integers wrap, as in NumPy.
template <class T>
__device__ __forceinline__ T product(T a, T b) {
  if constexpr (!kl_is_integer<T>) {
    return a * b;
  } else {
    using Word = unsigned long long;
    return static_cast<T>(static_cast<Word>(a) * static_cast<Word>(b));
  }
}

// Integers saturate; the largest one is no_path and stays so.
template <class T>
__device__ __forceinline__ T length(T a, T w) {
  if constexpr (kl_is_integer<T>) {
    const T highest = KlLimits<T>::none();
    if (a == highest || (w > 0 && a > highest - w)) return highest;
    if (w < 0 && a < lowest<T>() - w) return lowest<T>();
  }
  return a + w;
}

__device__ __forceinline__ void add_to(float* y, float term) { atomicAdd(y, term); }
__device__ __forceinline__ void add_to(double* y, double term) { atomicAdd(y, term); }
__device__ __forceinline__ void add_to(int* y, int term) { atomicAdd(y, term); }
__device__ __forceinline__ void add_to(long long* y, long long term) {
  using Word = unsigned long long;
  atomicAdd(reinterpret_cast<Word*>(y), static_cast<Word>(term));
}

// distances.cuh explains the order of float bits.
__device__ __forceinline__ void raise_to(int* y, int term) { atomicMax(y, term); }
__device__ __forceinline__ void raise_to(long long* y, long long term) { atomicMax(y, term); }
__device__ __forceinline__ void raise_to(float* y, float term) {
  const float value = term + 0.0f;
  if (value >= 0) {
    atomicMax(reinterpret_cast<int*>(y), __float_as_int(value));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(y), __float_as_uint(value));
  }
}
__device__ __forceinline__ void raise_to(double* y, double term) {
  using Word = unsigned long long;
  const double value = term + 0.0;
  if (value >= 0) {
    atomicMax(reinterpret_cast<long long*>(y), __double_as_longlong(value));
  } else {
    atomicMin(reinterpret_cast<Word*>(y), static_cast<Word>(__double_as_longlong(value)));
  }
}

template <int algebra, class T>
struct Semiring {
  static __device__ __forceinline__ T zero() {
    if constexpr (algebra == kMinPlus) {
      return KlLimits<T>::none();
    } else if constexpr (algebra == kMaxMin) {
      return lowest<T>();
    } else {
      return 0;
    }
  }
  static __device__ __forceinline__ T times(T a, T w) {
    if constexpr (algebra == kMinPlus) {
      return length(a, w);
    } else if constexpr (algebra == kMaxMin) {
      return min(a, w);
    } else if constexpr (algebra == kBoolean) {
      return a;
    } else {
      return product(a, w);
    }
  }
  static __device__ __forceinline__ T add(T a, T b) {
    if constexpr (algebra == kMinPlus) {
      return b < a ? b : a;
    } else if constexpr (algebra == kPlusTimes) {
      return sum(a, b);
    } else {
      return a < b ? b : a;
    }
  }
  // A test first avoids most of the atomic operations of idempotent sums.
  static __device__ __forceinline__ void accumulate(T* y, T term) {
    if constexpr (algebra == kPlusTimes) {
      if (term != 0) add_to(y, term);
    } else if constexpr (algebra == kMinPlus) {
      if (term < kl_load(y)) kl_atomic_min(y, term);
    } else {
      if (term > kl_load(y)) raise_to(y, term);
    }
  }

 private:
  static __device__ __forceinline__ T sum(T a, T b) {
    if constexpr (!kl_is_integer<T>) {
      return a + b;
    } else {
      using Word = unsigned long long;
      return static_cast<T>(static_cast<Word>(a) + static_cast<Word>(b));
    }
  }
};

// Calls body with the semiring as a type.
template <class Body>
__device__ __forceinline__ void with_semiring(int algebra, Body body) {
  switch (algebra) {
    case kPlusTimes:
      return body(Semiring<kPlusTimes, KL_TYPE>());
    case kMinPlus:
      return body(Semiring<kMinPlus, KL_TYPE>());
    case kBoolean:
      return body(Semiring<kBoolean, KL_TYPE>());
    case kMaxMin:
      return body(Semiring<kMaxMin, KL_TYPE>());
    default:
      return body(Semiring<kMaxTimes, KL_TYPE>());
  }
}

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
