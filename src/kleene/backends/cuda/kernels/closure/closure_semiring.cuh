// Semirings and number formats of the tiled closure. KL_ALGEBRA is one of the names below.
//
// A word of the matrix holds kLanes columns: one number, two 16-bit numbers, or 32 booleans. A left
// factor is expanded to one word per entry: a number, the same 16-bit number twice, all ones or all
// zeros. The operations are the same for expanded words.
#pragma once

#include "common/kleene.cuh"

#define KL_MIN_PLUS_LENGTH 1  // float >= 0: ordered as the integers with the same bits
#define KL_MIN_PLUS_FLOAT 2
#define KL_MIN_PLUS_DOUBLE 3
#define KL_MIN_PLUS_SHORT 4
#define KL_MIN_PLUS_INT 5
#define KL_MIN_PLUS_LONG 6
#define KL_BOOLEAN 7
#define KL_MAX_MIN_INT 8  // also floats, as integers in the same order: closure_tiled_reorder
#define KL_MAX_MIN_LONG 9
#define KL_MAX_TIMES_FLOAT 10  // >= 0: ordered as the integers with the same bits
#define KL_MAX_TIMES_DOUBLE 11

#if KL_ALGEBRA == KL_MIN_PLUS_LENGTH || KL_ALGEBRA == KL_MIN_PLUS_FLOAT || \
    KL_ALGEBRA == KL_MAX_TIMES_FLOAT
using Word = float;
#elif KL_ALGEBRA == KL_MIN_PLUS_DOUBLE || KL_ALGEBRA == KL_MAX_TIMES_DOUBLE
using Word = double;
#elif KL_ALGEBRA == KL_MIN_PLUS_LONG || KL_ALGEBRA == KL_MAX_MIN_LONG
using Word = long long;
#else
using Word = int;
#endif

// zero() is no_path, one() the empty path, times() concatenates paths, best() chooses between them.
// Integers that are added use half of their range as no_path, so that sums never wrap.

#if KL_ALGEBRA == KL_BOOLEAN

constexpr int kLanes = 32;
__device__ __forceinline__ Word zero() { return 0; }
__device__ __forceinline__ Word one() { return -1; }
__device__ __forceinline__ Word times(Word a, Word b) { return a & b; }
__device__ __forceinline__ Word best(Word x, Word y) { return x | y; }
__device__ __forceinline__ bool better(Word x, Word y) { return (x & ~y) != 0; }
__device__ __forceinline__ Word expand(Word word, int lane) { return -(word >> lane & 1); }

#elif KL_ALGEBRA == KL_MIN_PLUS_SHORT

constexpr int kLanes = 2;
__device__ __forceinline__ Word zero() { return 0x3fff3fff; }
__device__ __forceinline__ Word one() { return 0; }
__device__ __forceinline__ Word times(Word a, Word b) { return static_cast<int>(__vadd2(a, b)); }
__device__ __forceinline__ Word best(Word x, Word y) { return static_cast<int>(__vmins2(x, y)); }
__device__ __forceinline__ bool better(Word x, Word y) { return best(x, y) != y; }
__device__ __forceinline__ Word expand(Word word, int lane) {
  return static_cast<int>(__byte_perm(word, 0, lane == 0 ? 0x1010 : 0x3232));
}

#else

constexpr int kLanes = 1;
__device__ __forceinline__ Word expand(Word word, int) { return word; }

#if KL_ALGEBRA < KL_BOOLEAN
__device__ __forceinline__ Word one() { return 0; }
__device__ __forceinline__ Word times(Word a, Word b) { return a + b; }
__device__ __forceinline__ bool better(Word x, Word y) { return x < y; }
#if KL_ALGEBRA == KL_MIN_PLUS_INT || KL_ALGEBRA == KL_MIN_PLUS_LONG
__device__ __forceinline__ Word zero() { return KlLimits<Word>::none() / 2; }
#else
__device__ __forceinline__ Word zero() { return KlLimits<Word>::none(); }
#endif
#elif KL_ALGEBRA == KL_MAX_MIN_INT || KL_ALGEBRA == KL_MAX_MIN_LONG
__device__ __forceinline__ Word zero() { return -KlLimits<Word>::none() - 1; }
__device__ __forceinline__ Word one() { return KlLimits<Word>::none(); }
__device__ __forceinline__ Word times(Word a, Word b) { return a < b ? a : b; }
__device__ __forceinline__ bool better(Word x, Word y) { return x > y; }
#else
__device__ __forceinline__ Word zero() { return 0; }
__device__ __forceinline__ Word one() { return 1; }
__device__ __forceinline__ Word times(Word a, Word b) { return a * b; }
__device__ __forceinline__ bool better(Word x, Word y) { return x > y; }
#endif
__device__ __forceinline__ Word best(Word x, Word y) { return better(x, y) ? x : y; }

#endif

// c = best(c, a0 times b0, a1 times b1), in as few instructions as possible.
__device__ __forceinline__ void relax(Word& c, Word a0, Word b0, Word a1, Word b1) {
#if KL_ALGEBRA == KL_MIN_PLUS_LENGTH
  c = __int_as_float(
      __vimin3_s32(__float_as_int(c), __float_as_int(a0 + b0), __float_as_int(a1 + b1)));
#elif KL_ALGEBRA == KL_MAX_TIMES_FLOAT
  c = __int_as_float(
      __vimax3_s32(__float_as_int(c), __float_as_int(a0 * b0), __float_as_int(a1 * b1)));
#elif KL_ALGEBRA == KL_MIN_PLUS_FLOAT
  c = fminf(fminf(c, a0 + b0), a1 + b1);
#elif KL_ALGEBRA == KL_MIN_PLUS_INT
  c = __viaddmin_s32(a1, b1, __viaddmin_s32(a0, b0, c));
#elif KL_ALGEBRA == KL_MIN_PLUS_SHORT
  c = static_cast<int>(__viaddmin_s16x2(a1, b1, __viaddmin_s16x2(a0, b0, c)));
#elif KL_ALGEBRA == KL_MAX_MIN_INT
  c = __vimax3_s32(c, min(a0, b0), min(a1, b1));
#else
  c = best(times(a1, b1), best(times(a0, b0), c));
#endif
}

// c = best(c, a times b).
__device__ __forceinline__ void relax(Word& c, Word a, Word b) {
#if KL_ALGEBRA == KL_MIN_PLUS_LENGTH
  c = __int_as_float(min(__float_as_int(c), __float_as_int(a + b)));
#elif KL_ALGEBRA == KL_MAX_TIMES_FLOAT
  c = __int_as_float(max(__float_as_int(c), __float_as_int(a * b)));
#elif KL_ALGEBRA == KL_MIN_PLUS_FLOAT
  c = fminf(c, a + b);
#elif KL_ALGEBRA == KL_MIN_PLUS_INT
  c = __viaddmin_s32(a, b, c);
#elif KL_ALGEBRA == KL_MIN_PLUS_SHORT
  c = static_cast<int>(__viaddmin_s16x2(a, b, c));
#elif KL_ALGEBRA == KL_MAX_MIN_INT
  c = max(c, min(a, b));
#else
  c = best(times(a, b), c);
#endif
}

// The better of a0 times b0 and a1 times b1.
__device__ __forceinline__ Word better_product(Word a0, Word b0, Word a1, Word b1) {
#if KL_ALGEBRA == KL_MIN_PLUS_LENGTH
  return __int_as_float(min(__float_as_int(a0 + b0), __float_as_int(a1 + b1)));
#elif KL_ALGEBRA == KL_MAX_TIMES_FLOAT
  return __int_as_float(max(__float_as_int(a0 * b0), __float_as_int(a1 * b1)));
#elif KL_ALGEBRA == KL_MIN_PLUS_FLOAT
  return fminf(a0 + b0, a1 + b1);
#elif KL_ALGEBRA == KL_MIN_PLUS_INT
  return __viaddmin_s32(a1, b1, a0 + b0);
#else
  return best(times(a1, b1), times(a0, b0));
#endif
}
