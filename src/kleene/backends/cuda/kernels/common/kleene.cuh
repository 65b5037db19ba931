// Included by every kernel: kernel declarations, ordered loads and stores, asynchronous copies,
// grid barriers, no_path. The only file that knows whether it is compiled for a GPU or the
// emulator.
//
//   KL_KERNEL(apsp_step, float* d, int n) { ... }
//   KL_KERNEL_BOUNDS(256, 2, apsp_tile, float* d, int n) { ... }   // threads per block, blocks per
//   SM KL_DYNAMIC_SHARED(float, tile);                                // float* tile, 16-byte
//   aligned
#pragma once

#ifdef KLEENE_EMULATED
#include "shim.hpp"
#else

#define KL_KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define KL_KERNEL_BOUNDS(threads, min_blocks, name, ...) \
  extern "C" __global__ void __launch_bounds__(threads, min_blocks) name(__VA_ARGS__)

#define KL_DYNAMIC_SHARED(T, name)                                 \
  extern __shared__ __align__(16) unsigned char kl_shared_bytes[]; \
  T* const name = reinterpret_cast<T*>(kl_shared_bytes)

__device__ __forceinline__ unsigned kl_lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// Volatile accesses to memory that other threads access at the same time: not torn, ordered by
// fences, never optimised away. A loop that waits for another thread reads with these or
// atomically.
template <class T>
__device__ __forceinline__ T kl_load(const T* address) {
  return *const_cast<const volatile T*>(address);
}

template <class T>
__device__ __forceinline__ void kl_store(T* address, T value) {
  *const_cast<volatile T*>(address) = value;
}

// Load through the first-level cache of numbers, or structs of them, that other threads write at
// the same time: each number is as old as the last barrier at most.
template <class T>
__device__ __forceinline__ T kl_load_cached(const T* address) {
  return *address;
}

// Release and acquire at device scope: an addition that publishes what the thread wrote and returns
// the old value, and a load. A loop of loads calls kl_pause, which lets the emulator switch
// threads.
#define KL_RELEASE_ACQUIRE(T, bits, in_register)                       \
  __device__ __forceinline__ T kl_release_add(T* address, T value) {   \
    T old;                                                             \
    asm volatile("atom.add.release.gpu.global.u" bits " %0, [%1], %2;" \
                 : "=" in_register(old)                                \
                 : "l"(address), in_register(value)                    \
                 : "memory");                                          \
    return old;                                                        \
  }                                                                    \
  __device__ __forceinline__ T kl_acquire(const T* address) {          \
    T value;                                                           \
    asm volatile("ld.acquire.gpu.global.u" bits " %0, [%1];"           \
                 : "=" in_register(value)                              \
                 : "l"(address)                                        \
                 : "memory");                                          \
    return value;                                                      \
  }
KL_RELEASE_ACQUIRE(unsigned, "32", "r")
KL_RELEASE_ACQUIRE(unsigned long long, "64", "l")
#undef KL_RELEASE_ACQUIRE

__device__ __forceinline__ void kl_pause() {}

// Relaxed 16-byte load of what other blocks wrote before a barrier; it is not moved by the
// compiler.
__device__ __forceinline__ int4 kl_load_int4(const int4* address) {
  int4 v;
  asm volatile("ld.relaxed.gpu.global.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
}

// Asynchronous copies from global to shared memory (cp.async). They are visible to the issuing
// thread after kl_copy_wait, to other threads after the next barrier. kl_copy_wait<N> waits for all
// committed groups but the last N. Addresses are aligned to the size.
#if __CUDA_ARCH__ >= 800
#define KL_COPY_ASYNC(bytes, cached)                                         \
  asm volatile("cp.async." cached ".shared.global [%0], [%1], %2;" ::"r"(    \
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))), \
               "l"(global), "n"(bytes)                                       \
               : "memory")
#else
#define KL_COPY_ASYNC(bytes, cached) *static_cast<T*>(shared) = *static_cast<const T*>(global)
#endif
#define KL_COPY_ASYNC_FUNCTION(bytes, type, cached)                                        \
  __device__ __forceinline__ void kl_copy_async##bytes(void* shared, const void* global) { \
    using T [[maybe_unused]] = type;                                                       \
    KL_COPY_ASYNC(bytes, cached);                                                          \
  }
KL_COPY_ASYNC_FUNCTION(4, unsigned, "ca")
KL_COPY_ASYNC_FUNCTION(8, uint2, "ca")
KL_COPY_ASYNC_FUNCTION(16, uint4, "cg")
#undef KL_COPY_ASYNC_FUNCTION
#undef KL_COPY_ASYNC

__device__ __forceinline__ void kl_copy_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Prefetches the 128-byte line of a global address into the L2 cache.
__device__ __forceinline__ void kl_prefetch(const void* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
}

template <int groups_left>
__device__ __forceinline__ void kl_copy_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(groups_left) : "memory");
#endif
}

// Warp reductions for GPUs before 8.0, which lack the instructions: each lane reads all others.
#if __CUDA_ARCH__ < 800
#define KL_REDUCE(name, T, result)                                         \
  __device__ __forceinline__ T name(unsigned mask, T value) {              \
    T a = __shfl_sync(mask, value, __ffs(mask) - 1);                       \
    for (unsigned left = mask & (mask - 1); left != 0; left &= left - 1) { \
      const T b = __shfl_sync(mask, value, __ffs(left) - 1);               \
      a = result;                                                          \
    }                                                                      \
    return a;                                                              \
  }
KL_REDUCE(__reduce_add_sync, int, a + b)
KL_REDUCE(__reduce_add_sync, unsigned, a + b)
KL_REDUCE(__reduce_min_sync, int, min(a, b))
KL_REDUCE(__reduce_min_sync, unsigned, min(a, b))
KL_REDUCE(__reduce_max_sync, int, max(a, b))
KL_REDUCE(__reduce_max_sync, unsigned, max(a, b))
KL_REDUCE(__reduce_and_sync, unsigned, a& b)
KL_REDUCE(__reduce_or_sync, unsigned, a | b)
KL_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef KL_REDUCE
#endif

#endif  // KLEENE_EMULATED

// ---- grid barriers ------------------------------------------------------------------------------

// Barrier of the `blocks` blocks with the lowest numbers; one thread of each calls it, between two
// __syncthreads. *state is zero before the first launch that uses it, and can be reused by the
// next. The top bit flips when the last block arrives: block 0 adds what the increments of the
// others leave to it.
__device__ __forceinline__ void kl_grid_barrier(unsigned* state, unsigned blocks) {
  if (blocks == 1) return;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned old = kl_release_add(state, block == 0 ? 0x80000000u - (blocks - 1) : 1u);
  while (((old ^ kl_acquire(state)) & 0x80000000u) == 0) kl_pause();
}

#ifndef KLEENE_EMULATED  // the emulator's version reports the missing block
// Barrier of all threads of a cooperative launch; all writes before it are visible after it.
__device__ __forceinline__ void kl_grid_sync(unsigned* state) {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    kl_grid_barrier(state, gridDim.x * gridDim.y * gridDim.z);
  }
  __syncthreads();
}
#endif

// Barrier of all blocks that also sums a number over them, for kl_grid_barrier_sum. *word is zero
// before the first use; `previous` is the result of the last call with this word, zero the first
// time. Two words must alternate: a fast block may add to the next sum while others read this one.
__device__ __forceinline__ unsigned long long kl_grid_barrier_add(unsigned long long* word,
                                                                  unsigned long long previous,
                                                                  unsigned long long number) {
  const unsigned long long phase_bit = 0x8000;  // flips when all blocks have arrived
  const unsigned long long others = gridDim.x - 1;
  const unsigned long long closing =
      ((previous & phase_bit) != 0 ? 0 - phase_bit : phase_bit) - others;
  kl_release_add(word, (number << 16) + (blockIdx.x == 0 ? closing : 1));
  unsigned long long current = kl_acquire(word);
  while (((current ^ previous) & phase_bit) == 0) {
    kl_pause();
    current = kl_acquire(word);
  }
  return current;
}

__device__ __forceinline__ unsigned long long kl_grid_barrier_sum(unsigned long long current,
                                                                  unsigned long long previous) {
  return ((current >> 16) - (previous >> 16)) & 0xffffffffffffull;
}

// ---- no_path ------------------------------------------------------------------------------------

template <class T>
struct KlLimits;  // no_path of results: infinity, or the largest integer
template <>
struct KlLimits<float> {
  static __device__ __forceinline__ float none() { return __int_as_float(0x7f800000); }
};
template <>
struct KlLimits<double> {
  static __device__ __forceinline__ double none() {
    return __longlong_as_double(0x7ff0000000000000ll);
  }
};
template <>
struct KlLimits<short> {
  static __device__ __forceinline__ short none() { return 0x7fff; }
};
template <>
struct KlLimits<int> {
  static __device__ __forceinline__ int none() { return 0x7fffffff; }
};
template <>
struct KlLimits<long long> {
  static __device__ __forceinline__ long long none() { return 0x7fffffffffffffffll; }
};
