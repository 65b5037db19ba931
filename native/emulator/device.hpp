// The interface of the emulator to kernels: thread indices and the collective operations. shim.hpp
// gives them CUDA's names. Includes few headers, since every variant of every kernel includes it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <utility>

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
};

// The checked build instruments the memory accesses of kernels (-fsanitize=thread with our own
// hooks), but not those of the shim.
#ifdef KLEENE_CHECKED
#define KL_UNCHECKED __attribute__((no_sanitize("thread"), noinline))
#else
#define KL_UNCHECKED
#endif

namespace kleene::emulator {

// The context of the running thread.
struct ThreadContext {
  uint3 thread;
  uint3 block;
  dim3 block_dim;
  dim3 grid_dim;
  unsigned char* shared;  // dynamic shared memory
  unsigned lane;
  unsigned spins;  // atomic operations since this thread last yielded
};

// `__thread` and not `thread_local`: no dynamic initialisation, so other files need no wrapper
// call.
extern __thread ThreadContext* current_thread;

// The source line of a call.
struct Site {
  const char* file;
  int line;
};

// ---- threads of a block -------------------------------------------------------------------------

enum class Vote : unsigned char { kNone, kOr, kAnd, kCount };

int block_barrier(Vote vote, int predicate, Site site);
void grid_barrier(Site site);
void yield_thread(Site site);
[[noreturn]] void trap(Site site);

// ---- lanes of a warp ----------------------------------------------------------------------------

enum class WarpOp : unsigned char {
  kSync,
  kBallot,
  kAny,
  kAll,
  kMatchAny,
  kMatchAll,
  kShuffle,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kAddSigned,
  kAddUnsigned,
  kMinSigned,
  kMinUnsigned,
  kMaxSigned,
  kMaxUnsigned,
  kAnd,
  kOr,
  kXor,
};

// A collective operation of all lanes in the mask; `argument` and `width` are those of shuffles.
uint64_t warp_operation(WarpOp op, unsigned mask, uint64_t value, int argument, int width,
                        Site site);

// ---- memory -------------------------------------------------------------------------------------

void copy_async(void* shared, const void* global, unsigned bytes, Site site);
void copy_commit();
void copy_wait(int groups_left);

void fence(bool device_wide);

// Called before an atomic operation; yields now and then, so that a spinning thread lets others
// run.
void atomic_access(void* address, unsigned bytes, bool writes, Site site);

long long clock_ticks();

// ---- kernels ------------------------------------------------------------------------------------

using Trampoline = void (*)(void (*kernel)(), const uint64_t* slots);

// The NumPy type code of a parameter: f4, i8, b1; V for a struct, whose size is known apart; with a
// star for a pointer.
template <class T, bool = __is_class(T) || __is_union(T)>
struct TypeCode {
  static constexpr char kKind = T(0.5) != T(0) ? 'f' : T(-1) < T(0) ? 'i' : 'u';
  static constexpr char kText[] = {kKind, static_cast<char>('0' + sizeof(T)), ' ', 0};
};
template <>
struct TypeCode<bool, false> {
  static constexpr char kText[] = "b1 ";
};
template <class T>
struct TypeCode<T, true> {
  static constexpr char kText[] = "V ";
};
template <class T>
struct ParameterCode {
  static constexpr const char* kText = TypeCode<T>::kText;
  static constexpr size_t kSize = sizeof(T);
};
template <class T>
struct ParameterCode<const T> : ParameterCode<T> {};
template <class T, bool = __is_class(T) || __is_union(T)>
struct PointeeCode {
  static constexpr char kText[] = {'*', TypeCode<T>::kText[0], TypeCode<T>::kText[1], ' ', 0};
  static constexpr size_t kSize = sizeof(T);
};
template <class T>
struct PointeeCode<T, true> {
  static constexpr char kText[] = "*V ";
  static constexpr size_t kSize = sizeof(T);
};
template <>
struct PointeeCode<void, false> {
  static constexpr char kText[] = "* ";
  static constexpr size_t kSize = 0;
};
template <class T>
struct ParameterCode<T*> : PointeeCode<T> {};
template <class T>
struct ParameterCode<const T*> : ParameterCode<T*> {};
template <class T>
struct ParameterCode<volatile T*> : ParameterCode<T*> {};

void add_kernel(const char* file, const char* variant, const char* name, int max_threads,
                const char* const* codes, const size_t* sizes, int parameters, void (*kernel)(),
                Trampoline call);

// The first of the 8-byte slots of each argument.
template <class... Parameters>
struct Slots {
  static_assert(((alignof(Parameters) <= 8) && ...), "arguments are aligned to 8 bytes");
  static constexpr size_t kWords[] = {(sizeof(Parameters) + 7) / 8 ..., 0};
  static constexpr size_t first(size_t i) {
    size_t sum = 0;
    while (i > 0) sum += kWords[--i];
    return sum;
  }
};

// A static object of this type registers a kernel under (file, variant, name).
template <class... Parameters>
struct Registrar {
  Registrar(const char* file, const char* variant, const char* name, int max_threads,
            void (*kernel)(Parameters...)) {
    const char* const codes[] = {ParameterCode<Parameters>::kText..., nullptr};
    const size_t sizes[] = {ParameterCode<Parameters>::kSize..., 0};
    add_kernel(file, variant, name, max_threads, codes, sizes, sizeof...(Parameters),
               reinterpret_cast<void (*)()>(kernel), &call);
  }

  KL_UNCHECKED static void call(void (*kernel)(), const uint64_t* slots) {
    apply(kernel, slots, std::index_sequence_for<Parameters...>());
  }

  template <size_t... i>
  KL_UNCHECKED static void apply(void (*kernel)(), [[maybe_unused]] const uint64_t* slots,
                                 std::index_sequence<i...>) {
    reinterpret_cast<void (*)(Parameters...)>(kernel)(
        *reinterpret_cast<const Parameters*>(slots + Slots<Parameters...>::first(i))...);
  }
};

}  // namespace kleene::emulator
