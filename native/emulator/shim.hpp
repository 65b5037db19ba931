// The CUDA language extensions and built-in functions that Kleene's kernels use, in C++ for the
// emulator. kleene.cuh includes it in place of the definitions of NVIDIA's compiler.
#pragma once

#include <math.h>
#include <string.h>

#include "device.hpp"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __CUDA_ARCH__ 900

#define KL_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define KL_CALL_SITE \
  ::kleene::emulator::Site { file, line }

// ---- thread and block indices -------------------------------------------------------------------

KL_UNCHECKED inline uint3 kl_thread_index() { return ::kleene::emulator::current_thread->thread; }
KL_UNCHECKED inline uint3 kl_block_index() { return ::kleene::emulator::current_thread->block; }
KL_UNCHECKED inline dim3 kl_block_dim() { return ::kleene::emulator::current_thread->block_dim; }
KL_UNCHECKED inline dim3 kl_grid_dim() { return ::kleene::emulator::current_thread->grid_dim; }
KL_UNCHECKED inline unsigned kl_lane() { return ::kleene::emulator::current_thread->lane; }
KL_UNCHECKED inline unsigned char* kl_shared_memory() {
  return ::kleene::emulator::current_thread->shared;
}

#define threadIdx (::kl_thread_index())
#define blockIdx (::kl_block_index())
#define blockDim (::kl_block_dim())
#define gridDim (::kl_grid_dim())
constexpr int warpSize = 32;

// ---- vector types -------------------------------------------------------------------------------

#define KL_VECTOR(base, name)                                                                 \
  struct alignas(2 * sizeof(base)) name##2 { base x, y; };                                    \
  inline name##2 make_##name##2(base x, base y) { return {x, y}; }                            \
  struct alignas(4 * sizeof(base) < 16 ? 4 * sizeof(base) : 16) name##4 { base x, y, z, w; }; \
  inline name##4 make_##name##4(base x, base y, base z, base w) { return {x, y, z, w}; }

KL_VECTOR(char, char)
KL_VECTOR(unsigned char, uchar)
KL_VECTOR(short, short)
KL_VECTOR(unsigned short, ushort)
KL_VECTOR(int, int)
KL_VECTOR(unsigned, uint)
KL_VECTOR(long long, longlong)
KL_VECTOR(unsigned long long, ulonglong)
KL_VECTOR(float, float)
KL_VECTOR(double, double)
#undef KL_VECTOR

// ---- numbers ------------------------------------------------------------------------------------

#define KL_MIN_MAX(A, B, R)                                                               \
  constexpr R min(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }                                                                                       \
  constexpr R max(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); \
  }

KL_MIN_MAX(int, int, int)
KL_MIN_MAX(unsigned, unsigned, unsigned)
KL_MIN_MAX(int, unsigned, unsigned)
KL_MIN_MAX(unsigned, int, unsigned)
KL_MIN_MAX(long, long, long)
KL_MIN_MAX(unsigned long, unsigned long, unsigned long)
KL_MIN_MAX(long long, long long, long long)
KL_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
KL_MIN_MAX(float, double, double)
KL_MIN_MAX(double, float, double)
#undef KL_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}

inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}

inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = selector >> (4 * i) & 0xf;
    unsigned byte = both >> (8 * (pick & 7)) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}

template <class To, class From>
KL_UNCHECKED inline To kl_bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  memcpy(&result, &value, sizeof(To));
  return result;
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }

inline int __float_as_int(float x) { return kl_bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return kl_bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return kl_bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return kl_bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return kl_bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return kl_bit_cast<double>(x); }

#include "dpx.hpp"

// ---- threads of a block -------------------------------------------------------------------------

inline void __syncthreads(KL_SITE) {
  ::kleene::emulator::block_barrier(::kleene::emulator::Vote::kNone, 0, KL_CALL_SITE);
}
inline int __syncthreads_or(int predicate, KL_SITE) {
  return ::kleene::emulator::block_barrier(::kleene::emulator::Vote::kOr, predicate, KL_CALL_SITE);
}
inline int __syncthreads_and(int predicate, KL_SITE) {
  return ::kleene::emulator::block_barrier(::kleene::emulator::Vote::kAnd, predicate, KL_CALL_SITE);
}
inline int __syncthreads_count(int predicate, KL_SITE) {
  return ::kleene::emulator::block_barrier(::kleene::emulator::Vote::kCount, predicate,
                                           KL_CALL_SITE);
}

[[noreturn]] inline void __trap(KL_SITE) { ::kleene::emulator::trap(KL_CALL_SITE); }
inline void __threadfence() { ::kleene::emulator::fence(true); }
inline void __threadfence_system() { ::kleene::emulator::fence(true); }
inline void __threadfence_block() { ::kleene::emulator::fence(false); }
inline void __nanosleep(unsigned, KL_SITE) { ::kleene::emulator::yield_thread(KL_CALL_SITE); }
inline long long clock64() { return ::kleene::emulator::clock_ticks(); }
inline long long clock() { return ::kleene::emulator::clock_ticks(); }

// ---- lanes of a warp ----------------------------------------------------------------------------

// CUDA does not guarantee convergence: a mask of the calling lane alone is a valid result.
inline unsigned __activemask() { return 1u << kl_lane(); }

#define KL_WARP_OP(op, mask, value, argument, width)                                               \
  ::kleene::emulator::warp_operation(::kleene::emulator::WarpOp::op, mask, value, argument, width, \
                                     KL_CALL_SITE)

inline void __syncwarp(unsigned mask = 0xffffffffu, KL_SITE) { KL_WARP_OP(kSync, mask, 0, 0, 32); }
inline unsigned __ballot_sync(unsigned mask, int predicate, KL_SITE) {
  return static_cast<unsigned>(KL_WARP_OP(kBallot, mask, predicate != 0, 0, 32));
}
inline int __any_sync(unsigned mask, int predicate, KL_SITE) {
  return static_cast<int>(KL_WARP_OP(kAny, mask, predicate != 0, 0, 32));
}
inline int __all_sync(unsigned mask, int predicate, KL_SITE) {
  return static_cast<int>(KL_WARP_OP(kAll, mask, predicate != 0, 0, 32));
}

template <class T>
KL_UNCHECKED inline uint64_t kl_to_word(T value) {
  static_assert(sizeof(T) <= 8);
  uint64_t word = 0;
  memcpy(&word, &value, sizeof(T));
  return word;
}

template <class T>
KL_UNCHECKED inline T kl_from_word(uint64_t word) {
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}

template <class T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, KL_SITE) {
  return kl_from_word<T>(KL_WARP_OP(kShuffle, mask, kl_to_word(value), lane, width));
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, KL_SITE) {
  return kl_from_word<T>(
      KL_WARP_OP(kShuffleUp, mask, kl_to_word(value), static_cast<int>(delta), width));
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, KL_SITE) {
  return kl_from_word<T>(
      KL_WARP_OP(kShuffleDown, mask, kl_to_word(value), static_cast<int>(delta), width));
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, KL_SITE) {
  return kl_from_word<T>(KL_WARP_OP(kShuffleXor, mask, kl_to_word(value), lanes, width));
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, KL_SITE) {
  return static_cast<unsigned>(KL_WARP_OP(kMatchAny, mask, kl_to_word(value), 0, 32));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all, KL_SITE) {
  const auto same = static_cast<unsigned>(KL_WARP_OP(kMatchAll, mask, kl_to_word(value), 0, 32));
  *all = same != 0;
  return same;
}

#define KL_REDUCE(name, T, op)                                                            \
  inline T name(unsigned mask, T value, KL_SITE) {                                        \
    return static_cast<T>(                                                                \
        KL_WARP_OP(op, mask, static_cast<uint64_t>(static_cast<int64_t>(value)), 0, 32)); \
  }
KL_REDUCE(__reduce_add_sync, int, kAddSigned)
KL_REDUCE(__reduce_add_sync, unsigned, kAddUnsigned)
KL_REDUCE(__reduce_min_sync, int, kMinSigned)
KL_REDUCE(__reduce_min_sync, unsigned, kMinUnsigned)
KL_REDUCE(__reduce_max_sync, int, kMaxSigned)
KL_REDUCE(__reduce_max_sync, unsigned, kMaxUnsigned)
KL_REDUCE(__reduce_and_sync, unsigned, kAnd)
KL_REDUCE(__reduce_or_sync, unsigned, kOr)
KL_REDUCE(__reduce_xor_sync, unsigned, kXor)
#undef KL_REDUCE
#undef KL_WARP_OP

// ---- atomic operations --------------------------------------------------------------------------

// Loads and stores with cache hints, which are ignored.
#define KL_LOAD(name)               \
  template <class T>                \
  inline T name(const T* address) { \
    return *address;                \
  }
#define KL_STORE(name)                    \
  template <class T>                      \
  inline void name(T* address, T value) { \
    *address = value;                     \
  }
KL_LOAD(__ldg)
KL_LOAD(__ldca)
KL_LOAD(__ldcg)
KL_LOAD(__ldcs)
KL_STORE(__stcg)
KL_STORE(__stcs)
#undef KL_LOAD
#undef KL_STORE

// The unsigned type of a size, for the built-in compare and swap.
template <size_t bytes>
struct KlWord;
template <>
struct KlWord<2> {
  using type = unsigned short;
};
template <>
struct KlWord<4> {
  using type = unsigned;
};
template <>
struct KlWord<8> {
  using type = unsigned long long;
};

// *address = change(*address); returns the old value.
template <class T, class Change>
KL_UNCHECKED inline T kl_atomic_change(T* address, Change change, ::kleene::emulator::Site site) {
  using Word = typename KlWord<sizeof(T)>::type;
  ::kleene::emulator::atomic_access(address, sizeof(T), true, site);
  Word* const word = reinterpret_cast<Word*>(address);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    T old;
    memcpy(&old, &seen, sizeof(T));
    const T changed = change(old);
    Word next;
    memcpy(&next, &changed, sizeof(T));
    if (__atomic_compare_exchange_n(word, &seen, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

#define KL_ATOMIC(name, T, result)                                                 \
  inline T name(T* address, T value, KL_SITE) {                                    \
    return kl_atomic_change(                                                       \
        address, [value](T old) { return static_cast<T>(result); }, KL_CALL_SITE); \
  }
#define KL_ATOMIC_ORDERED(T)                         \
  KL_ATOMIC(atomicMin, T, value < old ? value : old) \
  KL_ATOMIC(atomicMax, T, value > old ? value : old) \
  KL_ATOMIC(atomicAnd, T, old& value)                \
  KL_ATOMIC(atomicOr, T, old | value)                \
  KL_ATOMIC(atomicXor, T, old ^ value)
#define KL_ATOMIC_ALL(T)                                                              \
  inline T atomicExch(T* address, T value, KL_SITE) {                                 \
    return kl_atomic_change(address, [value](T) { return value; }, KL_CALL_SITE);     \
  }                                                                                   \
  inline T atomicCAS(T* address, T expected, T value, KL_SITE) {                      \
    return kl_atomic_change(                                                          \
        address, [=](T old) { return old == expected ? value : old; }, KL_CALL_SITE); \
  }

KL_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))
KL_ATOMIC(atomicAdd, unsigned, old + value)
KL_ATOMIC(atomicAdd, unsigned long long, old + value)
KL_ATOMIC(atomicAdd, float, old + value)
KL_ATOMIC(atomicAdd, double, old + value)
KL_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))
KL_ATOMIC(atomicSub, unsigned, old - value)
KL_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
KL_ATOMIC_ORDERED(int)
KL_ATOMIC_ORDERED(unsigned)
KL_ATOMIC_ORDERED(long long)
KL_ATOMIC_ORDERED(unsigned long long)
KL_ATOMIC_ALL(int)
KL_ATOMIC_ALL(unsigned)
KL_ATOMIC_ALL(unsigned long long)
KL_ATOMIC_ALL(unsigned short)
inline float atomicExch(float* address, float value, KL_SITE) {
  return kl_atomic_change(address, [value](float) { return value; }, KL_CALL_SITE);
}
#undef KL_ATOMIC
#undef KL_ATOMIC_ORDERED
#undef KL_ATOMIC_ALL

// Accesses to memory that other threads access at the same time; see kleene.cuh.
template <class T>
KL_UNCHECKED inline T kl_load(const T* address, KL_SITE) {
  ::kleene::emulator::atomic_access(const_cast<T*>(address), sizeof(T), false, KL_CALL_SITE);
  T value;
  __atomic_load(address, &value, __ATOMIC_SEQ_CST);
  return value;
}

template <class T>
KL_UNCHECKED inline T kl_load_cached(const T* address, KL_SITE) {
  ::kleene::emulator::atomic_access(const_cast<T*>(address), sizeof(T), false, KL_CALL_SITE);
  static_assert(sizeof(T) % 4 == 0);
  T value;
  for (size_t i = 0; i < sizeof(T) / 4; ++i) {
    const unsigned word =
        __atomic_load_n(reinterpret_cast<const unsigned*>(address) + i, __ATOMIC_RELAXED);
    __builtin_memcpy(reinterpret_cast<unsigned char*>(&value) + 4 * i, &word, 4);
  }
  return value;
}

template <class T>
KL_UNCHECKED inline void kl_store(T* address, T value, KL_SITE) {
  ::kleene::emulator::atomic_access(address, sizeof(T), true, KL_CALL_SITE);
  __atomic_store(address, &value, __ATOMIC_SEQ_CST);
}

// ---- functions of kleene.cuh --------------------------------------------------------------------

inline void kl_grid_sync(unsigned*, KL_SITE) { ::kleene::emulator::grid_barrier(KL_CALL_SITE); }

inline void kl_copy_async16(void* shared, const void* global, KL_SITE) {
  ::kleene::emulator::copy_async(shared, global, 16, KL_CALL_SITE);
}
inline void kl_copy_async8(void* shared, const void* global, KL_SITE) {
  ::kleene::emulator::copy_async(shared, global, 8, KL_CALL_SITE);
}
inline void kl_copy_async4(void* shared, const void* global, KL_SITE) {
  ::kleene::emulator::copy_async(shared, global, 4, KL_CALL_SITE);
}
inline void kl_prefetch(const void*) {}
inline void kl_pause(KL_SITE) { __nanosleep(20, file, line); }
template <class T>
T kl_release_add(T* address, T value, KL_SITE) {
  __threadfence();
  return atomicAdd(address, value, file, line);
}
template <class T>
T kl_acquire(const T* address, KL_SITE) {
  return kl_load(address, file, line);
}
inline int4 kl_load_int4(const int4* address) { return *address; }
inline void kl_copy_commit() { ::kleene::emulator::copy_commit(); }
template <int groups_left>
inline void kl_copy_wait() {
  ::kleene::emulator::copy_wait(groups_left);
}

#define KL_REGISTER(threads, name)                                                              \
  [[maybe_unused]] const ::kleene::emulator::Registrar kl_registrar_##name(KL_FILE, KL_VARIANT, \
                                                                           #name, threads, &name);
#define KL_KERNEL(name, ...)     \
  static void name(__VA_ARGS__); \
  KL_REGISTER(0, name)           \
  static void name(__VA_ARGS__)
#define KL_KERNEL_BOUNDS(threads, min_blocks, name, ...) \
  static void name(__VA_ARGS__);                         \
  KL_REGISTER(threads, name)                             \
  static void name(__VA_ARGS__)
#define KL_DYNAMIC_SHARED(T, name) T* const name = reinterpret_cast<T*>(kl_shared_memory())
