// The innermost loop of the tiled method, one version per vector instruction set, chosen at run
// time (simd/levels.hpp).
//
// It multiplies over a path semiring: c[i][j] becomes the best of itself and a[i][k] times b[k][j]
// over k = 0 .. depth - 1, for a tile of `rows` by `columns` that stays in registers. `a` is packed
// by columns (rows entries for each k), `b` by rows (columns entries for each k).
#pragma once

#include <cstdint>
#include <type_traits>

#include "graph/semiring.hpp"

namespace kleene::closure {

using graph::Semiring;

template <class T>
struct TileKernel {
  using Multiply = void(std::int64_t depth, const T* a, const T* b, T* c, std::int64_t stride);
  // Closes `rows` rows of a strip among themselves: row k, for k = 0 .. depth - 1 in turn, plays
  // the part of b for all of them. The rows of c follow each other.
  using Close = void(std::int64_t depth, const T* a, T* c);
  // The same with predecessors: where c improves, that of [i][j] becomes b_predecessors[k][j],
  // packed as b is.
  using MultiplyPaths = void(std::int64_t depth, const T* a, const T* b,
                             const std::int32_t* b_predecessors, T* c, std::int32_t* predecessors,
                             std::int64_t stride);
  using ClosePaths = void(std::int64_t depth, const T* a, T* c, std::int32_t* predecessors);

  int rows = 0, columns = 0;
  Multiply* multiply = nullptr;
  Close* close = nullptr;
  int path_rows = 0, path_columns = 0;
  MultiplyPaths* multiply_paths = nullptr;  // null for booleans and int16
  ClosePaths* close_paths = nullptr;
};

// What a kernel may make use of. Results are the same with and without.
struct KernelTraits {
  bool zen = false;          // floats are added and compared as simd::has_zen_pipes() says
  bool nonnegative = false;  // no entry of the matrix has a sign
};

// The kernel for a semiring at a level of simd::levels(); -1 is the best.
template <class T>
TileKernel<T> tile_kernel(Semiring semiring, int level, KernelTraits traits);

// Relaxations a second of the kernel alone, its operands in the nearest cache, on one thread.
template <class T>
double peak_rate(Semiring semiring, bool paths, int level, double seconds);

}  // namespace kleene::closure
