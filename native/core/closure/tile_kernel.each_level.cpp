// The tile kernel, written once with the compiler's vector types and compiled for each instruction
// set: see the rule in simd/levels.hpp.
//
// Shapes: a tile of R rows by V vectors takes R V registers for c, V for b and two for a and the
// candidate; with paths (V = 1) predecessors and comparison take R + 2 more. Of the shapes that
// fit, those here were the fastest on a Zen 4 core (AVX2 and AVX-512). Floats have 12 rows at every
// level: a tile's height decides the order of additions, so the levels agree bit for bit.
#include "closure/tile_kernel.hpp"

#include "closure/tile_arithmetic.inl"

namespace kleene::closure::KLEENE_LEVEL {
namespace {

constexpr bool kWide = KLEENE_BYTES == 64;  // AVX-512: twice as many registers
constexpr int kFloatRows = 12, kFloatVectors = kWide ? 2 : 1;
constexpr int kIntegerRows = kWide ? 12 : 6, kIntegerVectors = 2;
constexpr int kPathRows = kWide ? 8 : 6;

template <class T, int R, int V>
struct Tile {
  using Values = typename Lanes<T>::Values;
  static constexpr int kLanes = Lanes<T>::kCount, kColumns = V * kLanes;
  Values best[R][V];

  void load_from(const T* c, std::int64_t stride) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      for (int v = 0; v < V; ++v) best[i][v] = load<Values>(c + i * stride + v * kLanes);
    }
  }

  void store_to(T* c, std::int64_t stride) const {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      for (int v = 0; v < V; ++v) store(c + i * stride + v * kLanes, best[i][v]);
    }
  }

  // Relaxes the tile by one vertex: its factors for the rows, and its row. Wide vectors have no
  // register left to keep a factor in, but loads to spare, so they read it again for each vector.
  template <class Op>
  void relax(const Op& op, const T* a, const Values (&right)[V]) {
    if constexpr (KLEENE_BYTES == 64) {
      for (int v = 0; v < V; ++v) {
        asm volatile("" : "+r"(a));
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) relax_one(op, a[i] - Values{}, right[v], best[i][v]);
      }
    } else {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const Values left = a[i] - Values{};
        for (int v = 0; v < V; ++v) relax_one(op, left, right[v], best[i][v]);
      }
    }
  }

 private:
  template <class Op>
  static void relax_one(const Op& op, Values left, Values right, Values& best) {
    best = op.best(op.times(left, right), best);
  }
};

template <class T, class Op, int R, int V>
void multiply(std::int64_t depth, const T* a, const T* b, T* c, std::int64_t stride) {
  using Registers = Tile<T, R, V>;
  using Values = typename Registers::Values;
  const Op op;
  Registers tile;
  tile.load_from(c, stride);
  for (std::int64_t k = 0; k < depth; ++k, a += R, b += Registers::kColumns) {
    Values right[V];
    for (int v = 0; v < V; ++v) right[v] = load<Values>(b + v * Registers::kLanes);
    tile.relax(op, a, right);
  }
  tile.store_to(c, stride);
}

// Each row k of the tile relaxes all others in turn.
template <class T, class Op, int R, int V>
void close(std::int64_t depth, const T* a, T* c) {
  using Registers = Tile<T, R, V>;
  using Values = typename Registers::Values;
  const Op op;
  Registers tile;
  tile.load_from(c, Registers::kColumns);
#pragma GCC unroll 16
  for (int k = 0; k < R; ++k) {
    if (k == depth) break;
    Values right[V];
    for (int v = 0; v < V; ++v) right[v] = tile.best[k][v];
    tile.relax(op, a + k * R, right);
  }
  tile.store_to(c, Registers::kColumns);
}

// ---- with predecessors --------------------------------------------------------------------------

template <class T, int R>
struct PathTile {
  using Values = typename Lanes<T>::Values;
  using Indices = typename Lanes<T>::Indices;
  using Stored = typename Lanes<T>::Stored;
  static constexpr int kColumns = Lanes<T>::kCount;
  Values best[R];
  Indices before[R];

  static Indices load_indices(const std::int32_t* p) {
    return __builtin_convertvector(load<Stored>(p), Indices);
  }

  void load_from(const T* c, const std::int32_t* predecessors, std::int64_t stride) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      best[i] = load<Values>(c + i * stride);
      before[i] = load_indices(predecessors + i * stride);
    }
  }

  void store_to(T* c, std::int32_t* predecessors, std::int64_t stride) const {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      store(c + i * stride, best[i]);
      store(predecessors + i * stride, __builtin_convertvector(before[i], Stored));
    }
  }

  template <class Op>
  void relax(const Op& op, const T* a, Values right, Indices candidate) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Values t = op.times(a[i] - Values{}, right);
      Values old = best[i];
      const Indices improves = op.better(t, old);
      separate(old, improves);
      best[i] = op.best(t, old);
      before[i] = improves ? candidate : before[i];
    }
  }
};

template <class T, class Op, int R>
void multiply_paths(std::int64_t depth, const T* a, const T* b, const std::int32_t* b_predecessors,
                    T* c, std::int32_t* predecessors, std::int64_t stride) {
  using Registers = PathTile<T, R>;
  constexpr int kColumns = Registers::kColumns;
  const Op op;
  Registers tile;
  tile.load_from(c, predecessors, stride);
  for (std::int64_t k = 0; k < depth; ++k, a += R, b += kColumns, b_predecessors += kColumns) {
    tile.relax(op, a, load<typename Registers::Values>(b), Registers::load_indices(b_predecessors));
  }
  tile.store_to(c, predecessors, stride);
}

template <class T, class Op, int R>
void close_paths(std::int64_t depth, const T* a, T* c, std::int32_t* predecessors) {
  using Registers = PathTile<T, R>;
  const Op op;
  Registers tile;
  tile.load_from(c, predecessors, Registers::kColumns);
#pragma GCC unroll 16
  for (int k = 0; k < R; ++k) {
    if (k == depth) break;
    tile.relax(op, a + k * R, tile.best[k], tile.before[k]);
  }
  tile.store_to(c, predecessors, Registers::kColumns);
}

// ---- the table ----------------------------------------------------------------------------------

template <class T, class Op, class PathOp = Op>
TileKernel<T> make() {
  constexpr bool kFloats = std::is_floating_point_v<T>;
  constexpr int R = kFloats ? kFloatRows : kIntegerRows;
  constexpr int V = kFloats ? kFloatVectors : kIntegerVectors;
  constexpr int PR = kPathRows;
  constexpr int kLanes = Lanes<T>::kCount;
  TileKernel<T> kernel{R, V * kLanes, &multiply<T, Op, R, V>, &close<T, Op, R, V>};
  if constexpr (sizeof(T) >= 4 && !std::is_same_v<Op, OrAnd>) {
    kernel.path_rows = PR;
    kernel.path_columns = kLanes;
    kernel.multiply_paths = &multiply_paths<T, PathOp, PR>;
    kernel.close_paths = &close_paths<T, PathOp, PR>;
  }
  return kernel;
}

}  // namespace

// Only the combinations that plans use are compiled: max-times for floats, int16 for short paths.
template <class T>
TileKernel<T> kernel(Semiring semiring, [[maybe_unused]] KernelTraits traits) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return make<T, OrAnd>();
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (semiring == Semiring::kMaxTimes) return make<T, MaxTimes>();
    }
    if constexpr (sizeof(T) >= 4) {
      if (semiring == Semiring::kMaxMin) return make<T, MaxMin>();
    }
#ifdef __FMA__
    if constexpr (std::is_floating_point_v<T>) {
      // Wide vectors compare into masks, which takes longer than all else.
      if (traits.zen && traits.nonnegative && KLEENE_BYTES < 64) {
        return make<T, FusedMinPlus<T>, NonnegativeMinPlus<T>>();
      }
      if (traits.zen) return make<T, FusedMinPlus<T>, MinPlus>();
    }
#endif
    return make<T, MinPlus>();
  }
}

template TileKernel<float> kernel(Semiring, KernelTraits);
template TileKernel<double> kernel(Semiring, KernelTraits);
template TileKernel<std::int16_t> kernel(Semiring, KernelTraits);
template TileKernel<std::int32_t> kernel(Semiring, KernelTraits);
template TileKernel<std::int64_t> kernel(Semiring, KernelTraits);
template TileKernel<std::uint64_t> kernel(Semiring, KernelTraits);

}  // namespace kleene::closure::KLEENE_LEVEL
