// Atomic minima and maxima of distances.
//
// Their type is float, double, int or long long. no_path is KlLimits<T>::none(), larger than every
// distance. -0.0 is never stored where a minimum is taken, and NaN never occurs.
#pragma once
#include "common/kleene.cuh"

template <class T>
constexpr bool kl_is_integer = static_cast<T>(0.5) == 0;

// *address = min(*address, value); returns the old value.
__device__ __forceinline__ int kl_atomic_min(int* address, int value) {
  return atomicMin(address, value);
}
__device__ __forceinline__ long long kl_atomic_min(long long* address, long long value) {
  return atomicMin(address, value);
}

// The bits of floats >= 0, as signed integers, keep their order and are above those of negative
// ones; as unsigned integers, negative floats are above all others, in reverse order.
__device__ __forceinline__ float kl_atomic_min(float* address, float value) {
  const float positive_zero = value + 0.0f;
  if (positive_zero >= 0) {
    return __int_as_float(
        atomicMin(reinterpret_cast<int*>(address), __float_as_int(positive_zero)));
  }
  return __uint_as_float(atomicMax(reinterpret_cast<unsigned*>(address), __float_as_uint(value)));
}
__device__ __forceinline__ double kl_atomic_min(double* address, double value) {
  using Word = unsigned long long;
  const double positive_zero = value + 0.0;
  if (positive_zero >= 0) {
    return __longlong_as_double(
        atomicMin(reinterpret_cast<long long*>(address), __double_as_longlong(positive_zero)));
  }
  const Word bits = static_cast<Word>(__double_as_longlong(value));
  return __longlong_as_double(
      static_cast<long long>(atomicMax(reinterpret_cast<Word*>(address), bits)));
}

// *address = max(*address, value), with the same order of float bits.
__device__ __forceinline__ void kl_atomic_max(int* address, int value) {
  atomicMax(address, value);
}
__device__ __forceinline__ void kl_atomic_max(long long* address, long long value) {
  atomicMax(address, value);
}
__device__ __forceinline__ void kl_atomic_max(float* address, float value) {
  const float positive_zero = value + 0.0f;
  if (positive_zero >= 0) {
    atomicMax(reinterpret_cast<int*>(address), __float_as_int(positive_zero));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(address), __float_as_uint(positive_zero));
  }
}
__device__ __forceinline__ void kl_atomic_max(double* address, double value) {
  using Word = unsigned long long;
  const double positive_zero = value + 0.0;
  if (positive_zero >= 0) {
    atomicMax(reinterpret_cast<long long*>(address), __double_as_longlong(positive_zero));
  } else {
    atomicMin(reinterpret_cast<Word*>(address),
              static_cast<Word>(__double_as_longlong(positive_zero)));
  }
}

// A term of a biased sum, for searches where rounding makes a cycle seem negative (see
// src/kleene/backends/common/cycles.py). A bias of 0 leaves it as it is, and so do integers.
// Explicit rounding gives all kernels the same sums.
__device__ __forceinline__ float kl_biased_term(float term, float bias) {
  return bias == 0 ? term : __fmul_rn(term, term > 0 ? 1 + bias : 1 - bias);
}
__device__ __forceinline__ double kl_biased_term(double term, double bias) {
  return bias == 0 ? term : __dmul_rn(term, term > 0 ? 1 + bias : 1 - bias);
}
__device__ __forceinline__ int kl_biased_term(int term, int) { return term; }
__device__ __forceinline__ long long kl_biased_term(long long term, long long) { return term; }
