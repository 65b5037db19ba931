// What a kernel compiled for the emulator needs of it: where it is, and the operations by which
// threads meet. The shim (shim.hpp) gives these CUDA's names. Light on headers, since every
// specialisation of every kernel is compiled with it.
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

// In the checked build kernels are compiled with calls before every access to memory
// (-fsanitize=thread, with hooks of our own); the shim itself is not.
#ifdef KLEENE_CHECKED
#define KL_UNCHECKED __attribute__((no_sanitize("thread"), noinline))
#else
#define KL_UNCHECKED
#endif

namespace kleene::emulator {

// What the running thread of the running block sees.
struct Here {
  uint3 thread;
  uint3 block;
  dim3 block_dim;
  dim3 grid_dim;
  unsigned char* shared;  // dynamic shared memory
  unsigned lane;
  unsigned spins;  // atomic operations since this thread last gave way
};

// `__thread` and not `thread_local`: it has no constructor, and other files may know that.
extern __thread Here* here;

// The place in the source from which an operation was called.
struct Site {
  const char* file;
  int line;
};

// ---- threads of a block -------------------------------------------------------------------------

enum class Vote : unsigned char { kNone, kOr, kAnd, kCount };

int block_barrier(Vote vote, int predicate, Site site);
void grid_barrier(Site site);
void give_way(Site site);
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

// All lanes in the mask give a value and get one; `argument` and `width` are those of shuffles.
uint64_t warp_meet(WarpOp op, unsigned mask, uint64_t value, int argument, int width, Site site);

// ---- memory -------------------------------------------------------------------------------------

void copy_async(void* shared, const void* global, unsigned bytes, Site site);
void copy_commit();
void copy_wait(int groups_left);

void fence(bool device_wide);

// Called before an atomic operation: gives way now and then, so that a thread which spins lets the
// one it waits for go on.
void atomic_access(void* address, unsigned bytes, bool writes, Site site);

long long clock_ticks();

// ---- kernels ------------------------------------------------------------------------------------

using Trampoline = void (*)(void (*kernel)(), const uint64_t* slots);

// A parameter's type as NumPy writes it (f4, i8, b1), with a star before it for a pointer.
template <class T>
struct TypeCode {
  static constexpr char kKind = T(0.5) != T(0) ? 'f' : T(-1) < T(0) ? 'i' : 'u';
  static constexpr char kText[] = {kKind, static_cast<char>('0' + sizeof(T)), ' ', 0};
};
template <>
struct TypeCode<bool> {
  static constexpr char kText[] = "b1 ";
};
template <class T>
struct ParameterCode {
  static constexpr const char* kText = TypeCode<T>::kText;
};
template <class T, bool = __is_class(T) || __is_union(T)>
struct PointeeCode {
  static constexpr char kText[] = {'*', TypeCode<T>::kText[0], TypeCode<T>::kText[1], ' ', 0};
};
template <class T>
struct PointeeCode<T, true> {
  static constexpr char kText[] = "* ";
};
template <>
struct PointeeCode<void, false> {
  static constexpr char kText[] = "* ";
};
template <class T>
struct ParameterCode<T*> {
  static constexpr const char* kText = PointeeCode<T>::kText;
};
template <class T>
struct ParameterCode<const T*> : ParameterCode<T*> {};
template <class T>
struct ParameterCode<volatile T*> : ParameterCode<T*> {};

void add_kernel(const char* file, const char* variant, const char* name, int max_threads,
                const char* const* codes, int parameters, void (*kernel)(), Trampoline call);

// A static object of this type makes a kernel known under (file, variant, name).
template <class... Parameters>
struct Registrar {
  Registrar(const char* file, const char* variant, const char* name, int max_threads,
            void (*kernel)(Parameters...)) {
    const char* const codes[] = {ParameterCode<Parameters>::kText..., nullptr};
    add_kernel(file, variant, name, max_threads, codes, sizeof...(Parameters),
               reinterpret_cast<void (*)()>(kernel), &call);
  }

  KL_UNCHECKED static void call(void (*kernel)(), const uint64_t* slots) {
    apply(kernel, slots, std::index_sequence_for<Parameters...>());
  }

  template <size_t... i>
  KL_UNCHECKED static void apply(void (*kernel)(), [[maybe_unused]] const uint64_t* slots,
                                 std::index_sequence<i...>) {
    reinterpret_cast<void (*)(Parameters...)>(kernel)(
        *reinterpret_cast<const Parameters*>(slots + i)...);
  }
};

}  // namespace kleene::emulator
