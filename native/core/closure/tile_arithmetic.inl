// The arithmetic of the tile kernel: vectors of the level's width, and the semirings on them.
// Included by kernels, by the same rule.
#include "closure/tile_kernel.hpp"

namespace kleene::closure::KLEENE_LEVEL {
namespace {

template <class T>
struct Lanes {
  typedef T Values __attribute__((vector_size(KLEENE_BYTES)));
  static constexpr int kCount = KLEENE_BYTES / sizeof(T);
  // Predecessors are 32 bits wide in memory and as wide as the values in registers.
  typedef std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t> Index;
  typedef Index Indices __attribute__((vector_size(KLEENE_BYTES)));
  typedef std::int32_t Stored __attribute__((vector_size(kCount * 4)));
};

// A selection whose comparison is in the same expression becomes one instruction, the minimum or
// maximum; one that gets its mask from elsewhere does not.
template <class V>
V least(V a, V b) {
  return a < b ? a : b;  // untestable (< to <=): equal values
}

template <class V>
V greatest(V a, V b) {
  return a > b ? a : b;  // untestable (> to >=): equal values
}

struct MinPlus {
  auto times(auto a, auto b) const { return a + b; }
  auto better(auto a, auto b) const { return a < b; }
  auto best(auto a, auto b) const { return least(a, b); }
};

struct MaxMin {
  auto times(auto a, auto b) const { return least(a, b); }
  auto better(auto a, auto b) const { return a > b; }
  auto best(auto a, auto b) const { return greatest(a, b); }
};

struct MaxTimes {
  auto times(auto a, auto b) const { return a * b; }
  auto better(auto a, auto b) const { return a > b; }
  auto best(auto a, auto b) const { return greatest(a, b); }
};

struct OrAnd {
  auto times(auto a, auto b) const { return a & b; }
  auto best(auto a, auto b) const { return a | b; }
};

// Vectors in memory, where they need no alignment.
template <class V, class T>
V load(const T* p) {
  typedef V Unaligned __attribute__((aligned(sizeof(T)), may_alias));
  return *reinterpret_cast<const Unaligned*>(p);
}

template <class V, class T>
void store(T* p, V v) {
  typedef V Unaligned __attribute__((aligned(sizeof(T)), may_alias));
  *reinterpret_cast<Unaligned*>(p) = v;
}

// Hides a value from the optimiser, which then can neither replace it nor copy it elsewhere.
template <class V>
void hide_from_optimizer([[maybe_unused]] V& v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#endif
}

// Keeps a comparison apart from the minimum that follows. Narrow vectors have an instruction for
// the minimum, which two slow selections by the comparison's result must not replace. (A register
// of 512 bits selects by mask, at no such cost.)
template <class V, class M>
void separate([[maybe_unused]] V& v, [[maybe_unused]] const M& compared) {
#if KLEENE_BYTES < 64 && defined(__x86_64__)
  asm("" : "+x"(v) : "x"(compared));
#elif KLEENE_BYTES < 64 && defined(__aarch64__)
  asm("" : "+w"(v) : "w"(compared));
#endif
}

// Sums of floats by a multiplication with one: the same bits. On AMD's Zen, additions, minima and
// comparisons of floats share two of the four pipes; fused multiply-adds have the other two.
template <class T>
struct FusedMinPlus : MinPlus {
  using Values = typename Lanes<T>::Values;
  Values one = T{1} - Values{};

  FusedMinPlus() { hide_from_optimizer(one); }
  Values times(Values a, Values b) const { return a * one + b; }
};

// Floats that are not negative are in the order of their bits as integers: comparisons of integers
// leave the pipes of the additions alone.
template <class T>
struct NonnegativeMinPlus : MinPlus {
  using Values = typename Lanes<T>::Values;
  using Indices = typename Lanes<T>::Indices;

  Indices better(Values a, Values b) const { return (Indices)a < (Indices)b; }
  Values best(Values a, Values b) const {
    if constexpr (sizeof(T) == 8) return least(a, b);  // AVX2 has no minimum of such integers
    return (Values)least((Indices)a, (Indices)b);
  }
};

}  // namespace
}  // namespace kleene::closure::KLEENE_LEVEL
