// Distances that many threads lower at once.
//
// Their type is float, double, int or long long. "No path" is KlLimits<T>::none(), which is larger
// than every distance; -0.0 never stands where others look for a minimum, and NaN never occurs.
#pragma once
#include "kleene.cuh"

template <class T>
constexpr bool kl_is_integer = static_cast<T>(0.5) == 0;

// Puts the smaller of *address and value there; returns what was there before.
__device__ __forceinline__ int kl_atomic_min(int* address, int value) {
  return atomicMin(address, value);
}
__device__ __forceinline__ long long kl_atomic_min(long long* address, long long value) {
  return atomicMin(address, value);
}

// As integers with a sign, floats from zero on have their own order and are above all negative
// ones; as integers without a sign, negative ones are above all others, and the lowest is highest.
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

// A number as it stands in sums that rise by a part of it (src/kleene/backends/common/cycles.py tells
// what for); 0 leaves it as it is, and so do integers. Products are rounded by themselves, so that
// all kernels get the same sums.
__device__ __forceinline__ float kl_summand(float number, float rise) {
  return rise == 0 ? number : __fmul_rn(number, number > 0 ? 1 + rise : 1 - rise);
}
__device__ __forceinline__ double kl_summand(double number, double rise) {
  return rise == 0 ? number : __dmul_rn(number, number > 0 ? 1 + rise : 1 - rise);
}
__device__ __forceinline__ int kl_summand(int number, int) { return number; }
__device__ __forceinline__ long long kl_summand(long long number, long long) { return number; }
