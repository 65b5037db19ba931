// The kernels of front_kernel.hpp, written once with the compiler's vector types and compiled for
// each instruction set: see the rule in simd/levels.hpp.
//
// A tile of c stays in registers while all rows of the panels pass. Where columns are left that do
// not fill a vector, the last vector begins earlier: to relax an entry twice does no harm. Fewer
// columns than a vector has are done by vectors of 16 bytes, and fewer than those one by one.
#include "prepared/customization/front_kernel.hpp"

#include "closure/tile_arithmetic.inl"

namespace kleene::prepared::KLEENE_LEVEL {
namespace {

using namespace closure::KLEENE_LEVEL;

template <class T, int kBytes>
struct Vectors {
  typedef T Values __attribute__((vector_size(kBytes)));
  static constexpr int kCount = kBytes / sizeof(T);
  typedef std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t> Index;
  typedef Index Indices __attribute__((vector_size(kCount * sizeof(Index))));
  typedef std::int32_t Stored __attribute__((vector_size(kCount * 4)));
};

// A "vector" of one.
template <class T>
struct Vectors<T, 0> {
  using Values = T;
  static constexpr int kCount = 1;
  using Indices = std::int32_t;
  using Stored = std::int32_t;
};

// Sums of integers that leave "no path" as it is, though other numbers may be negative.
template <class T>
struct SignedMinPlus : MinPlus {
  static constexpr T kNone = static_cast<T>((~std::make_unsigned_t<T>{0} >> 1) / 2);

  template <class V>
  V times(V a, V b) const {
    using Bits = std::make_unsigned_t<T>;  // above a negative cycle, sums may wrap
    if constexpr (std::is_same_v<V, T>) {
      return a == kNone || b == kNone ? kNone : static_cast<T>(Bits(a) + Bits(b));
    } else {
      typedef Bits Unsigned __attribute__((vector_size(sizeof(V))));
      const V none = kNone - V{};
      return (a == none) | (b == none) ? none : (V)((Unsigned)a + (Unsigned)b);
    }
  }
};

template <class T, class Op, int kBytes, int R, int V>
struct MultiplyTile {
  using Types = Vectors<T, kBytes>;
  using Values = typename Types::Values;
  static constexpr int kColumns = V * Types::kCount;

  static void run(std::int64_t depth, const T* a, const T* b, std::int64_t stride, T* const* c,
                  std::int64_t column) {
    const Op op;
    Values best[R][V];
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      for (int v = 0; v < V; ++v) best[i][v] = load<Values>(c[i] + column + v * Types::kCount);
    }
    b += column;
    for (; depth > 0; --depth, a += stride, b += stride, --stride) {
      Values right[V];
      for (int v = 0; v < V; ++v) right[v] = load<Values>(b + v * Types::kCount);
#pragma GCC unroll 8
      for (int i = 0; i < R; ++i) {
        const Values left = a[i] - Values{};
        for (int v = 0; v < V; ++v) best[i][v] = op.best(op.times(left, right[v]), best[i][v]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      for (int v = 0; v < V; ++v) store(c[i] + column + v * Types::kCount, best[i][v]);
    }
  }
};

template <class T, class Op, int kBytes, int R>
struct FindTile {
  using Types = Vectors<T, kBytes>;
  using Values = typename Types::Values;
  using Indices = typename Types::Indices;
  static constexpr int kColumns = Types::kCount;

  static void run(std::int64_t depth, std::int32_t first, const T* a, const T* b,
                  std::int64_t stride, const T* const* c, std::int32_t* const* middles,
                  std::int64_t column) {
    const Op op;
    Values value[R];
    Indices middle[R];
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      value[i] = load<Values>(c[i] + column);
      middle[i] = load_indices(middles[i] + column);
    }
    b += column;
    for (; depth > 0; --depth, ++first, a += stride, b += stride, --stride) {
      const Values right = load<Values>(b);
      const Indices own = first - Indices{};
#pragma GCC unroll 8
      for (int i = 0; i < R; ++i) {
        const Values left = a[i] - Values{};
        middle[i] = op.times(left, right) == value[i] ? least(own, middle[i]) : middle[i];
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) store_indices(middles[i] + column, middle[i]);
  }

 private:
  static Indices load_indices(const std::int32_t* p) {
    if constexpr (kBytes == 0)
      return *p;
    else
      return __builtin_convertvector(load<typename Types::Stored>(p), Indices);
  }
  static void store_indices(std::int32_t* p, Indices indices) {
    if constexpr (kBytes == 0)
      *p = indices;
    else
      store(p, __builtin_convertvector(indices, typename Types::Stored));
  }
};

// Runs tiles of this shape over as many columns as they cover, the last one overlapping; returns
// how many columns are done: none if there are fewer than a tile has.
template <class Tile, class... Args>
std::int64_t cover(std::int64_t columns, Args... args) {
  if (columns < Tile::kColumns) return 0;
  for (std::int64_t column = 0;;) {
    Tile::run(args..., column);
    if (column + Tile::kColumns >= columns) return columns;
    column += Tile::kColumns;
    if (column + Tile::kColumns > columns) column = columns - Tile::kColumns;
  }
}

template <class T, class Op, int R>
void multiply_rows(std::int64_t depth, const T* a, const T* b, std::int64_t stride, T* const* c,
                   std::int64_t columns) {
  if (cover<MultiplyTile<T, Op, KLEENE_BYTES, R, 2>>(columns, depth, a, b, stride, c)) return;
  if (cover<MultiplyTile<T, Op, KLEENE_BYTES, R, 1>>(columns, depth, a, b, stride, c)) return;
  if constexpr (KLEENE_BYTES > 16) {
    if (cover<MultiplyTile<T, Op, 16, R, 1>>(columns, depth, a, b, stride, c)) return;
  }
  cover<MultiplyTile<T, Op, 0, R, 1>>(columns, depth, a, b, stride, c);
}

template <class T, class Op>
void multiply(std::int64_t depth, const T* a, const T* b, std::int64_t stride, T* const* c,
              int rows, std::int64_t columns) {
  if (rows == kTileRows) return multiply_rows<T, Op, kTileRows>(depth, a, b, stride, c, columns);
  for (int i = 0; i < rows; ++i) multiply_rows<T, Op, 1>(depth, a + i, b, stride, c + i, columns);
}

template <class T, class Op, int R>
void find_rows(std::int64_t depth, std::int32_t first, const T* a, const T* b, std::int64_t stride,
               const T* const* c, std::int32_t* const* middles, std::int64_t columns) {
  if constexpr (sizeof(T) >= 4) {  // middles of bytes would need four registers
    if (cover<FindTile<T, Op, KLEENE_BYTES, R>>(columns, depth, first, a, b, stride, c, middles)) {
      return;
    }
    if constexpr (KLEENE_BYTES > 16) {
      if (cover<FindTile<T, Op, 16, R>>(columns, depth, first, a, b, stride, c, middles)) return;
    }
  }
  cover<FindTile<T, Op, 0, R>>(columns, depth, first, a, b, stride, c, middles);
}

template <class T, class Op>
void find(std::int64_t depth, std::int32_t first, const T* a, const T* b, std::int64_t stride,
          const T* const* c, std::int32_t* const* middles, int rows, std::int64_t columns) {
  if (rows == kTileRows) {
    return find_rows<T, Op, kTileRows>(depth, first, a, b, stride, c, middles, columns);
  }
  for (int i = 0; i < rows; ++i) {
    find_rows<T, Op, 1>(depth, first, a + i, b, stride, c + i, middles + i, columns);
  }
}

template <class T, class Op>
FrontKernel<T> make() {
  return {&multiply<T, Op>, &find<T, Op>};
}

}  // namespace

template <class T>
FrontKernel<T> front_kernel(Semiring semiring, [[maybe_unused]] bool negative) {
  if constexpr (std::is_floating_point_v<T>) {
    if (semiring == Semiring::kMaxTimes) return make<T, MaxTimes>();
  }
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return make<T, MaxMin>();
  } else {
    if (semiring == Semiring::kMaxMin) return make<T, MaxMin>();
    if constexpr (std::is_integral_v<T>) {
      if (negative) return make<T, SignedMinPlus<T>>();
    }
    return make<T, MinPlus>();
  }
}

template FrontKernel<float> front_kernel(Semiring, bool);
template FrontKernel<double> front_kernel(Semiring, bool);
template FrontKernel<std::int32_t> front_kernel(Semiring, bool);
template FrontKernel<std::int64_t> front_kernel(Semiring, bool);
template FrontKernel<std::uint8_t> front_kernel(Semiring, bool);

}  // namespace kleene::prepared::KLEENE_LEVEL
