// The path algebras of prepared graphs, as in native/core/prepared/algebra.hpp: better() chooses
// between two paths, join() puts two end to end, zero() is no path and one() is the empty path.
//
// A variant is KL_SEMIRING over numbers of KL_TYPE. Shortest paths in integers use half the largest
// value as "no path". A sum with a negative length would look like a path, so join() compares
// first. Booleans are KL_MAX_MIN over bytes 0 and 1.
#pragma once
#include "common/distances.cuh"

#define KL_MIN_PLUS 1
#define KL_MAX_MIN 2
#define KL_MAX_TIMES 3

using Value = KL_TYPE;

constexpr bool kLengths = KL_SEMIRING == KL_MIN_PLUS;
constexpr bool kInteger = kl_is_integer<Value>;
constexpr bool kBytes = sizeof(Value) == 1;

// ---- paths --------------------------------------------------------------------------------------

#if KL_SEMIRING == KL_MIN_PLUS

__device__ __forceinline__ Value zero() {
  return kInteger ? KlLimits<Value>::none() / 2 : KlLimits<Value>::none();
}
__device__ __forceinline__ Value one() { return 0; }
__device__ __forceinline__ bool better(Value a, Value b) { return a < b; }
__device__ __forceinline__ Value join(Value a, Value b) {
  if constexpr (kInteger) return a == zero() || b == zero() ? zero() : a + b;
  return a + b;
}

#elif KL_SEMIRING == KL_MAX_MIN

template <class T>
__device__ __forceinline__ T widest() {
  if constexpr (sizeof(T) == 1) {
    return 1;
  } else {
    return KlLimits<T>::none();
  }
}
__device__ __forceinline__ Value one() { return widest<Value>(); }
__device__ __forceinline__ Value zero() {
  return kBytes ? 0 : static_cast<Value>(-one() - (kInteger ? 1 : 0));
}
__device__ __forceinline__ bool better(Value a, Value b) { return a > b; }
__device__ __forceinline__ Value join(Value a, Value b) { return a < b ? a : b; }

#else

__device__ __forceinline__ Value zero() { return 0; }
__device__ __forceinline__ Value one() { return 1; }
__device__ __forceinline__ bool better(Value a, Value b) { return a > b; }
__device__ __forceinline__ Value join(Value a, Value b) { return a * b; }

#endif

__device__ __forceinline__ Value best(Value a, Value b) { return better(b, a) ? b : a; }

// ---- answers ------------------------------------------------------------------------------------

// A value as users see it; only lengths in integers may have a wider type, and another "no path".
template <class Answer>
__device__ __forceinline__ Answer answer(Value value) {
  if constexpr (kLengths && kInteger) {
    if (value == zero()) return KlLimits<Answer>::none();
  }
  return static_cast<Answer>(value);
}

// ---- improvements by many threads ---------------------------------------------------------------

__device__ __forceinline__ void kl_atomic_max(unsigned char* address, unsigned char value) {
  kl_store(address, value);  // 1, as all that are stored
}

// *address = best(*address, value), atomically. A look first avoids most atomic operations.
__device__ __forceinline__ void improve(Value* address, Value value) {
  if (!better(value, kl_load(address))) return;
#if KL_SEMIRING == KL_MIN_PLUS
  kl_atomic_min(address, value);
#else
  kl_atomic_max(address, value);
#endif
}
