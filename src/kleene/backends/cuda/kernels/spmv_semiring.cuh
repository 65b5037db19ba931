// Semirings of sparse products: zero, times, add, and accumulate(y, term), an atomic add. The
// semiring is a number in the interface of the kernels and a template parameter in their loops.
#pragma once

#include "common/distances.cuh"

const int kPlusTimes = 0;
const int kMinPlus = 1;
const int kBoolean = 2;
const int kMaxMin = 3;
const int kMaxTimes = 4;

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
      if (term > kl_load(y)) kl_atomic_max(y, term);
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
