// The upper bound of the tiled closure: its inner operation with all operands in registers. For
// benchmarks only.
//
// Each thread relaxes kDown x kAcross words, as a thread of closure_tiled_product does, with
// factors in registers. kDown left factors change in each step, one instruction beside many, so
// that the compiler can reuse no product. A step relaxes 2 kDown kAcross products of kLanes
// columns, and a round has two steps.
#include "closure/closure_semiring.cuh"

// Words of a thread: those of 4 and of 8 bytes across fill the same registers.
const int kDown = 8;
const int kAcross4 = 16;
const int kAcross8 = 4;
constexpr int kAcross = sizeof(Word) == 8 ? kAcross8 : kAcross4;
const int kThreads = 256;
const int kFactors = 64;  // words that the factors are read from

template <class T>
__device__ __forceinline__ T advance(T a, T by) {
#if KL_ALGEBRA == KL_MAX_TIMES_FLOAT || KL_ALGEBRA == KL_MAX_TIMES_DOUBLE
  return a * by;
#else
  return a + by;
#endif
}

__device__ __forceinline__ int advance(int a, int by) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(by));
}

__device__ __forceinline__ long long advance(long long a, long long by) {
  return static_cast<long long>(static_cast<unsigned long long>(a) +
                                static_cast<unsigned long long>(by));
}

__device__ __forceinline__ void relax_all(Word (&c)[kDown][kAcross], const Word (&a0)[kDown],
                                          const Word (&b0)[kAcross], const Word (&a1)[kDown],
                                          const Word (&b1)[kAcross]) {
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) relax(c[i][j], a0[i], b0[j], a1[i], b1[j]);
  }
}

// Reads its factors from kFactors words; writes the best of all products, one word per thread.
KL_KERNEL_BOUNDS(kThreads, 1, closure_ceiling, const Word* factors, Word by, int rounds,
                 Word* results) {
  Word c[kDown][kAcross], even[kDown], odd[kDown], b0[kAcross], b1[kAcross];
  int next = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
    even[i] = factors[next++ % kFactors];
    odd[i] = factors[next++ % kFactors];
#pragma unroll
    for (int j = 0; j < kAcross; ++j) c[i][j] = zero();
  }
#pragma unroll
  for (int j = 0; j < kAcross; ++j) {
    b0[j] = factors[next++ % kFactors];
    b1[j] = factors[next++ % kFactors];
  }
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    relax_all(c, even, b0, odd, b1);
#pragma unroll
    for (int i = 0; i < kDown; ++i) even[i] = advance(odd[i], by);
    relax_all(c, odd, b0, even, b1);
#pragma unroll
    for (int i = 0; i < kDown; ++i) odd[i] = advance(even[i], by);
  }
  Word all = zero();
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) all = best(c[i][j], all);
  }
  results[blockIdx.x * kThreads + threadIdx.x] = all;
}
