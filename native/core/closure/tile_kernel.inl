// The tile kernel, written once with the compiler's vector types. A file that includes this one
// defines KLEENE_LEVEL (a namespace), KLEENE_BYTES (of a vector) and the tile shapes, and is
// compiled for one instruction set: see the rule in simd/levels.hpp.
//
// Shapes: a tile of R rows by V vectors takes R V registers for c, V for b, one for a and one for
// the candidate; with paths the predecessors take R V more.
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
  return a < b ? a : b;
}

template <class V>
V greatest(V a, V b) {
  return a > b ? a : b;
}

struct MinPlus {
  static auto times(auto a, auto b) { return a + b; }
  static auto better(auto a, auto b) { return a < b; }
  static auto best(auto a, auto b) { return least(a, b); }
};

struct MaxMin {
  static auto times(auto a, auto b) { return least(a, b); }
  static auto better(auto a, auto b) { return a > b; }
  static auto best(auto a, auto b) { return greatest(a, b); }
};

struct MaxTimes {
  static auto times(auto a, auto b) { return a * b; }
  static auto better(auto a, auto b) { return a > b; }
  static auto best(auto a, auto b) { return greatest(a, b); }
};

struct OrAnd {
  static auto times(auto a, auto b) { return a & b; }
  static auto best(auto a, auto b) { return a | b; }
};

template <class V, class T>
V load(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(V));
  return v;
}

// Hides a value from the optimiser. Narrow vectors have an instruction for the minimum; a
// comparison that the predecessors need too must not replace it by two slow selections. (A register
// of 512 bits selects by mask, at no such cost.)
template <class V>
void hide_from_optimizer([[maybe_unused]] V& v) {
#if KLEENE_BYTES < 64 && defined(__x86_64__)
  asm("" : "+x"(v));
#elif KLEENE_BYTES < 64 && defined(__aarch64__)
  asm("" : "+w"(v));
#endif
}

template <class T, class Op, int R, int V>
void multiply(std::int64_t depth, const T* a, const T* b, T* c, std::int64_t stride) {
  using Values = typename Lanes<T>::Values;
  constexpr int kLanes = Lanes<T>::kCount;
  Values best[R][V];
  for (int i = 0; i < R; ++i) {
    for (int v = 0; v < V; ++v) best[i][v] = load<Values>(c + i * stride + v * kLanes);
  }
  for (std::int64_t k = 0; k < depth; ++k, a += R, b += V * kLanes) {
    Values right[V];
    for (int v = 0; v < V; ++v) right[v] = load<Values>(b + v * kLanes);
    for (int i = 0; i < R; ++i) {
      const Values left = a[i] - Values{};
      for (int v = 0; v < V; ++v) best[i][v] = Op::best(Op::times(left, right[v]), best[i][v]);
    }
  }
  for (int i = 0; i < R; ++i) {
    for (int v = 0; v < V; ++v) {
      __builtin_memcpy(c + i * stride + v * kLanes, &best[i][v], sizeof(Values));
    }
  }
}

template <class T, class Op, int R, int V>
void multiply_paths(std::int64_t depth, const T* a, const T* b, const std::int32_t* b_predecessors,
                    T* c, std::int64_t stride, std::int32_t* predecessors,
                    std::int64_t predecessor_stride) {
  using Values = typename Lanes<T>::Values;
  using Indices = typename Lanes<T>::Indices;
  using Stored = typename Lanes<T>::Stored;
  constexpr int kLanes = Lanes<T>::kCount;
  Values best[R][V];
  Indices before[R][V];
  for (int i = 0; i < R; ++i) {
    for (int v = 0; v < V; ++v) {
      best[i][v] = load<Values>(c + i * stride + v * kLanes);
      before[i][v] = __builtin_convertvector(
          load<Stored>(predecessors + i * predecessor_stride + v * kLanes), Indices);
    }
  }
  for (std::int64_t k = 0; k < depth; ++k, a += R, b += V * kLanes, b_predecessors += V * kLanes) {
    Values right[V];
    Indices candidate[V];
    for (int v = 0; v < V; ++v) {
      right[v] = load<Values>(b + v * kLanes);
      candidate[v] = __builtin_convertvector(load<Stored>(b_predecessors + v * kLanes), Indices);
    }
    for (int i = 0; i < R; ++i) {
      const Values left = a[i] - Values{};
      for (int v = 0; v < V; ++v) {
        const Values t = Op::times(left, right[v]);
        Values old = best[i][v];
        hide_from_optimizer(old);
        const Indices improves = Op::better(t, old);
        best[i][v] = Op::best(t, best[i][v]);
        before[i][v] = improves ? candidate[v] : before[i][v];
      }
    }
  }
  for (int i = 0; i < R; ++i) {
    for (int v = 0; v < V; ++v) {
      __builtin_memcpy(c + i * stride + v * kLanes, &best[i][v], sizeof(Values));
      const Stored narrow = __builtin_convertvector(before[i][v], Stored);
      __builtin_memcpy(predecessors + i * predecessor_stride + v * kLanes, &narrow, sizeof(Stored));
    }
  }
}

template <class T, class Op>
TileKernel<T> make() {
  constexpr int R = KLEENE_ROWS, V = KLEENE_VECTORS;
  constexpr int PR = KLEENE_PATH_ROWS, PV = KLEENE_PATH_VECTORS;
  constexpr int kLanes = Lanes<T>::kCount;
  TileKernel<T> kernel{R, V * kLanes, &multiply<T, Op, R, V>};
  if constexpr (sizeof(T) >= 4 && !std::is_same_v<Op, OrAnd>) {
    kernel.path_rows = PR;
    kernel.path_columns = PV * kLanes;
    kernel.multiply_paths = &multiply_paths<T, Op, PR, PV>;
  }
  return kernel;
}

}  // namespace

// Only the combinations that plans use are compiled: max-times for floats, int16 for short paths.
template <class T>
TileKernel<T> kernel(Semiring semiring) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return make<T, OrAnd>();
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (semiring == Semiring::kMaxTimes) return make<T, MaxTimes>();
    }
    if constexpr (sizeof(T) >= 4) {
      if (semiring == Semiring::kMaxMin) return make<T, MaxMin>();
    }
    return make<T, MinPlus>();
  }
}

template TileKernel<float> kernel(Semiring);
template TileKernel<double> kernel(Semiring);
template TileKernel<std::int16_t> kernel(Semiring);
template TileKernel<std::int32_t> kernel(Semiring);
template TileKernel<std::int64_t> kernel(Semiring);
template TileKernel<std::uint64_t> kernel(Semiring);

}  // namespace kleene::closure::KLEENE_LEVEL
