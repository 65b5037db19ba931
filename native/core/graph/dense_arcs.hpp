// Graphs given as a matrix: the canonical matrix, and its arcs in compressed rows. A graph keeps
// the canonical matrix, so that dense methods never go through compressed rows.
//
// Canonical: kNoPath<T> where there is no arc; on the diagonal 0, or a negative self-loop (which is
// a negative cycle).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "graph/arcs.hpp"
#include "graph/no_path.hpp"

namespace kleene::graph {

// The absolute value of a weight; unsigned for integers, whose lowest value has no opposite.
template <class T>
using Magnitude = std::conditional_t<std::is_floating_point_v<T>, T, std::uint64_t>;

template <class T>
struct DenseSummary {
  T lowest = kNoPath<T>;  // of the weights
  T highest = std::numeric_limits<T>::lowest();
  std::int64_t bad = -1;  // an entry that is not a weight (NaN, -infinity), or -1
};

// Copies an n x n matrix in canonical form. Entries equal to `null` (or NaN, with `null_nan`) are
// absent arcs. Fills the arcs of each row and their largest magnitude.
template <class T>
DenseSummary<T> dense_canonical(const T* entries, std::int64_t n, std::optional<T> null,
                                bool null_nan, T* matrix, std::int64_t* degrees,
                                Magnitude<T>* heaviest, int threads, Monitor& monitor);

// Writes the arcs of a canonical matrix as compressed rows.
template <class T>
void dense_to_csr(const T* matrix, std::int64_t n, const std::int64_t* offsets,
                  std::int32_t* neighbors, T* weights, int threads, Monitor& monitor);

}  // namespace kleene::graph
