// Distances as words, and list entries, of the two near-far engines.
//
// The bits of non-negative numbers are in the order of the numbers, so distances of all types are
// unsigned words; all ones is no_path.
#pragma once
#include "common/warp.cuh"
#include "tuning/sssp.cuh"

// How a search ends.
const int kRunning = 0;    // not yet
const int kExhausted = 1;  // no vertex is left
const int kEarlyExit = 2;  // all targets are settled

// ---- words --------------------------------------------------------------------------------------

template <class T>
struct KlWord;
template <>
struct KlWord<unsigned> {
  using Word = unsigned;
  static __device__ __forceinline__ unsigned word(unsigned value) { return value; }
  static __device__ __forceinline__ unsigned value(Word word) { return word; }
  static __device__ __forceinline__ unsigned from_double(double value) {
    return value < 4e9 ? static_cast<unsigned>(value) : 4000000000u;
  }
};
template <>
struct KlWord<long long> {
  using Word = unsigned long long;
  static __device__ __forceinline__ Word word(long long value) { return value; }
  static __device__ __forceinline__ long long value(Word word) { return word; }
  static __device__ __forceinline__ long long from_double(double value) {
    return value < 4e18 ? static_cast<long long>(value) : 4000000000000000000ll;
  }
};
template <>
struct KlWord<float> {
  using Word = unsigned;
  static __device__ __forceinline__ Word word(float value) { return __float_as_uint(value); }
  static __device__ __forceinline__ float value(Word word) { return __uint_as_float(word); }
  static __device__ __forceinline__ float from_double(double value) {
    return static_cast<float>(value);
  }
};
template <>
struct KlWord<double> {
  using Word = unsigned long long;
  static __device__ __forceinline__ Word word(double value) { return __double_as_longlong(value); }
  static __device__ __forceinline__ double value(Word word) { return __longlong_as_double(word); }
  static __device__ __forceinline__ double from_double(double value) { return value; }
};

using Type = KlWord<KL_TYPE>;
using Word = Type::Word;
const Word kNoPath = ~static_cast<Word>(0);

// no_path if the sum overflows.
__device__ __forceinline__ Word sum(Word tail_distance, KL_TYPE length) {
  if constexpr (static_cast<KL_TYPE>(0.5) == 0) {
    const Word through = tail_distance + static_cast<Word>(length);
    return through < tail_distance ? kNoPath : through;
  } else {
    return Type::word(Type::value(tail_distance) + length);
  }
}

__device__ __forceinline__ Word warp_min(Word value) {
  if constexpr (sizeof(Word) == 4) {
    return __reduce_min_sync(kAllLanes, static_cast<unsigned>(value));
  } else {
    for (int step = 16; step > 0; step /= 2) {
      value = min(value, __shfl_xor_sync(kAllLanes, value, step));
    }
    return value;
  }
}

// Distances with different tags are different.
__device__ __forceinline__ unsigned tag_of(unsigned distance) { return distance; }
__device__ __forceinline__ unsigned tag_of(unsigned long long distance) {
  return static_cast<unsigned>(distance ^ distance >> 32);
}

// ---- entries ------------------------------------------------------------------------------------

// A vertex and some of its arcs: vertex, the tag of its distance, then the position of the
// first arc (40 bits) and their number (24 bits).
struct ArcRange {
  int vertex;
  unsigned tag;
  int degree;
  long long begin;
};

__device__ __forceinline__ int4 pack(int vertex, Word distance, long long begin, int degree) {
  return make_int4(
      vertex, static_cast<int>(tag_of(distance)), static_cast<int>(static_cast<unsigned>(begin)),
      static_cast<int>(static_cast<unsigned>(begin >> 32) | static_cast<unsigned>(degree) << 8));
}

__device__ __forceinline__ ArcRange unpack(int4 entry) {
  const unsigned high = static_cast<unsigned>(entry.w);
  return {entry.x, static_cast<unsigned>(entry.y), static_cast<int>(high >> 8),
          static_cast<long long>(high & 0xff) << 32 | static_cast<unsigned>(entry.z)};
}
