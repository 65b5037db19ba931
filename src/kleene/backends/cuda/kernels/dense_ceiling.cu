// How fast a GPU can do what the tiled engine does most, with everything in registers: a measure
// for the engine, never a part of it.
//
// Each thread keeps kDown x kAcross words and joins products to them, as a thread of the engine
// does, but of factors that it has. So that no product is of use twice, kDown of the left factors
// change in each step: one instruction beside many. A step joins 2 kDown kAcross products to words
// of kLanes columns, and a round has two steps.
#include "dense_algebra.cuh"

constexpr int kDown = 8;
constexpr int kAcross = sizeof(Word) == 8 ? 4 : 16;
constexpr int kThreads = 256;
constexpr int kGiven = 64;

template <class T>
__device__ __forceinline__ T changed(T a, T by) {
#if KL_ALGEBRA == KL_MAX_TIMES_FLOAT || KL_ALGEBRA == KL_MAX_TIMES_DOUBLE
  return a * by;
#else
  return a + by;
#endif
}

__device__ __forceinline__ int changed(int a, int by) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(by));
}

__device__ __forceinline__ long long changed(long long a, long long by) {
  return static_cast<long long>(static_cast<unsigned long long>(a) +
                                static_cast<unsigned long long>(by));
}

__device__ __forceinline__ void join_all(Word (&c)[kDown][kAcross], const Word (&a0)[kDown],
                                         const Word (&b0)[kAcross], const Word (&a1)[kDown],
                                         const Word (&b1)[kAcross]) {
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) join(c[i][j], a0[i], b0[j], a1[i], b1[j]);
  }
}

// Takes its factors from kGiven words; leaves the best of all that it joined, a word a thread.
KL_KERNEL_BOUNDS(kThreads, 1, dense_ceiling, const Word* given, Word by, int rounds, Word* found) {
  Word c[kDown][kAcross], even[kDown], odd[kDown], b0[kAcross], b1[kAcross];
  int at = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
    even[i] = given[at++ % kGiven];
    odd[i] = given[at++ % kGiven];
#pragma unroll
    for (int j = 0; j < kAcross; ++j) c[i][j] = zero();
  }
#pragma unroll
  for (int j = 0; j < kAcross; ++j) {
    b0[j] = given[at++ % kGiven];
    b1[j] = given[at++ % kGiven];
  }
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    join_all(c, even, b0, odd, b1);
#pragma unroll
    for (int i = 0; i < kDown; ++i) even[i] = changed(odd[i], by);
    join_all(c, odd, b0, even, b1);
#pragma unroll
    for (int i = 0; i < kDown; ++i) odd[i] = changed(even[i], by);
  }
  Word all = zero();
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) all = best(c[i][j], all);
  }
  found[blockIdx.x * kThreads + threadIdx.x] = all;
}
