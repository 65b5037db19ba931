// The innermost loops of customization, one version per vector instruction set, chosen at run time
// (simd/levels.hpp).
//
// A panel is what the pairs of a supernode's vertices hold: row i has the values of the i-th vertex
// towards the vertices above it. Rows follow each other in memory and each is one shorter than the
// one before, so that one column is `stride` entries further in the second row, `stride - 1` in the
// third, and so on.
#pragma once

#include <cstdint>

#include "graph/semiring.hpp"

namespace kleene::prepared {

using graph::Semiring;

// Rows of c that one call works on, at most.
constexpr int kTileRows = 4;

template <class T>
struct FrontKernel {
  // c[i][j] becomes the best of itself and a[k][i] times b[k][j] over k = 0 .. depth - 1, where a
  // and b are the first rows of two panels of the same shape.
  using Multiply = void(std::int64_t depth, const T* a, const T* b, std::int64_t stride,
                        T* const* c, int rows, std::int64_t columns);
  // middles[i][j] becomes the least of itself and those `first + k` whose product is c[i][j].
  using Find = void(std::int64_t depth, std::int32_t first, const T* a, const T* b,
                    std::int64_t stride, const T* const* c, std::int32_t* const* middles, int rows,
                    std::int64_t columns);

  Multiply* multiply = nullptr;
  Find* find = nullptr;
};

// The kernel for a semiring at a level of simd::levels(); -1 is the best. `negative`: sums must
// compare with "no path".
template <class T>
FrontKernel<T> front_kernel(Semiring semiring, bool negative, int level = -1);

}  // namespace kleene::prepared
