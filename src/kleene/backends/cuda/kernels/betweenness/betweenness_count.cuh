// Numbers of shortest paths: doubles, or with KL_SCALED doubles with an exponent of their own.
//
// A grid of 600 x 600 vertices has more shortest paths between its corners than a double can hold
// (2^1024). A search whose counts exceed kLargestCount is repeated with KL_SCALED; one of 512 x 512
// has 2^1017 and is not. See also native/core/measures/scaled_count.hpp.
#pragma once
#include "common/kleene.cuh"

// The largest count that doubles are trusted with. A quotient by it is a normal number, so that no
// bit of it is lost, and counts are multiplied by sums of such quotients only.
constexpr double kLargestCount = 1.1235582092889474e307;  // 2^1020

#if KL_SCALED

// value * 2^exponent. A stored value is in [1, 2), or it is zero; a sum of fewer than 2^31 of them
// is far from the limits of a double.
struct Count {
  double value;
  int exponent;
};

// 2^exponent; zero below the range of normal doubles.
__device__ __forceinline__ double power_of_two(int exponent) {
  if (exponent < -1022) return 0;
  return __longlong_as_double((static_cast<long long>(min(exponent, 1023)) + 1023) << 52);
}

__device__ __forceinline__ Count make_count(double value) { return {value, 0}; }

__device__ __forceinline__ double to_double(Count count) {
  return count.value * power_of_two(count.exponent);
}

__device__ __forceinline__ Count normalized(Count count) {
  if (count.value == 0) return {0, 0};
  const long long bits = __double_as_longlong(count.value);
  const int shift = static_cast<int>(bits >> 52) - 1023;
  return {__longlong_as_double(bits - (static_cast<long long>(shift) << 52)),
          count.exponent + shift};
}

__device__ __forceinline__ void add(Count& sum, Count more) {
  if (more.value == 0) return;
  if (sum.value == 0 || sum.exponent < more.exponent) {
    const Count less = sum;
    sum = more;
    more = less;
  }
  if (more.value != 0) sum.value += more.value * power_of_two(more.exponent - sum.exponent);
}

__device__ __forceinline__ Count product(Count a, Count b) {
  return {a.value * b.value, a.exponent + b.exponent};
}

// a / b; b is not zero.
__device__ __forceinline__ Count quotient(Count a, Count b) {
  return {a.value / b.value, a.exponent - b.exponent};
}

__device__ __forceinline__ bool is_too_large(Count) { return false; }

#else

struct Count {
  double value;
};

__device__ __forceinline__ Count make_count(double value) { return {value}; }
__device__ __forceinline__ double to_double(Count count) { return count.value; }
__device__ __forceinline__ void add(Count& sum, Count more) { sum.value += more.value; }
__device__ __forceinline__ Count product(Count a, Count b) { return {a.value * b.value}; }
__device__ __forceinline__ Count quotient(Count a, Count b) { return {a.value / b.value}; }
__device__ __forceinline__ bool is_too_large(Count count) { return count.value > kLargestCount; }

#endif

// Rows of counts, a lane of the warp to each source.
struct CountRows {
  double* values;
  int* exponents;  // null without KL_SCALED

  __device__ __forceinline__ Count load(long long row) const {
    const long long place = row * 32 + kl_lane();
#if KL_SCALED
    return {values[place], exponents[place]};
#else
    return {values[place]};
#endif
  }

  __device__ __forceinline__ void store(long long row, Count count) const {
    const long long place = row * 32 + kl_lane();
#if KL_SCALED
    count = normalized(count);
    exponents[place] = count.exponent;
#endif
    values[place] = count.value;
  }
};
