// The innermost loop of the dense engine, in as many versions as there are vector instruction sets;
// the one to use is chosen when the program runs.
//
// It multiplies over a path algebra: c[i][j] becomes the best of itself and a[i][k] times b[k][j]
// over k = 0 .. depth - 1, for a tile of `rows` by `columns` that stays in registers. `a` is packed
// by columns (rows entries for each k), `b` by rows (columns entries for each k).
#pragma once

#include <cstdint>
#include <type_traits>

namespace kleene {

enum class Algebra { kMinPlus, kMaxMin, kMaxTimes, kBoolean };

template <class T>
struct TileKernel {
  using Multiply = void(std::int64_t depth, const T* a, const T* b, T* c, std::int64_t stride);
  // Where c improves, last[i][j] becomes via[k][j], packed as b is.
  using MultiplyPaths = void(std::int64_t depth, const T* a, const T* b, const std::int32_t* via,
                             T* c, std::int64_t stride, std::int32_t* last,
                             std::int64_t last_stride);

  int rows = 0, columns = 0;
  Multiply* multiply = nullptr;
  int path_rows = 0, path_columns = 0;
  MultiplyPaths* multiply_paths = nullptr;  // null for booleans and int16
};

}  // namespace kleene
